//! What the operator writes down about a bot.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use super::Discord;
use crate::{Allowance, Connection, Credential, Workshop};

/// Where Discord is; `/api/v10` is put behind it.
const USUAL: &str = "https://discord.com";
/// Discord's client cuts a long text into several messages.
const MERGE_WINDOW: Duration = Duration::from_millis(600);
/// "Rate Limits" tells no numbers for a route; five messages in five seconds is what a channel's answers say.
const CHAT: Allowance = Allowance {
    burst: 5,
    every: Duration::from_secs(1),
};
/// "Rate Limits": 50 requests in a second, whatever they are. The rest is for marks and typing.
const ACCOUNT: Allowance = Allowance {
    burst: 45,
    every: Duration::from_millis(23),
};
/// Five changes in five seconds, with a margin.
const EDIT_PACE: Duration = Duration::from_millis(1_200);

/// Connects an account, or says what is missing.
pub(crate) fn connect(credential: Credential, workshop: &Workshop) -> Result<Connection, String> {
    let Credential {
        account,
        api_base,
        token,
        webhook,
        ..
    } = credential;
    let token = token.ok_or("the bot's token is missing: token = { env = \"NAME\" }")?;
    if webhook.is_some() {
        return Err("this platform has no webhook: leave `webhook` out".to_owned());
    }
    let usual = || Url::parse(USUAL).map_err(|error| error.to_string());
    let base = api_base.map_or_else(usual, Ok)?;
    Ok(Connection {
        adapter: Arc::new(Discord::of(account, (base, token), workshop)),
        merge_window: MERGE_WINDOW,
        chat: CHAT,
        account: ACCOUNT,
        edit_pace: EDIT_PACE,
    })
}
