//! The published vector of the Standard Webhooks libraries, and secrets that are none.

use super::*;

/// Secret, id, time, body and signature of the test called "sign function works" that the reference libraries share
/// (<https://github.com/standard-webhooks/standard-webhooks>).
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SECONDS: i64 = 1_614_265_330;
const BODY: &str = r#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn signer(secret: &str) -> Result<Signer, &'static str> {
    Signer::with(&SecretString::from(secret))
}

#[test]
fn a_post_is_signed_as_the_standard_webhooks_libraries_sign_it() {
    let signer = signer(SECRET).unwrap();
    assert_eq!(signer.sign(ID, SECONDS, BODY), SIGNATURE);
    let others = [
        signer.sign("msg_other", SECONDS, BODY),
        signer.sign(ID, SECONDS + 1, BODY),
        signer.sign(ID, SECONDS, "{}"),
    ];
    for other in others {
        assert_ne!(other, SIGNATURE, "all three are signed");
    }
}

#[test]
fn a_secret_is_read_in_both_forms_and_a_weak_one_is_refused() {
    let table = [
        (SECRET, None),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", None),
        ("0123456789abcdef01234567", None),
        ("0123456789abcdef0123456", Some(WEAK)),
        ("", Some(WEAK)),
        ("whsec_", Some(WEAK)),
        ("whsec_c2hvcnQ=", Some(WEAK)),
        ("whsec_not base64 at all, and long enough", Some(BROKEN)),
    ];
    for (secret, why) in table {
        assert_eq!(signer(secret).err(), why, "{secret:?}");
    }
    let plain = signer("0123456789abcdef01234567").unwrap();
    let encoded = signer("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3").unwrap();
    assert_eq!(plain.sign(ID, 1, BODY), encoded.sign(ID, 1, BODY));
}

#[test]
fn the_secret_is_never_printed() {
    let secret = "hunter2-hunter2-hunter2-hunter2";
    let printed = format!("{:?}", signer(secret).unwrap());
    assert!(!printed.contains("hunter2"), "{printed}");
    for why in [WEAK, BROKEN] {
        assert!(!why.contains("hunter2"));
    }
}
