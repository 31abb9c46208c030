//! What the operator writes down about a bridge.

use reqwest::Url;
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

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
