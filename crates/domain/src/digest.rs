//! Ids derived from structure. Every field is written with its presence and its length before it is hashed,
//! so that `("a:b", "c")` and `("a", "b:c")`, or an absent field and an empty one, can never be the same.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// 256 bits that stand for one structure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text that should have been a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits, found {0:?}")]
pub struct NotADigest(String);

impl Digest {
    /// The digest these bytes stand for.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The same with these bytes in front, so that it sorts by them; what is left of it is more than anybody can meet by
    /// chance.
    #[must_use]
    pub fn beginning_with(mut self, first: [u8; 6]) -> Self {
        self.0[..first.len()].copy_from_slice(&first);
        self
    }

    /// Its bytes, as the ledger keeps them.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| NotADigest(text.to_owned()))?;
        Ok(Self(*hash.as_bytes()))
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Writes a structure field by field and hashes it.
///
/// ```
/// use talaria_domain::digest::Fields;
///
/// let joined = |first, second| Fields::of("example").text(first).text(second).digest();
/// assert_ne!(joined("a:b", "c"), joined("a", "b:c"));
/// ```
#[derive(Debug)]
pub struct Fields(Vec<u8>);

impl Fields {
    /// Starts the structure called `what`: structures of different names never share a digest.
    pub fn of(what: &str) -> Self {
        Self(Vec::with_capacity(160)).text(what)
    }

    /// A field that is always there.
    #[must_use]
    pub fn text(mut self, value: &str) -> Self {
        self.0.push(1);
        self.0
            .extend_from_slice(&(value.len() as u64).to_le_bytes());
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    /// A field that may be absent, which is not the same as empty.
    #[must_use]
    pub fn optional(mut self, value: Option<&str>) -> Self {
        if let Some(value) = value {
            return self.text(value);
        }
        self.0.push(0);
        self
    }

    /// The structure's digest.
    pub fn digest(&self) -> Digest {
        Digest(*blake3::hash(&self.0).as_bytes())
    }
}
