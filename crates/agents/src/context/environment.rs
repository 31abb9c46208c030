//! Pure: what the process was started with, as far as children may have it. An allow-listed part of it, so that no
//! credential reaches them, and the session variables in it, which count only where nobody is bound. Whoever starts the
//! gateway reads the process environment and hands it in.

#[cfg(test)]
mod tests;

use super::variable::Variable;

/// Each by its whole name: whoever logs in from afar can send any name that starts with `LC_`, credentials too.
const ALLOWED: [&str; 21] = [
    "PATH",
    "HOME",
    "LANG",
    "TERM",
    "TMPDIR",
    "USER",
    "SHELL",
    "TZ",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];
/// The working directory of a process that stands for a single session.
const CWD: &str = "TALARIA_SESSION_CWD";

/// What children are built from.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Environment {
    allowed: Vec<(String, String)>,
    /// Session variables of the process itself, by either name.
    inherited: Vec<(String, String)>,
    has_hermes_names: bool,
}

impl Environment {
    /// Those of `variables` that a child may have.
    pub fn allowed(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            if ALLOWED.contains(&name.as_str()) {
                environment.allowed.push((name, value));
            } else if name == CWD || Variable::is_name(&name) {
                environment.inherited.push((name, value));
            }
        }
        environment
    }

    /// The same, and children see their session also under the names of Hermes.
    #[must_use]
    pub fn with_hermes_names(self) -> Self {
        Self {
            has_hermes_names: true,
            ..self
        }
    }

    /// Whether they do.
    pub const fn has_hermes_names(&self) -> bool {
        self.has_hermes_names
    }

    /// The value of one that every child gets.
    pub fn get(&self, name: &str) -> Option<&str> {
        find(&self.allowed, name)
    }

    /// Those that every child gets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.allowed
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a session variable that the process itself was started with.
    pub(super) fn inherited(&self, variable: Variable) -> Option<&str> {
        let hermes = || find(&self.inherited, variable.hermes_name());
        let ours = find(&self.inherited, variable.name());
        ours.or_else(|| self.has_hermes_names.then(hermes).flatten())
    }

    /// The working directory that the process itself was started with for its session.
    pub(super) fn inherited_cwd(&self) -> Option<&str> {
        find(&self.inherited, CWD).filter(|cwd| !cwd.is_empty())
    }
}

fn find<'a>(variables: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = variables.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}
