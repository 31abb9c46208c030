//! Exactly one process may write a SQLite store. The lock is the operating system's, on a file beside the store,
//! so it cannot outlive its owner; the owner's pid in the file is for people.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::{Refusal, Result};

/// Held as long as the store may be written.
#[derive(Debug)]
pub(super) struct StoreLock {
    file: File,
}

impl StoreLock {
    /// Takes the lock of the store at `path`, or says who has it.
    pub(super) fn claim(path: &Path) -> Result<Self> {
        let refused = |error: std::io::Error| {
            let (path, detail) = (path.display().to_string(), error.to_string());
            match error.kind() {
                std::io::ErrorKind::StorageFull => Refusal::Full { path },
                _ => Refusal::ReadOnly { path, detail },
            }
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock_path(path))
            .map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let (path, pid) = (path.display().to_string(), owner_of(&mut file));
                return Err(Refusal::InUse { path, pid }.into());
            }
            Err(TryLockError::Error(error)) => return Err(refused(error).into()),
        }
        sign(&mut file).map_err(refused)?;
        Ok(Self { file })
    }
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        // A child that is just being started has a copy of the file until it becomes another program: to close ours
        // would leave the lock with it. If this fails, closing does what it can.
        drop(self.file.unlock());
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    PathBuf::from(name)
}

fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn owner_of(file: &mut File) -> String {
    let mut pid = String::new();
    let read = file.read_to_string(&mut pid);
    let pid = pid.trim();
    if read.is_err() || pid.is_empty() {
        "unknown".to_owned()
    } else {
        pid.to_owned()
    }
}
