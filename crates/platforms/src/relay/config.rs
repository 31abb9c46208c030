//! What the operator writes down about a bridge.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

use super::Relay;
use crate::{Allowance, Connection, Credential, Workshop};

/// Nobody reads faster.
const EDIT_PACE: Duration = Duration::from_millis(1_200);

/// A bridge and our account on it.
#[derive(Debug, Clone)]
pub struct RelaySettings {
    /// Our account, and whose it is.
    pub account: Account,
    /// Where the bridge listens; `v1/…` is put behind it.
    pub base_url: Url,
    /// What we prove ourselves with.
    pub token: SecretString,
}

/// Connects an account, or says what is missing.
pub(crate) fn connect(credential: Credential, workshop: &Workshop) -> Result<Connection, String> {
    let Credential {
        account,
        api_base,
        token,
        ..
    } = credential;
    let settings = RelaySettings {
        account,
        base_url: api_base.ok_or("say where the bridge is: api_base = \"https://...\"")?,
        token: token.ok_or("a token is missing: token = { env = \"NAME\" }")?,
    };
    let (clock, ids) = (Arc::clone(&workshop.clock), Arc::clone(&workshop.ids));
    Ok(Connection {
        adapter: Arc::new(Relay::new(settings, workshop.client.clone(), clock, ids)),
        // A bridge says itself when it is too much.
        merge_window: Duration::ZERO,
        chat: Allowance::UNLIMITED,
        account: Allowance::UNLIMITED,
        edit_pace: EDIT_PACE,
    })
}
