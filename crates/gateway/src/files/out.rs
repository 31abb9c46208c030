//! What an agent sends, from its path to a copy that its part owns, and from the part back to that copy. The copy is
//! made before the part is recorded: what is delivered is what was there when the agent sent it.

#[cfg(test)]
mod tests;

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use talaria_domain::event::Attachment;
use talaria_domain::ids::PartId;

use super::share::{self, Found, Roots, Thing, Whose};
use super::{Files, disk, kind, name};

/// How a part says where its copy is.
const LOCATOR: &str = "file:out/";

/// A file that may be sent, if its owner agrees.
pub(crate) struct Sendable {
    file: File,
    asked: PathBuf,
    most: u64,
    /// Whose it is.
    pub(crate) whose: Whose,
}

/// A copy that waits to be recorded.
pub(crate) struct Copied {
    /// As its part shows it.
    pub(crate) attachment: Attachment,
    path: PathBuf,
}

/// Looks at a file that is to be sent; says in words why it cannot be.
pub(crate) async fn look(files: &Files, asked: PathBuf, most: u64) -> Result<Sendable, String> {
    let (files, path) = (files.clone(), asked.clone());
    let looked = disk::apart(move || Ok(open(&files, path, most))).await;
    looked.unwrap_or_else(|error| Err(unreadable(&asked, &error)))
}

fn open(files: &Files, asked: PathBuf, most: u64) -> Result<Sendable, String> {
    let there = asked.canonicalize().and_then(|path| {
        let found = std::fs::symlink_metadata(&path)?;
        Ok((path, found))
    });
    let (path, found) = there.map_err(|error| unreadable(&asked, &error))?;
    let roots = roots(files);
    let decide = |path: PathBuf, found: &Metadata| {
        let found = Found {
            path,
            thing: thing(found),
            bytes: found.len(),
        };
        share::decide(&asked, &found, &roots, most)
    };
    decide(path.clone(), &found)?;
    // What was looked at may be gone by now: what counts is what is open, if it is still where it was.
    // A pipe that took its place must not make anybody wait.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty());
    let file = file.map_err(|error| unreadable(&asked, &error.into()))?;
    let file = File::from(file);
    let is_same = |file: &File| -> io::Result<Option<Metadata>> {
        let (open, there) = (file.metadata()?, std::fs::symlink_metadata(&path)?);
        let is_there = path.canonicalize()? == path;
        let is_same = (open.dev(), open.ino()) == (there.dev(), there.ino());
        Ok(Some(open).filter(|_| is_there && is_same))
    };
    let opened = is_same(&file).map_err(|error| unreadable(&asked, &error))?;
    let changing = || format!("{} is being changed: send it again", asked.display());
    let opened = opened.ok_or_else(changing)?;
    let whose = decide(path.clone(), &opened)?;
    Ok(Sendable {
        file,
        asked,
        most,
        whose,
    })
}

/// Places with their links followed; one that is not there is no place.
fn roots(files: &Files) -> Roots {
    let real = |path: &PathBuf| path.canonicalize().ok();
    Roots {
        kept: real(&files.root).unwrap_or_else(|| files.root.clone()),
        shareable: files.shareable.iter().filter_map(real).collect(),
        private: files.private.as_ref().and_then(real),
    }
}

fn thing(found: &Metadata) -> Thing {
    match found {
        found if found.is_file() => Thing::File,
        found if found.is_dir() => Thing::Directory,
        _ => Thing::Other,
    }
}

/// The words for a file that is not there.
pub(crate) fn nothing(asked: &Path) -> String {
    format!("there is no file {}", asked.display())
}

fn unreadable(asked: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => nothing(asked),
        _ => format!("{} cannot be read: {error}", asked.display()),
    }
}

impl Sendable {
    /// Copies it to where its part will look for it.
    pub(crate) async fn copy(self, files: &Files, part: PartId) -> Result<Copied, String> {
        let shown = self.asked.file_name().map(|name| name.to_string_lossy());
        let shown: String = shown
            .unwrap_or_default()
            .chars()
            .filter(|letter| !letter.is_control())
            .collect();
        let safe = name::safe(&shown).unwrap_or_else(|| "file".to_owned());
        let stored = format!("{part}-{safe}");
        let path = files.outgoing().join(&stored);
        let Self {
            file, asked, most, ..
        } = self;
        let target = path.clone();
        // One byte more than may be sent tells that it has grown.
        let copied = disk::apart(move || disk::write(&target, &mut file.take(most + 1))).await;
        let bytes = copied.map_err(|error| unreadable(&asked, &error))?;
        let media_type = kind::media_type(&shown);
        let copied = Copied {
            attachment: Attachment {
                kind: kind::of(media_type),
                locator: format!("{LOCATOR}{stored}"),
                file_name: Some(shown),
                media_type: media_type.map(str::to_owned),
                size_bytes: Some(bytes),
                kept: None,
            },
            path,
        };
        if bytes > most {
            copied.discard().await;
            return Err(share::too_large(&asked, bytes, most));
        }
        Ok(copied)
    }
}

impl Copied {
    /// Nobody recorded it.
    pub(crate) async fn discard(&self) {
        // What cannot go now goes with what is old.
        let path = self.path.clone();
        drop(disk::apart(move || std::fs::remove_file(path)).await);
    }
}

/// Where the copy is that a part shows, if it is there.
pub(crate) async fn find(files: Option<&Files>, attachment: &Attachment) -> Option<PathBuf> {
    let path = place(files?, &attachment.locator)?;
    let found = path.clone();
    let is_there = disk::apart(move || Ok(disk::is_file(&found))).await;
    is_there.unwrap_or(false).then_some(path)
}

/// Where the copy belongs that this locator names: below `out`, and nowhere else.
fn place(files: &Files, locator: &str) -> Option<PathBuf> {
    let name = locator.strip_prefix(LOCATOR)?;
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    is_plain.then(|| files.outgoing().join(name))
}
