//! What is missing is said in one sentence.

use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

use super::settings;
use crate::{Credential, Webhook};

fn credential(token: Option<&str>, app_token: Option<&str>, secret: Option<&str>) -> Credential {
    Credential {
        account: Account {
            platform: "slack".into(),
            name: "office".into(),
            profile: "assistant".into(),
        },
        api_base: None,
        token: token.map(SecretString::from),
        app_token: app_token.map(SecretString::from),
        webhook: secret.map(|secret| Webhook {
            secret: SecretString::from(secret),
            url: None,
        }),
    }
}

#[test]
fn what_is_missing_is_said() {
    for (token, app_token, secret, expected) in [
        (None, Some("xapp-1"), None, "the bot token is missing: "),
        (Some("xoxb-1"), None, None, "say how events arrive: "),
        (
            Some("xapp-1"),
            Some("xapp-1"),
            None,
            "token is an app-level token; ",
        ),
        (
            Some("xoxb-1"),
            Some("xoxb-1"),
            None,
            "app_token is a bot token; ",
        ),
        (
            Some("xoxb-1"),
            None,
            Some(" "),
            "the webhook's secret is empty: ",
        ),
    ] {
        let Err(said) = settings(credential(token, app_token, secret)) else {
            panic!("{expected}");
        };
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn either_way_of_hearing_is_enough() {
    for (app_token, secret) in [
        (Some("xapp-1"), None),
        (None, Some("signing")),
        (Some("xapp-1"), Some("signing")),
    ] {
        let settings = settings(credential(Some("xoxb-1"), app_token, secret));
        let Ok(settings) = settings else {
            panic!("{app_token:?} {secret:?}");
        };
        assert_eq!(settings.api_base.as_str(), "https://slack.com/");
        assert_eq!(settings.secret.is_some(), secret.is_some());
    }
}
