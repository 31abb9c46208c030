//! What the operator writes down about a bot.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use talaria_domain::profile::Account;
use talaria_domain::secret::{ExposeSecret as _, SecretString};

use super::Telegram;
use crate::{Allowance, Connection, Credential, Webhook, Workshop};

/// Where the API is.
const USUAL_PLACE: &str = "https://api.telegram.org";
/// How long the pieces of an album and of a pasted text take to arrive.
const MERGE_WINDOW: Duration = Duration::from_millis(300);
/// "Broadcasting to users" in the FAQ: one message a second in a chat, short bursts excepted. Groups take 20 a minute,
/// which is less; there the platform closes the chat by itself and says for how long.
const CHAT: Allowance = Allowance {
    burst: 3,
    every: Duration::from_secs(1),
};
/// The same page: 30 messages a second in all chats together, with a margin.
const ACCOUNT: Allowance = Allowance {
    burst: 5,
    every: Duration::from_millis(40),
};
/// A change counts like a message.
const EDIT_PACE: Duration = Duration::from_millis(1_500);
/// The longest secret that "setWebhook" takes.
const MOST_SECRET: usize = 256;
/// A shorter one could be guessed.
const LEAST_SECRET: usize = 16;

/// A bot.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// Our account, and whose it is.
    pub account: Account,
    /// Where the API is; `bot<token>/…` is put behind it.
    pub api_base: Url,
    /// What we prove ourselves with.
    pub token: SecretString,
    /// How the platform calls us, if it is to.
    pub hooked: Option<Hooked>,
}

/// How the platform calls us.
#[derive(Debug, Clone)]
pub struct Hooked {
    /// Where.
    pub url: Url,
    /// What it proves itself with.
    pub secret: SecretString,
}

/// Connects an account, or says what is missing.
pub(crate) fn connect(credential: Credential, workshop: &Workshop) -> Result<Connection, String> {
    let settings = settings(credential)?;
    let (clock, ids) = (Arc::clone(&workshop.clock), Arc::clone(&workshop.ids));
    Ok(Connection {
        adapter: Arc::new(Telegram::new(settings, workshop.client.clone(), clock, ids)),
        merge_window: MERGE_WINDOW,
        chat: CHAT,
        account: ACCOUNT,
        edit_pace: EDIT_PACE,
    })
}

fn settings(credential: Credential) -> Result<TelegramSettings, String> {
    let token = credential
        .token
        .filter(|token| !token.expose_secret().trim().is_empty());
    let usual = || Url::parse(USUAL_PLACE).map_err(|error| error.to_string());
    Ok(TelegramSettings {
        account: credential.account,
        token: token.ok_or(
            "a token is missing: token = { env = \"NAME\" }; @BotFather gives one to every bot",
        )?,
        hooked: credential.webhook.map(hooked).transpose()?,
        api_base: credential.api_base.map_or_else(usual, Ok)?,
    })
}

fn hooked(webhook: Webhook) -> Result<Hooked, String> {
    let url = webhook.url.ok_or(
        "say where the platform finds us: webhook = { url = \"https://…/hooks/telegram/NAME\", … }",
    )?;
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let secret = webhook.secret.expose_secret();
    let is_long = (LEAST_SECRET..=MOST_SECRET).contains(&secret.len());
    if !is_long || !secret.chars().all(is_taken) {
        return Err(format!(
            "webhook.secret: expected {LEAST_SECRET} to {MOST_SECRET} letters, digits, _ and -, \
             such as the answer of `openssl rand -hex 32`"
        ));
    }
    Ok(Hooked {
        url,
        secret: webhook.secret,
    })
}

#[cfg(test)]
mod tests;
