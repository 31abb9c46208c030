//! The operator's key: 256 random bits in a file that only its owner can read. The gateway makes it when it starts for
//! the first time; commands read it. A key that others can read is refused, because they may have read it already.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};
use talaria_domain::secret::SecretString;

const FILE: &str = "operator.key";
const BYTES: usize = 32;
const OWNER_ONLY: u32 = 0o600;
const OTHERS: u32 = 0o077;
/// Far more than any key has.
const MOST_BYTES: u64 = 4096;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// Others can read it.
    #[error(
        "the operator key {path} can be read by others (mode {mode:04o}): run `chmod 600 {path}`, or remove it so that the next start makes another"
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// There is no key in it.
    #[error("the operator key {path} holds no key: remove it, and the next start makes another")]
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {verb} the operator key {path}: {cause}")]
    Refused {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Where the key of this data directory is.
pub(crate) fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

/// The key, if one was made.
pub(crate) fn read(home: &Path) -> Result<Option<SecretString>, KeyError> {
    let path = path(home);
    let refused = |cause| KeyError::Refused {
        verb: "read",
        path: path.clone(),
        cause,
    };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(error)),
    };
    let facts = file.metadata().map_err(refused)?;
    let mode = facts.mode() & 0o7777;
    if mode & OTHERS != 0 {
        return Err(KeyError::Exposed { path, mode });
    }
    let mut text = String::new();
    file.take(MOST_BYTES)
        .read_to_string(&mut text)
        .map_err(refused)?;
    let key = text.trim();
    if key.len() < BYTES || !key.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err(KeyError::Broken { path });
    }
    Ok(Some(SecretString::from(key)))
}

/// The key; makes it, and the data directory, if there is none.
pub(crate) fn make(home: &Path) -> Result<SecretString, KeyError> {
    if let Some(key) = read(home)? {
        return Ok(key);
    }
    let refused = |cause| KeyError::Refused {
        verb: "make",
        path: path(home),
        cause,
    };
    fs::create_dir_all(home).map_err(refused)?;
    let key = random::<BYTES>().map_err(refused)?;
    write(home, &key).map_err(refused)?;
    // Somebody else may have been faster: what is in the file is the key.
    read(home)?.ok_or_else(|| KeyError::Broken { path: path(home) })
}

/// Appears under its name whole or not at all, and never replaces one that is there.
fn write(home: &Path, key: &str) -> io::Result<()> {
    let partial = home.join(format!("{FILE}.{}", random::<8>()?));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OWNER_ONLY)
        .open(&partial)?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    let linked = fs::hard_link(&partial, path(home));
    fs::remove_file(&partial)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn random<const N: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect())
}

#[cfg(test)]
mod tests;
