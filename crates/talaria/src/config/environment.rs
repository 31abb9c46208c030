//! The process environment, read once and here alone; from then on it is a value that is handed in. It may hold
//! secrets, so it cannot be printed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use directories::ProjectDirs;
use talaria_domain::secret::SecretString;

/// The data directory.
pub(crate) const HOME: &str = "TALARIA_HOME";
/// The configuration file.
pub(crate) const CONFIG: &str = "TALARIA_CONFIG";
/// The store; wins over the file.
pub(crate) const STORE_URL: &str = "TALARIA_STORE_URL";
/// The listen address; wins over the file.
pub(crate) const LISTEN: &str = "TALARIA_LISTEN";
/// One more key with the operator's rights.
pub(crate) const API_KEY: &str = "TALARIA_API_KEY";
/// What is logged.
pub(crate) const LOG: &str = "TALARIA_LOG";
const NO_COLOR: &str = "NO_COLOR";

/// What the process was started with.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// Where programs of this user keep what they own.
    platform_home: Option<PathBuf>,
}

impl Environment {
    /// Reads it.
    pub(crate) fn read() -> Self {
        let platform_home =
            ProjectDirs::from("", "", "talaria").map(|dirs| dirs.data_dir().to_owned());
        Self {
            variables: std::env::vars_os().collect(),
            platform_home,
        }
    }

    /// One that has these variables and nothing else.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        Self {
            variables: variables.iter().map(owned).collect(),
            platform_home: None,
        }
    }

    /// The data directory, if one is named or the platform has one.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let named = self.raw(HOME).map(|path| absolute(PathBuf::from(path)));
        named.or_else(|| self.platform_home.clone())
    }

    /// The configuration file, if one is named.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        self.raw(CONFIG).map(|path| absolute(PathBuf::from(path)))
    }

    /// The value of a variable. One that is empty counts as unset: that is what compose files make of a missing one.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.raw(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Every variable that is text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.variables.iter().filter_map(|(name, value)| {
            let text = |value: &OsString| value.to_str().map(ToOwned::to_owned);
            text(name).zip(text(value))
        })
    }

    /// The value of a variable that holds a secret.
    pub(crate) fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }

    /// Whether the user asked for output without colours.
    pub(crate) fn is_colourless(&self) -> bool {
        self.raw(NO_COLOR).is_some()
    }

    fn raw(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
