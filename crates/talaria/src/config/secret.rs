//! Pure: secrets in the configuration: where one comes from, and the value that was found there. Neither can be
//! printed, and a mistake in writing one down is told without repeating what was written.

use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use talaria_domain::secret::SecretString;

/// Where a secret comes from, as it is written in the file.
#[derive(Debug, Clone)]
pub(super) enum SecretSource {
    /// It stands there itself; works, and is warned about.
    Literal(SecretString),
    /// `{ env = "NAME" }`.
    Environment(String),
    /// `{ file = "path" }`; relative paths start at the configuration file.
    File(PathBuf),
}

/// A secret that was found.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    /// The value.
    pub(crate) value: SecretString,
    /// Where it was found, for people.
    pub(crate) found_in: String,
}

const EXPECTED: &str = "expected { env = \"NAME\" }, { file = \"path\" } or a text";

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

/// Every method that would repeat the value in its error is written out.
impl<'de> Visitor<'de> for SourceVisitor {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SecretSource, E> {
        if text.is_empty() {
            return Err(E::custom(format!("{EXPECTED}, found an empty text")));
        }
        Ok(SecretSource::Literal(SecretString::from(text)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<SecretSource, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<SecretSource, E> {
        Err(E::custom(format!(
            "{EXPECTED}, found a number: put it in quotes"
        )))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<SecretSource, E> {
        self.visit_i64(0)
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<SecretSource, E> {
        self.visit_i64(0)
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<SecretSource, E> {
        self.visit_i64(0)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<SecretSource, E> {
        self.visit_i64(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<SecretSource, A::Error> {
        Err(A::Error::custom(EXPECTED))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SecretSource, A::Error> {
        let refused = || A::Error::custom(format!("{EXPECTED}, found another table"));
        let source = match map.next_entry::<String, Text>()? {
            Some((key, Text(name))) if key == "env" => SecretSource::Environment(name),
            Some((key, Text(path))) if key == "file" => SecretSource::File(PathBuf::from(path)),
            _ => return Err(refused()),
        };
        match map.next_key::<String>()? {
            None => Ok(source),
            Some(_) => Err(refused()),
        }
    }
}

/// A text, or an error that does not repeat what was there instead.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)
            .map(Text)
            .map_err(|_| D::Error::custom(EXPECTED))
    }
}

/// Whether this can be printed as a variable's name: somebody may have written the secret itself there.
pub(super) fn is_variable_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(is_letter)
}
