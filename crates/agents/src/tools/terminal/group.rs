//! A process group that ends with its owner. It is told to end, then made to; dropping it makes it end at once.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The process group that a child leads.
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group of the child with this id.
    pub(super) fn of(id: Option<u32>) -> Option<Self> {
        let id = i32::try_from(id?).ok()?;
        Pid::from_raw(id).map(|leader| Self(Some(leader)))
    }

    /// Whether any process is in it.
    pub(super) fn has_members(&self) -> bool {
        self.0
            .is_some_and(|leader| test_kill_process_group(leader).is_ok())
    }

    /// Tells every process in it to end.
    pub(super) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Makes every process in it end. Nothing is sent afterwards: the number may be somebody else's by then.
    pub(super) fn end(&mut self) {
        self.signal(Signal::KILL);
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // That nobody is there any more is what is wanted.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
