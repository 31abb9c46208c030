//! Pure: the page's cookie. It is signed, not stored: it outlives a restart of the gateway, and a new operator key ends
//! every one of them.

use std::time::Duration;

use subtle::ConstantTimeEq as _;
use talaria_domain::clock::Timestamp;

/// Its name.
const NAME: &str = "talaria";

/// How long a browser stays logged in.
const LIFE: Duration = Duration::from_hours(90 * 24);

/// The value of a cookie that is given out now. `nonce` makes it one of its kind.
fn value(key: &[u8; 32], now: Timestamp, nonce: &str) -> String {
    let signed = format!("{}.{nonce}", now.as_millis());
    let proof = blake3::keyed_hash(key, signed.as_bytes()).to_hex();
    format!("{signed}.{proof}")
}

/// The header that sets it.
pub(crate) fn set(key: &[u8; 32], now: Timestamp, nonce: &str, is_secure: bool) -> String {
    let (value, life) = (value(key, now, nonce), LIFE.as_secs());
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}{secure}")
}

/// Whether a `Cookie` header has one that we gave out and that has not expired.
pub(crate) fn is_valid(key: &[u8; 32], now: Timestamp, header: &str) -> bool {
    let pairs = header
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs
        .filter(|(name, _)| *name == NAME)
        .map(|(_, value)| value);
    values.any(|value| is_ours(key, now, value))
}

fn is_ours(key: &[u8; 32], now: Timestamp, value: &str) -> bool {
    let Some((signed, proof)) = value.rsplit_once('.') else {
        return false;
    };
    let expected = blake3::keyed_hash(key, signed.as_bytes()).to_hex();
    let is_signed: bool = expected.as_bytes().ct_eq(proof.as_bytes()).into();
    let given_out = signed
        .split('.')
        .next()
        .and_then(|millis| millis.parse().ok());
    let is_fresh = |given_out| {
        let given_out = Timestamp::from_millis(given_out);
        now < given_out.plus(LIFE)
    };
    is_signed && given_out.is_some_and(is_fresh)
}

#[cfg(test)]
mod tests;
