//! Whether an agent may send a file.
//!
//! Pure: what was found on disk in, whose it is or the words why not out.

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use talaria_domain::ids::EventId;

/// What is at a path, with all links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it really is.
    pub path: PathBuf,
    /// What it is.
    pub thing: Thing,
    /// How large it is.
    pub bytes: u64,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A device, a pipe, a socket.
    Other,
}

/// Places, with all links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// Where files are kept.
    pub kept: PathBuf,
    /// Below these a file may be sent from.
    pub shareable: Vec<PathBuf>,
    /// Below this none may, but for those that are kept.
    pub private: Option<PathBuf>,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Whoever can name it may send it.
    Anybodys,
    /// It came with this event: it is for the conversation of that.
    Events(EventId),
}

/// Whether what was found under `asked` may be sent, if a file may have at most `most` bytes.
pub fn decide(asked: &Path, found: &Found, roots: &Roots, most: u64) -> Result<Whose, String> {
    // Where it is comes first: what is elsewhere is nothing to talk about.
    let whose = place(asked, &found.path, roots)?;
    let shown = asked.display();
    match found.thing {
        Thing::File => {}
        Thing::Directory => {
            return Err(format!(
                "{shown} is a directory: send a single file, an archive of it for instance"
            ));
        }
        Thing::Other => return Err(format!("{shown} is not a regular file")),
    }
    match found.bytes {
        0 => Err(format!("{shown} is empty")),
        bytes if bytes > most => Err(too_large(asked, bytes, most)),
        _ => Ok(whose),
    }
}

/// The words for a file that does not fit.
pub(super) fn too_large(asked: &Path, bytes: u64, most: u64) -> String {
    let shown = asked.display();
    format!(
        "{shown} has {bytes} bytes, and at most {most} can be sent here: send less, or say where it is"
    )
}

fn place(asked: &Path, path: &Path, roots: &Roots) -> Result<Whose, String> {
    if let Ok(below) = path.strip_prefix(&roots.kept) {
        let event = event_of(below);
        return event.map(Whose::Events).ok_or_else(|| own(asked));
    }
    if roots
        .private
        .as_ref()
        .is_some_and(|it| path.starts_with(it))
    {
        return Err(own(asked));
    }
    if roots.shareable.iter().any(|root| path.starts_with(root)) {
        return Ok(Whose::Anybodys);
    }
    let roots = roots
        .shareable
        .iter()
        .map(|root| root.display().to_string());
    let roots: Vec<String> = roots.collect();
    Err(format!(
        "{} is not where files may be sent from: copy it below {} first",
        asked.display(),
        roots.join(" or ")
    ))
}

fn own(asked: &Path) -> String {
    let shown = asked.display();
    format!("{shown} is the gateway's own and is never sent")
}

/// The event that a kept file came with: `in/<event id>/<name>`.
fn event_of(below: &Path) -> Option<EventId> {
    let mut parts = below.components();
    if parts.next()? != Component::Normal("in".as_ref()) {
        return None;
    }
    let Component::Normal(folder) = parts.next()? else {
        return None;
    };
    parts.next()?;
    folder.to_str()?.parse().ok()
}
