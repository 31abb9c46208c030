//! What is done on disk, on threads that may wait for it. A file is there whole or not at all, and nobody but us can
//! read it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Does something that waits for the disk.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(io::Error::other("it broke while it was being done")))
}

/// Makes a directory and those above it.
fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file, whole or not at all; answers how many bytes it has. It is on the disk when this returns.
pub(super) fn write(path: &Path, from: &mut impl Read) -> io::Result<u64> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no place"));
    };
    make_directory(folder)?;
    let mut unfinished = std::ffi::OsString::from(".");
    unfinished.push(name);
    let unfinished = folder.join(unfinished);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    let written = io::copy(from, &mut file).and_then(|bytes| {
        file.flush()?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)?;
        File::open(folder)?.sync_all()?;
        Ok(bytes)
    });
    if written.is_err() {
        // What was not finished is nobody's; if it cannot go now, it goes with its event or part.
        drop(std::fs::remove_file(&unfinished));
    }
    written
}

/// Whether a file is there, and not a link to one.
pub(super) fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}
