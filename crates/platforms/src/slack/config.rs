//! What the operator writes down about a workspace.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use talaria_domain::profile::Account;
use talaria_domain::secret::{ExposeSecret, SecretString};

use super::Slack;
use crate::webhook::HookSecret;
use crate::{Allowance, Connection, Credential, Workshop};

const API: &str = "https://slack.com/";
/// A thought that is typed in three messages is one.
const MERGE_WINDOW: Duration = Duration::from_millis(300);
/// `chat.postMessage` takes about one message a second for each channel, and short bursts ("Rate limits").
const CHAT: Allowance = Allowance {
    burst: 2,
    every: Duration::from_millis(1_100),
};
/// The workspace as a whole takes several hundred a minute.
const ACCOUNT: Allowance = Allowance {
    burst: 5,
    every: Duration::from_millis(100),
};
/// `chat.update` takes 50 a minute (tier 3).
const EDIT_PACE: Duration = Duration::from_millis(1_500);

/// A workspace and our bot in it.
pub struct SlackSettings {
    /// Our account, and whose it is.
    pub account: Account,
    /// Where the Web API is; `api/…` is put behind it.
    pub api_base: Url,
    /// The bot's token.
    pub token: SecretString,
    /// The app-level token: events come by Socket Mode.
    pub app_token: Option<SecretString>,
    /// The signing secret: Slack calls us.
    pub secret: Option<HookSecret>,
}

/// Connects an account, or says what is missing.
pub(crate) fn connect(credential: Credential, workshop: &Workshop) -> Result<Connection, String> {
    let settings = settings(credential)?;
    Ok(Connection {
        adapter: Arc::new(Slack::new(settings, workshop)),
        merge_window: MERGE_WINDOW,
        chat: CHAT,
        account: ACCOUNT,
        edit_pace: EDIT_PACE,
    })
}

fn settings(credential: Credential) -> Result<SlackSettings, String> {
    let token = credential
        .token
        .ok_or("the bot token is missing: token = { env = \"NAME\" }, it begins with xoxb-")?;
    let begins = |secret: &SecretString, with: &str| secret.expose_secret().starts_with(with);
    if begins(&token, "xapp-") {
        return Err("token is an app-level token; the bot token begins with xoxb-".to_owned());
    }
    let app_token = credential.app_token;
    if app_token.as_ref().is_some_and(|it| begins(it, "xoxb-")) {
        return Err("app_token is a bot token; the app-level token begins with xapp-".to_owned());
    }
    let secret = credential.webhook.map(|webhook| webhook.secret);
    if app_token.is_none() && secret.is_none() {
        return Err(
            "say how events arrive: app_token = { env = \"NAME\" } (it begins with xapp-) for Socket Mode, or \
             webhook = { secret = { env = \"NAME\" } } (the signing secret) for the Events API"
                .to_owned(),
        );
    }
    let usual = || Url::parse(API).map_err(|error| error.to_string());
    Ok(SlackSettings {
        account: credential.account,
        api_base: credential.api_base.map_or_else(usual, Ok)?,
        token,
        app_token,
        secret: secret.map(HookSecret::of).transpose()?,
    })
}
