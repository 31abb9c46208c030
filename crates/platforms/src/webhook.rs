//! Who calls us is checked before anything is read: [`Verified`] is what a call said, and there is no other way to make
//! one than to check it. The secret is never optional, and every comparison takes the same time whatever is compared.
//!
//! Pure: a call in, what it said or why it is not believed out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use talaria_domain::adapter::HookCall;
use talaria_domain::clock::Timestamp;
use talaria_domain::secret::{ExposeSecret, SecretString};

/// What a platform proves itself with: never empty.
pub struct HookSecret(SecretString);

impl HookSecret {
    /// This secret, or why it is none.
    pub fn of(secret: SecretString) -> Result<Self, String> {
        if secret.expose_secret().trim().is_empty() {
            return Err("the webhook's secret is empty: anybody could call".to_owned());
        }
        Ok(Self(secret))
    }

    fn bytes(&self) -> &[u8] {
        self.0.expose_secret().trim().as_bytes()
    }
}

/// How a platform signs its calls: `VERSION=` and the HMAC-SHA256, in hex, of `VERSION:TIMESTAMP:` and the body.
#[derive(Debug, Clone, Copy)]
pub struct Scheme<'a> {
    /// The header with the signature, in lower case.
    pub signature: &'a str,
    /// The header with the time of the call in seconds, in lower case.
    pub timestamp: &'a str,
    /// What stands before both.
    pub version: &'a str,
    /// How far the time of the call may be away from ours, either way: what is older may be somebody's recording.
    pub window: Duration,
}

/// What somebody said who proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified<'a> {
    body: &'a [u8],
}

/// Why a call is not believed. For the operator; the caller is told nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unverified {
    /// The proof is missing, is there twice, or cannot be read.
    Absent,
    /// The proof is not right.
    Wrong,
    /// It was said too long ago, or is yet to be said.
    Stale,
}

impl Unverified {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "it is not signed",
            Self::Wrong => "the signature is wrong",
            Self::Stale => "it was signed too long ago, or in the future",
        }
    }
}

impl<'a> Verified<'a> {
    /// What was said, if it is signed.
    pub fn by_hmac_sha256(
        call: &'a HookCall,
        secret: &HookSecret,
        scheme: Scheme<'_>,
        now: Timestamp,
    ) -> Result<Self, Unverified> {
        let timestamp = call.header(scheme.timestamp).ok_or(Unverified::Absent)?;
        let said = seconds(timestamp).ok_or(Unverified::Absent)?;
        let signature = call.header(scheme.signature).ok_or(Unverified::Absent)?;
        let version = signature.split_once('=');
        let (version, digits) = version.ok_or(Unverified::Absent)?;
        let theirs = bytes_of(digits).ok_or(Unverified::Wrong)?;
        // A key of any length is one; the type does not know it.
        let mac = Hmac::<Sha256>::new_from_slice(secret.bytes());
        let mut mac = mac.map_err(|_| Unverified::Wrong)?;
        mac.update(format!("{}:{timestamp}:", scheme.version).as_bytes());
        mac.update(&call.body);
        if version != scheme.version || mac.verify_slice(&theirs).is_err() {
            return Err(Unverified::Wrong);
        }
        let window = i64::try_from(scheme.window.as_secs()).unwrap_or(i64::MAX);
        let away = (now.as_millis() / 1_000).abs_diff(said);
        if i64::try_from(away).unwrap_or(i64::MAX) > window {
            return Err(Unverified::Stale);
        }
        Ok(Self { body: &call.body })
    }

    /// What was said, if the secret itself came along in this header (in lower case).
    pub fn by_shared_token(
        call: &'a HookCall,
        secret: &HookSecret,
        header: &str,
    ) -> Result<Self, Unverified> {
        let theirs = call.header(header).ok_or(Unverified::Absent)?;
        let is_ours = bool::from(theirs.as_bytes().ct_eq(secret.bytes()));
        let body = is_ours.then_some(call.body.as_slice());
        let body = body.ok_or(Unverified::Wrong)?;
        Ok(Self { body })
    }

    /// What was said, to the byte.
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }
}

/// Digits only: no sign, no space.
fn seconds(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(value(*high)? * 16 + value(*low)?).ok(),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}
