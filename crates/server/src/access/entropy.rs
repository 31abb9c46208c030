//! Randomness that nobody can guess: keys, one-time logins, nonces. Ids are no substitute; most of an id is a time and a
//! count.

use std::fmt::Write as _;

use talaria_domain::secret::SecretString;

/// The system gave no randomness; nothing secret can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random numbers")]
pub struct NoEntropy;

/// Random bytes from the system, as hexadecimal digits.
pub(crate) fn token<const BYTES: usize>() -> Result<String, NoEntropy> {
    let mut bytes = [0_u8; BYTES];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).map_err(|_| NoEntropy)?;
    let mut text = String::with_capacity(BYTES * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    Ok(text)
}

/// A fresh key of 256 bits: for `operator.key` at the first start.
pub fn fresh_key() -> Result<SecretString, NoEntropy> {
    Ok(SecretString::from(format!("tal_{}", token::<32>()?)))
}
