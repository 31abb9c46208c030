//! A private PostgreSQL server for the length of one command.
//!
//! It lives in its own temporary directory on its own loopback port. It ends, and its directory
//! goes, when the guard is dropped and also when this process is killed: a watchdog outside our
//! process group reads a pipe that only we hold, and cleans up at its end. There is no other way
//! to stop it, so that the way after a kill is the one that every run proves.

mod account;
mod binaries;
mod watchdog;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use tempfile::TempDir;

use self::account::Account;
use self::watchdog::Watchdog;
use crate::output;
use crate::stopwatch::Stopwatch;

const READY_WITHIN: Duration = Duration::from_secs(30);
const STOPPED_WITHIN: Duration = Duration::from_secs(20);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
const CONNECT_WITHIN: Duration = Duration::from_secs(1);
const LOG_TAIL_LINES: usize = 20;

/// Whether a commit must survive a power cut.
#[derive(Clone, Copy)]
pub(crate) enum Durable {
    Yes,
    No,
}

/// A running server; dropping it stops the server and removes its directory.
pub(crate) struct Postgres {
    site: Site,
    port: u16,
    pid: u32,
    exited: Receiver<ExitStatus>,
    watchdog: Watchdog,
}

/// Where a server runs and as whom.
struct Site {
    binaries: PathBuf,
    /// Set when we are root, which PostgreSQL refuses to run as.
    account: Option<Account>,
    directory: TempDir,
    durable: Durable,
}

impl Postgres {
    /// Finds or installs the binaries, and waits until the server takes connections.
    pub(crate) fn start(durable: Durable) -> anyhow::Result<Self> {
        let binaries = binaries::find_or_install()?;
        let site = Site::prepare(binaries, durable)?;
        site.initialize()?;
        let port = free_port()?;
        let mut child = site.spawn(port)?;
        let pid = child.id();
        let watchdog = Watchdog::spawn(pid, site.directory.path(), site.account.as_ref())
            .inspect_err(|_| end(&mut child))?;
        let server = Self {
            site,
            port,
            pid,
            exited: report_exit(child),
            watchdog,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// Where tests connect.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// What tests are told: this server, and how to start further ones of their own.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("TALARIA_TEST_POSTGRES", self.url().into()),
            (
                "TALARIA_TEST_POSTGRES_BIN",
                self.site.binaries.clone().into(),
            ),
        ];
        if let Some(account) = &self.site.account {
            variables.push(("TALARIA_TEST_POSTGRES_UID", account.uid.to_string().into()));
            variables.push(("TALARIA_TEST_POSTGRES_GID", account.gid.to_string().into()));
        }
        variables
    }

    fn wait_until_ready(&self) -> anyhow::Result<()> {
        let waited = Stopwatch::start();
        while waited.elapsed() < READY_WITHIN {
            if self.takes_connections() {
                return Ok(());
            }
            if let Ok(status) = self.exited.recv_timeout(BETWEEN_LOOKS) {
                bail!("postgres ended with {status}; {}", self.site.log_tail());
            }
        }
        bail!(
            "postgres takes no connections after {} s; {}",
            READY_WITHIN.as_secs(),
            self.site.log_tail()
        )
    }

    /// The port alone does not tell: it is open while the server still recovers and refuses.
    fn takes_connections(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        fs::read_to_string(self.site.cluster().join("postmaster.pid"))
            .is_ok_and(|lock_file| says_ready(&lock_file))
            && TcpStream::connect_timeout(&address, CONNECT_WITHIN).is_ok()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.watchdog.release();
        if self.exited.recv_timeout(STOPPED_WITHIN) == Err(RecvTimeoutError::Timeout) {
            output::problem(&format!("postgres, process {}, does not stop", self.pid));
        }
        self.watchdog.wait();
    }
}

impl Site {
    fn prepare(binaries: PathBuf, durable: Durable) -> anyhow::Result<Self> {
        let account = Account::for_servers()?;
        let mut builder = tempfile::Builder::new();
        builder.prefix("talaria-postgres-");
        // The usual temporary directory may be memory, where a sync costs nothing.
        let on_disk = Path::new("/var/tmp");
        let directory = match durable {
            Durable::Yes if on_disk.is_dir() => builder.tempdir_in(on_disk),
            Durable::Yes | Durable::No => builder.tempdir(),
        }
        .context("make a directory for postgres")?;
        if let Some(account) = &account {
            chown(directory.path(), Some(account.uid), Some(account.gid))
                .with_context(|| format!("give the directory of postgres to {}", account.name))?;
        }
        Ok(Self {
            binaries,
            account,
            directory,
            durable,
        })
    }

    fn cluster(&self) -> PathBuf {
        self.directory.path().join("cluster")
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// A program of the server, run as the right user outside our process group: what reaches
    /// the terminal's group must not reach the server before the watchdog does.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command.current_dir(self.directory.path());
        command.stdin(Stdio::null()).process_group(0);
        if let Some(account) = &self.account {
            account.lend_to(&mut command);
        }
        command
    }

    fn initialize(&self) -> anyhow::Result<()> {
        let mut command = self.command("initdb");
        command.args(["--auth=trust", "--username=postgres"]);
        command.args(["--no-locale", "--encoding=UTF8", "-D"]);
        command.arg(self.cluster());
        if matches!(self.durable, Durable::No) {
            command.arg("--no-sync");
        }
        let user = self
            .account
            .as_ref()
            .map_or("the current user", |a| &a.name);
        let made = command
            .output()
            .with_context(|| format!("run {} as {user}", self.binaries.join("initdb").display()))?;
        if !made.status.success() {
            let complaint = String::from_utf8_lossy(&made.stderr);
            bail!("initdb ended with {}: {}", made.status, complaint.trim());
        }
        Ok(())
    }

    fn spawn(&self, port: u16) -> anyhow::Result<Child> {
        let log = File::create(self.log()).context("make the log of postgres")?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.cluster());
        command.arg("-p").arg(port.to_string());
        command.arg("-k").arg(self.directory.path());
        for setting in settings(self.durable) {
            command.args([OsStr::new("-c"), OsStr::new(setting)]);
        }
        command.stdout(log.try_clone()?).stderr(log);
        command.spawn().context("start postgres")
    }

    fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
        format!("its log ends with:\n{}", tail.join("\n"))
    }
}

fn settings(durable: Durable) -> &'static [&'static str] {
    const ALWAYS: [&str; 2] = ["listen_addresses=127.0.0.1", "max_connections=300"];
    match durable {
        Durable::Yes => &ALWAYS,
        Durable::No => &[
            ALWAYS[0],
            ALWAYS[1],
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
        ],
    }
}

/// The eighth line of a server's lock file is its state.
fn says_ready(lock_file: &str) -> bool {
    lock_file
        .lines()
        .nth(7)
        .is_some_and(|s| s.trim() == "ready")
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    Ok(listener.local_addr()?.port())
}

/// Waits for the process in the background, so that its end is a message.
fn report_exit(mut child: Child) -> Receiver<ExitStatus> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            // Nobody listens once the guard is gone.
            sender.send(status).ok();
        }
    });
    receiver
}

fn end(child: &mut Child) {
    child.kill().ok();
    child.wait().ok();
}
