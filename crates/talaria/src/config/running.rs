//! Where the running gateway of a data directory is: `gateway.json`, which it writes when it starts. A file that is
//! still there proves nothing; only an answer does.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const FILE: &str = "gateway.json";

/// What a gateway says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// Its process.
    pub(crate) pid: u32,
}

/// Where it says so.
pub(crate) fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

/// Says that this process is the gateway here.
pub(crate) fn write(home: &Path, listen: SocketAddr) -> std::io::Result<()> {
    let running = Running {
        listen,
        pid: std::process::id(),
    };
    std::fs::write(path(home), serde_json::to_vec(&running)?)
}

/// Says that it is not any more.
pub(crate) fn remove(home: &Path) {
    // A file that is still there proves nothing.
    drop(std::fs::remove_file(path(home)));
}

/// The gateway that was last started here, if one was.
pub(crate) fn read(home: &Path) -> Option<Running> {
    let text = std::fs::read_to_string(path(home)).ok()?;
    serde_json::from_str(&text).ok()
}

/// The address to call a gateway that listens here: one that listens everywhere is called on this machine.
pub(crate) fn reached_at(listen: SocketAddr) -> SocketAddr {
    let mut address = listen;
    if listen.ip().is_unspecified() {
        address.set_ip(match listen {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
