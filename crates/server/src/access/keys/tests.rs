//! What a key looks like, what it is kept as, and whose it is.

use std::sync::Arc;

use talaria_domain::clock::ManualClock;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const ID: &str = "0198c0de-0000-7000-8000-000000000001";

fn outside(operator: &str, environment: Option<&str>) -> KnownKeys {
    KnownKeys::of(&OperatorKeys {
        operator: operator.into(),
        environment: environment.map(SecretString::from),
    })
}

#[test]
fn a_key_names_its_id_and_no_two_are_the_same() {
    let make =
        || FreshKey::make(ID.to_owned(), "ci".to_owned(), [Scope::Chat].into(), NOW).unwrap();
    let (one, other) = (make(), make());
    assert_eq!(id_of(one.text.expose_secret()).as_deref(), Some(ID));
    assert_ne!(one.text.expose_secret(), other.text.expose_secret());
    let kept = serde_json::to_string(&one.kept).unwrap();
    assert!(
        !kept.contains(one.text.expose_secret()),
        "only its digest is kept"
    );
}

#[test]
fn what_only_looks_like_a_key_has_no_id() {
    let long = "0".repeat(64);
    for text in [
        "",
        "tal_",
        "tal_x",
        &format!("tal_{long}"),
        &format!("tal_{ID}_"),
        &format!("{ID}_{long}"),
        &format!("tal_%_{long}"),
    ] {
        assert_eq!(id_of(text), None, "{text}");
    }
}

#[test]
fn an_empty_key_is_nobodys() {
    let known = outside("", Some(""));
    assert!(!known.is_known(digest("")));
    let known = outside("one", Some("two"));
    assert!(known.is_known(digest("one")) && known.is_known(digest("two")));
    assert!(!known.is_known(digest("on")));
}

#[tokio::test]
async fn a_key_is_its_holders_until_it_is_revoked() {
    let ledger = Ledger::inline(Arc::new(ManualClock::at(NOW))).unwrap();
    let (known, ring) = (outside("operator", None), Ring::default());
    let key = FreshKey::make(ID.to_owned(), "ci".to_owned(), [Scope::Chat].into(), NOW).unwrap();
    key.record(&ledger).await.unwrap();
    assert_eq!(
        list(&ledger, &ring).await.unwrap(),
        std::slice::from_ref(&key.row)
    );

    let who = async |text: &str| {
        let found = holder(&known, (&ledger, &ring), text, NOW).await;
        found.unwrap()
    };
    let caller = who(key.text.expose_secret()).await.unwrap();
    assert!(caller.may(Scope::Chat) && !caller.may(Scope::Operator) && !caller.is_owner());
    let forged = format!("tal_{ID}_{}", "0".repeat(64));
    assert!(who(&forged).await.is_none(), "the id alone proves nothing");
    let operator = who("operator").await.unwrap();
    assert!(operator.may(Scope::Operator) && operator.is_owner());
    assert_ne!(operator.owner(), caller.owner());

    assert!(revoke(&ledger, &ring, ID.to_owned()).await.unwrap());
    assert!(who(key.text.expose_secret()).await.is_none());
    assert!(caller.gone.is_some_and(|gone| gone.is_cancelled()));
    assert!(!revoke(&ledger, &ring, ID.to_owned()).await.unwrap());
}
