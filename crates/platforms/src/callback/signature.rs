//! The signature of a post, as the Standard Webhooks specification (1.0.0, symmetric scheme `v1`) defines it:
//! HMAC-SHA256 over the id, the time of the attempt and the body. The one file that opens the secret.
//!
//! Pure: a post in, a header out.

#[cfg(test)]
mod tests;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use talaria_domain::secret::{ExposeSecret as _, SecretString};

/// What a secret in the specification's own form begins with; the rest is base64.
const PREFIX: &str = "whsec_";
/// The specification's least.
const LEAST_BYTES: usize = 24;

const WEAK: &str = "expected a secret of at least 24 random bytes, such as whsec_ and the answer of `openssl rand -base64 32`";
const BROKEN: &str = "expected base64 after whsec_";

/// Signs posts.
#[derive(Clone)]
pub struct Signer(Hmac<Sha256>);

impl Signer {
    /// The signer with this secret: `whsec_` and base64, or a text that is the secret itself. The words why not never
    /// repeat it.
    pub fn with(secret: &SecretString) -> Result<Self, &'static str> {
        let text = secret.expose_secret().trim();
        let key = match text.strip_prefix(PREFIX) {
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| BROKEN)?,
            None => text.as_bytes().to_vec(),
        };
        if key.len() < LEAST_BYTES {
            return Err(WEAK);
        }
        let keyed = Hmac::new_from_slice(&key).map_err(|_| WEAK)?;
        Ok(Self(keyed))
    }

    /// The value of `webhook-signature` for a post with this id at this time.
    pub(super) fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let mut hmac = self.0.clone();
        hmac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(hmac.finalize().into_bytes()))
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer([REDACTED])")
    }
}
