//! Real PostgreSQL servers for tests: databases on the one that `cargo xtask test` started, and servers of a test's own
//! that it may kill. Where there is none, tests fail and say what to do: a check that was left out is not a pass.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::ids::{Ids as _, RandomIds};

/// What the runner of the tests tells about PostgreSQL.
#[expect(
    clippy::disallowed_methods,
    reason = "how `cargo xtask test` tells where its server is"
)]
fn told(name: &str) -> Result<String> {
    let hint = "run `cargo xtask test`, which starts PostgreSQL";
    std::env::var(name).with_context(|| format!("{name} is not set: {hint}"))
}

/// The processes that were started by this one and are still its children. None where the system does not tell.
fn children(parent: u32) -> Vec<Pid> {
    let is_child = |stat: &str| {
        // After the name, which may hold anything: the state, then the parent.
        let fields = stat.rsplit_once(") ").map(|(_, rest)| rest);
        let found = fields.and_then(|fields| fields.split(' ').nth(1)?.parse().ok());
        found == Some(parent)
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let known = processes.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        is_child(&stat).then(|| Pid::from_raw(pid)).flatten()
    });
    known.collect()
}

/// An empty database on the server that the tests share, and its url. Blocks.
pub fn fresh_database() -> Result<String> {
    let server = told("TALARIA_TEST_POSTGRES")?;
    let name = format!("t{}", RandomIds::default().next(SystemClock.now()).simple());
    Client::connect(&server, NoTls)?.batch_execute(&format!("CREATE DATABASE {name}"))?;
    let (host, _) = server.rsplit_once('/').context("a url with a database")?;
    Ok(format!("{host}/{name}"))
}

/// A server of a test's own. Dropped, it is killed and its files are removed.
pub struct OwnServer {
    directory: tempfile::TempDir,
    binaries: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl OwnServer {
    /// Makes and starts a server. Blocks until it answers.
    pub fn start() -> Result<Self> {
        let binaries = PathBuf::from(told("TALARIA_TEST_POSTGRES_BIN")?);
        let directory = tempfile::tempdir()?;
        if let Ok(uid) = told("TALARIA_TEST_POSTGRES_UID") {
            std::os::unix::fs::chown(directory.path(), Some(uid.parse()?), None)?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut server = Self {
            directory,
            binaries,
            port,
            process: None,
        };
        let files = server.files();
        let mut initdb = server.command("initdb")?;
        initdb.arg("-D").arg(files).stdout(Stdio::null());
        initdb.args([
            "-A",
            "trust",
            "-U",
            "postgres",
            "--no-sync",
            "--locale=C.UTF-8",
        ]);
        ensure!(initdb.status()?.success(), "initdb failed");
        server.resume()?;
        Ok(server)
    }

    /// The url of its first database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills it, as a machine that loses power would.
    pub fn kill(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        let serving = children(process.id());
        process.kill()?;
        process.wait()?;
        // They would notice that it is gone and end themselves, but first answer what they are asked in that moment.
        for child in serving {
            // One that has ended by itself is fine.
            kill_process(child, Signal::KILL).unwrap_or_default();
        }
        Ok(())
    }

    /// Starts it again on the same files. Blocks until it answers.
    pub fn resume(&mut self) -> Result<()> {
        let lock = self.files().join("postmaster.pid");
        for _ in 0..600 {
            if lock.exists() && self.process.is_none() {
                // Left by a killed server; a server whose children still live refuses to start.
                std::fs::remove_file(&lock)?;
            }
            if self
                .process
                .as_mut()
                .is_none_or(|process| !is_running(process))
            {
                self.process = Some(self.launch()?);
            }
            if Client::connect(&self.url(), NoTls).is_ok() {
                return Ok(());
            }
            std::thread::park_timeout(std::time::Duration::from_millis(50));
        }
        bail!("the server did not come up within 30 s")
    }

    fn launch(&self) -> Result<Child> {
        let port = self.port.to_string();
        let mut command = self.command("postgres")?;
        command
            .arg("-D")
            .arg(self.files())
            .args(["-p", &port, "-k"])
            .arg(self.directory.path());
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
        Ok(command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?)
    }

    fn files(&self) -> PathBuf {
        self.directory.path().join("files")
    }

    fn command(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.binaries.join(name));
        command.current_dir(Path::new("/"));
        if let (Ok(uid), Ok(gid)) = (
            told("TALARIA_TEST_POSTGRES_UID"),
            told("TALARIA_TEST_POSTGRES_GID"),
        ) {
            command.uid(uid.parse()?).gid(gid.parse()?);
        }
        Ok(command)
    }
}

fn is_running(process: &mut Child) -> bool {
    matches!(process.try_wait(), Ok(None))
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Nothing is left to do about a server that cannot be killed.
        drop(self.kill());
    }
}
