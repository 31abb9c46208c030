//! Sees a process, and is sure that it is that one: by a descriptor that stands for it as long as it is held, and by the
//! time of its start, which no later process with the same number has. Its end is an event, not something to look for.

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::io::unix::AsyncFd;

use super::ready::readable;

/// A process that leads a group of its own.
pub(crate) struct Sight {
    pid: Pid,
    proof: AsyncFd<OwnedFd>,
    started: u64,
}

impl Sight {
    /// Sees the process that has this number at the moment.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = number.ok_or_else(|| io::Error::other("it has no process id"))?;
        let proof = pidfd_open(pid, PidfdFlags::empty())?;
        // Read after the descriptor is there: from then on the number cannot become another's unnoticed.
        let started = start_time(pid)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it has no start time"))?;
        Ok(Self {
            pid,
            proof: readable(proof)?,
            started,
        })
    }

    /// When it was started, in the kernel's own measure.
    pub(crate) const fn started(&self) -> u64 {
        self.started
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Ends when the process has ended.
    pub(crate) async fn gone(&self) {
        // An error means that it cannot be seen any more, which is the same for whoever waits.
        let _ = self.proof.readable().await;
    }

    /// Whether the process has ended.
    pub(crate) fn is_gone(&self) -> bool {
        let mut proof = [PollFd::new(self.proof.get_ref(), PollFlags::IN)];
        poll(&mut proof, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Signals its group, unless it has ended: the number may be somebody else's by then.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if !self.is_gone() {
            self.signal_unreaped(signal);
        }
    }

    /// Signals its group. Only for a child that has not been waited for: its number is its own until then.
    pub(crate) fn signal_unreaped(&self, signal: Signal) {
        // That nobody is there any more is what is wanted.
        let _ = kill_process_group(self.pid, signal);
    }
}

/// Which start of the machine this is: process numbers and times begin anew with each.
pub(super) fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map(|id| id.trim().to_owned()).unwrap_or_default()
}

fn start_time(pid: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    field_22(&stat)
}

/// The start time. The name in field 2 may contain anything, also blanks and parentheses.
fn field_22(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}
