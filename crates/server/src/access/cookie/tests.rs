//! Which cookies are ours.

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const KEY: [u8; 32] = [7; 32];

#[test]
fn ours_is_valid_until_it_expires() {
    let ours = format!("talaria={}", value(&KEY, NOW, "n"));
    for header in [
        ours.clone(),
        format!("a=b; {ours}; c=d"),
        format!("talaria=x; {ours}"),
    ] {
        assert!(is_valid(&KEY, NOW, &header), "{header}");
    }
    let last = NOW.plus(LIFE).minus(Duration::from_millis(1));
    assert!(is_valid(&KEY, last, &ours));
    assert!(!is_valid(&KEY, NOW.plus(LIFE), &ours));
}

#[test]
fn another_key_another_time_or_another_proof_is_not_ours() {
    let ours = value(&KEY, NOW, "n");
    let (signed, proof) = ours.rsplit_once('.').unwrap();
    let later = signed.replace("179", "279");
    let forged = [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        signed.to_owned(),
        format!("{later}.{proof}"),
        format!("{signed}.{}", "0".repeat(64)),
        format!("{signed}x.{proof}"),
        value(&[8; 32], NOW, "n"),
    ];
    for value in forged {
        assert!(!is_valid(&KEY, NOW, &format!("talaria={value}")), "{value}");
    }
    assert!(!is_valid(&KEY, NOW, &format!("other={ours}")));
    assert!(!is_valid(&KEY, NOW, ""));
}

#[test]
fn no_script_and_no_other_site_gets_at_it() {
    let header = set(&KEY, NOW, "n", true);
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Secure"] {
        assert!(header.contains(word), "{header}");
    }
    assert!(!set(&KEY, NOW, "n", false).contains("Secure"));
}
