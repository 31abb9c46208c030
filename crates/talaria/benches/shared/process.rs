//! The real binary with its real store, as a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::direct::client;

/// Says yes once everything is connected.
pub(crate) const READY: &str = "/readyz";

/// A gateway under way. It does not outlive this.
pub(crate) struct Process {
    pub(crate) child: Child,
    pid: u32,
    /// Lives as long as the gateway.
    home: Option<tempfile::TempDir>,
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) client: Client,
    /// From exec to the first yes of the probe.
    pub(crate) ready_after: Duration,
}

impl Process {
    /// Starts one on an empty store, and waits until this probe says yes.
    pub(crate) async fn start(configuration: &str, probe: &str) -> Self {
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut process = Self::start_at(home.path(), configuration, probe).await;
        process.home = Some(home);
        process
    }

    /// The same on this store.
    pub(crate) async fn start_at(home: &Path, configuration: &str, probe: &str) -> Self {
        let config = home.join("talaria.toml");
        std::fs::write(&config, configuration).unwrap();
        let port = free_port();
        let client = client();
        let base = format!("http://127.0.0.1:{port}");
        let start = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_talaria"))
            .arg("up")
            .env("TALARIA_HOME", home)
            .env("TALARIA_LISTEN", format!("127.0.0.1:{port}"))
            .env("TALARIA_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let ready_after = loop {
            let answer = client.get(format!("{base}{probe}")).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                break start.elapsed();
            }
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "it does not start"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let key = std::fs::read_to_string(home.join("operator.key")).unwrap();
        Self {
            pid: child.id().unwrap(),
            child,
            home: None,
            base,
            key: key.trim().to_owned(),
            client,
            ready_after,
        }
    }

    /// Asks it to stop, and waits.
    pub(crate) async fn stop(mut self) {
        // As long as nobody has waited for its end, its number is nobody else's.
        assert_eq!(self.child.id(), Some(self.pid), "it ended by itself");
        let pid = Pid::from_raw(self.pid.cast_signed()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().await.unwrap();
        drop(self.home);
    }

    /// What it has used of the processors so far.
    pub(crate) fn time_used(&self) -> Duration {
        let path = PathBuf::from(format!("/proc/{}/stat", self.pid));
        let stat = std::fs::read_to_string(path).unwrap();
        // After the name, which may hold anything: user and system time are the twelfth and thirteenth.
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        let fields = rest.split(' ').skip(11).take(2);
        let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(1_000 * ticks / rustix::param::clock_ticks_per_second())
    }

    /// Resident kilobytes.
    pub(crate) fn memory(&self) -> u64 {
        let path = PathBuf::from(format!("/proc/{}/status", self.pid));
        let status = std::fs::read_to_string(path).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// What the operator would write, without any account.
pub(crate) fn configuration(model: &str, durability: &str) -> String {
    format!(
        "[store]\nurl = \"sqlite\"\ndurability = \"{durability}\"\n\
         [model.main]\nprovider = \"openai\"\nbase_url = \"{model}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\ninstructions = \"\"\ntools = []\n\
         [gateway]\nmax_turns = 4096\n"
    )
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
