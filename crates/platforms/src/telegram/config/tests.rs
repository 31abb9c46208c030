//! What is missing is said in a sentence that never repeats a secret.

use reqwest::Url;
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

use super::settings;
use crate::{Credential, Webhook};

fn credential(token: Option<&str>, webhook: Option<(&str, Option<&str>)>) -> Credential {
    Credential {
        account: Account {
            platform: "telegram".into(),
            name: "office".into(),
            profile: "assistant".into(),
        },
        api_base: None,
        token: token.map(SecretString::from),
        app_token: None,
        webhook: webhook.map(|(secret, url)| Webhook {
            secret: SecretString::from(secret),
            url: url.map(|url| Url::parse(url).unwrap()),
        }),
    }
}

#[test]
fn a_token_is_enough() {
    let settings = settings(credential(Some("1:a"), None)).unwrap();
    assert_eq!(settings.api_base.as_str(), "https://api.telegram.org/");
    assert!(settings.hooked.is_none());
}

#[test]
fn what_is_missing_is_said() {
    let url = Some("https://bots.example.org/hooks/telegram/office");
    let long = "x".repeat(257);
    for (token, webhook, why) in [
        (None, None, "a token is missing"),
        (Some(" "), None, "a token is missing"),
        (
            Some("1:a"),
            Some(("a-secret-of-the-hook", None)),
            "say where the platform finds us",
        ),
        (
            Some("1:a"),
            Some(("", url)),
            "webhook.secret: expected 16 to 256",
        ),
        (
            Some("1:a"),
            Some(("short", url)),
            "webhook.secret: expected 16 to 256",
        ),
        (
            Some("1:a"),
            Some(("with spaces in the secret", url)),
            "webhook.secret: expected 16 to 256",
        ),
        (
            Some("1:a"),
            Some((long.as_str(), url)),
            "webhook.secret: expected 16 to 256",
        ),
    ] {
        let said = settings(credential(token, webhook)).unwrap_err();
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("with spaces"), "{said}");
    }
    assert!(settings(credential(Some("1:a"), Some(("a-secret-of-the-hook", url)))).is_ok());
}
