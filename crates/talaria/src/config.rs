//! The configuration: from files and environment to the one value that the gateway is wired from.
//!
//! `environment.rs` reads the process environment, `document.rs` and `file.rs` the text, `load.rs` decides what holds.
//! [`read`] is the one place that opens the file.

mod document;
mod effective;
mod environment;
mod file;
mod load;
mod problem;
mod secret;

pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod running;
pub(crate) mod show;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::holds as loaded_for_tests;

use std::io;
use std::path::{Path, PathBuf};

pub(crate) use effective::{
    AccountSettings, BindingSettings, Effective, Model, Origin, ProfileSettings, Provider,
    ResetMode, RunnerKind, Setting,
};
pub(crate) use environment::{API_KEY, Environment, HOME};
pub(crate) use problem::{Place, Problem, did_you_mean};

use load::Source;

const FILE: &str = "talaria.toml";

/// The platforms that this build has an adapter for.
pub(crate) const PLATFORMS: &[&str] = talaria_platforms::PLATFORMS;

/// Reads the configuration that this process was started with.
pub(crate) fn read(environment: &Environment) -> Result<Effective, Vec<Problem>> {
    let home = home(environment).map_err(|problem| vec![problem])?;
    let path = path(environment, &home);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(vec![unreadable(&path, &error)]),
    };
    let source = Source {
        home: &home,
        path: &path,
        text: text.as_deref(),
        platforms: PLATFORMS,
        read_secret: &|path| std::fs::read_to_string(path),
    };
    let mut effective = load::load(&source, environment)?;
    if text.is_none() && environment.config().is_some() {
        effective.warnings.push(Problem {
            place: Place::Environment {
                name: environment::CONFIG,
            },
            key: None,
            what: format!("there is no file {}: the defaults hold", path.display()),
        });
    }
    Ok(effective)
}

/// The data directory.
pub(crate) fn home(environment: &Environment) -> Result<PathBuf, Problem> {
    environment.home().ok_or_else(|| Problem {
        place: Place::Environment { name: HOME },
        key: None,
        what: "not set, and this user has no home directory: set it to a directory for talaria"
            .to_owned(),
    })
}

/// The configuration file, whether or not it is there.
pub(crate) fn path(environment: &Environment, home: &Path) -> PathBuf {
    environment.config().unwrap_or_else(|| home.join(FILE))
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem {
        place: Place::File {
            path: path.to_owned(),
            at: None,
        },
        key: None,
        what: format!("cannot read the configuration: {error}"),
    }
}
