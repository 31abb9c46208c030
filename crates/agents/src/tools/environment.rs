//! The environment that children get: an allow-listed part of ours, so that no secret and nothing of another session
//! reaches them.
//!
//! Pure: variables in, variables out. Whoever starts the gateway reads them.

#[cfg(test)]
mod tests;

const ALLOWED: [&str; 8] = [
    "PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ",
];
const ALLOWED_START: &str = "LC_";

/// The variables that a child gets, and no others.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Environment(pub Vec<(String, String)>);

impl Environment {
    /// Those of `variables` that a child may have.
    pub fn allowed(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_allowed = |(name, _): &(String, String)| {
            ALLOWED.contains(&name.as_str()) || name.starts_with(ALLOWED_START)
        };
        Self(variables.into_iter().filter(is_allowed).collect())
    }

    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}
