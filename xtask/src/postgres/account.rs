//! The unprivileged user that servers run as when we are root: `postgres`, else `nobody`.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::command;

const PREFERRED: [&str; 2] = ["postgres", "nobody"];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Account {
    /// Nothing unless we are root.
    pub(super) fn for_servers() -> anyhow::Result<Option<Self>> {
        if !command::is_root()? {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").context("read /etc/passwd")?;
        let account = Self::choose(&passwd)
            .context("postgres does not run as root, and there is no user postgres or nobody")?;
        Ok(Some(account))
    }

    pub(super) fn choose(passwd: &str) -> Option<Self> {
        let accounts: Vec<_> = passwd.lines().filter_map(Self::parse).collect();
        let mut chosen = PREFERRED.iter().filter_map(|name| {
            let is_it = |account: &&Self| account.name == *name && account.uid != 0;
            accounts.iter().find(is_it)
        });
        chosen.next().map(|account| Self {
            name: account.name.clone(),
            ..*account
        })
    }

    /// `name:password:uid:gid:comment:home:shell`
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Self { name, uid, gid })
    }

    pub(super) fn lend_to(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}
