//! Nobody is believed who did not prove who they are.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use talaria_domain::adapter::HookCall;
use talaria_domain::clock::Timestamp;
use talaria_domain::secret::SecretString;

use super::{HookSecret, Scheme, Unverified, Verified};

const SAID: i64 = 1_531_420_618;
const SCHEME: Scheme<'_> = Scheme {
    signature: "x-signature",
    timestamp: "x-timestamp",
    version: "v0",
    window: Duration::from_mins(5),
};

fn secret(text: &str) -> HookSecret {
    HookSecret::of(SecretString::from(text)).unwrap()
}

fn sign(key: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("v0:{timestamp}:{body}").as_bytes());
    let digits = mac.finalize().into_bytes();
    let digits = digits.iter().map(|byte| format!("{byte:02x}"));
    format!("v0={}", digits.collect::<String>())
}

fn call(headers: &[(&str, &str)], body: &str) -> HookCall {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    HookCall {
        headers: headers.iter().map(owned).collect(),
        body: body.as_bytes().to_vec(),
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn verified(headers: &[(&str, &str)], body: &str, now: i64) -> Result<String, Unverified> {
    let call = call(headers, body);
    let verified = Verified::by_hmac_sha256(&call, &secret("key"), SCHEME, at(now))?;
    Ok(String::from_utf8(verified.body().to_vec()).unwrap())
}

#[test]
fn what_is_signed_is_believed_for_five_minutes_either_way() {
    let stamp = SAID.to_string();
    let signature = sign("key", &stamp, "hello");
    let headers = [
        ("x-timestamp", stamp.as_str()),
        ("x-signature", signature.as_str()),
    ];
    for (away, expected) in [
        (0, Ok("hello".to_owned())),
        (300, Ok("hello".to_owned())),
        (-300, Ok("hello".to_owned())),
        (301, Err(Unverified::Stale)),
        (-301, Err(Unverified::Stale)),
        (86_400, Err(Unverified::Stale)),
    ] {
        assert_eq!(verified(&headers, "hello", SAID + away), expected, "{away}");
    }
}

/// The signing secret, the request and its signature are those of "Verifying requests from Slack"
/// (<https://docs.slack.dev/authentication/verifying-requests-from-slack>).
#[test]
fn the_vendors_own_example_is_believed() {
    let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V\
                &channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=\
                &response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN\
                &trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    let signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
    let call = call(
        &[("x-timestamp", "1531420618"), ("x-signature", signature)],
        body,
    );
    let secret = secret("8f742231b10e8888abcd99yyyzzz85a5");
    assert!(Verified::by_hmac_sha256(&call, &secret, SCHEME, at(SAID)).is_ok());
}

#[test]
fn whatever_is_not_signed_is_refused() {
    let stamp = SAID.to_string();
    let right = sign("key", &stamp, "hello");
    let other_key = sign("another key", &stamp, "hello");
    let other_body = sign("key", &stamp, "goodbye");
    let other_time = sign("key", "1531420619", "hello");
    let other_version = right.replace("v0=", "v1=");
    let bare = right.trim_start_matches("v0=").to_owned();
    let short = right[..right.len() - 2].to_owned();
    let odd = right[..right.len() - 1].to_owned();
    let (stamp, right) = (stamp.as_str(), right.as_str());
    let with = |signature| vec![("x-timestamp", stamp), ("x-signature", signature)];
    for (headers, expected) in [
        (vec![], Unverified::Absent),
        (vec![("x-signature", right)], Unverified::Absent),
        (vec![("x-timestamp", stamp)], Unverified::Absent),
        (
            vec![("x-timestamp", ""), ("x-signature", right)],
            Unverified::Absent,
        ),
        (
            vec![("x-timestamp", "soon"), ("x-signature", right)],
            Unverified::Absent,
        ),
        (
            vec![("x-timestamp", "-1531420618"), ("x-signature", right)],
            Unverified::Absent,
        ),
        (
            [with(right), vec![("x-signature", right)]].concat(),
            Unverified::Absent,
        ),
        (
            [with(right), vec![("x-timestamp", stamp)]].concat(),
            Unverified::Absent,
        ),
        (with(""), Unverified::Absent),
        (with(&bare), Unverified::Absent),
        (with("v0="), Unverified::Wrong),
        (with("v0=zz"), Unverified::Wrong),
        (with(&short), Unverified::Wrong),
        (with(&odd), Unverified::Wrong),
        (with(&other_version), Unverified::Wrong),
        (with(&other_key), Unverified::Wrong),
        (with(&other_body), Unverified::Wrong),
        (with(&other_time), Unverified::Wrong),
    ] {
        let found = verified(&headers, "hello", SAID);
        assert_eq!(found, Err(expected), "{headers:?}");
    }
}

#[test]
fn an_old_signature_with_a_fresh_time_is_wrong() {
    let signature = sign("key", "1531420618", "hello");
    let later = SAID + 3_600;
    let stamp = later.to_string();
    let headers = [
        ("x-timestamp", stamp.as_str()),
        ("x-signature", signature.as_str()),
    ];
    assert_eq!(verified(&headers, "hello", later), Err(Unverified::Wrong));
}

#[test]
fn a_secret_that_comes_along_has_to_be_the_one() {
    for (headers, expected) in [
        (vec![("x-token", "key")], Ok(b"hello".as_slice())),
        (vec![], Err(Unverified::Absent)),
        (vec![("x-token", "")], Err(Unverified::Wrong)),
        (vec![("x-token", "ke")], Err(Unverified::Wrong)),
        (vec![("x-token", "keys")], Err(Unverified::Wrong)),
        (
            vec![("x-token", "key"), ("x-token", "key")],
            Err(Unverified::Absent),
        ),
    ] {
        let call = call(&headers, "hello");
        let verified = Verified::by_shared_token(&call, &secret("key"), "x-token");
        assert_eq!(
            verified.map(|verified| verified.body().to_vec()),
            expected.map(<[u8]>::to_vec),
            "{headers:?}"
        );
    }
}

#[test]
fn an_empty_secret_is_none() {
    for text in ["", " ", "\n"] {
        assert!(
            HookSecret::of(SecretString::from(text)).is_err(),
            "{text:?}"
        );
    }
}
