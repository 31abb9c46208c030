//! Chat platforms: one folder each, the same files in every folder, and one line for each in this list. No
//! other source file names a platform. What they share is beside them: [`split`], [`markup`], [`commands`],
//! [`webhook`]. Our own surfaces, the terminal, the page and the API, are [`local`]; the way back to programs is
//! [`callback`].

pub mod discord;
pub mod relay;
pub mod slack;
pub mod telegram;

pub mod callback;
pub mod commands;
pub mod local;
pub mod markup;
pub mod split;
pub mod webhook;

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::Adapter;
use talaria_domain::clock::Clock;
use talaria_domain::ids::Ids;
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

/// The platforms that there is an adapter for.
pub const PLATFORMS: &[&str] = &["relay", "discord", "slack", "telegram"];

/// What the operator wrote about an account.
pub struct Credential {
    /// The account.
    pub account: Account,
    /// Where the platform's API is, if not at its usual place.
    pub api_base: Option<reqwest::Url>,
    /// What it is let in with.
    pub token: Option<SecretString>,
    /// A second token, where the platform has one for its connection and one for everything else.
    pub app_token: Option<SecretString>,
    /// The platform calls us, and proves itself with this.
    pub webhook: Option<Webhook>,
}

/// How a platform calls us.
pub struct Webhook {
    /// What it proves itself with.
    pub secret: SecretString,
    /// Where it finds us, if it has to be told.
    pub url: Option<reqwest::Url>,
}

/// What all adapters are made with.
#[derive(Clone)]
pub struct Workshop {
    /// The one HTTP client.
    pub client: reqwest::Client,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where new ids come from.
    pub ids: Arc<dyn Ids>,
}

/// An adapter, and how its platform wants to be treated.
pub struct Connection {
    /// Our code for it.
    pub adapter: Arc<dyn Adapter>,
    /// How long a message waits for more of the same sender.
    pub merge_window: Duration,
    /// How much one chat takes.
    pub chat: Allowance,
    /// How much all chats of the account take together.
    pub account: Allowance,
    /// The shortest time between two changes of a message that grows.
    pub edit_pace: Duration,
}

/// How much may be written at once, and how soon more may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Messages at once.
    pub burst: u32,
    /// The time after which one more may follow.
    pub every: Duration,
}

impl Allowance {
    /// The platform says itself when it is too much.
    pub const UNLIMITED: Self = Self {
        burst: u32::MAX,
        every: Duration::ZERO,
    };
}

/// Connects an account, or says what is missing.
pub fn connect(credential: Credential, workshop: &Workshop) -> Result<Connection, String> {
    let platform = credential.account.platform.to_string();
    match platform.as_str() {
        "discord" => discord::config::connect(credential, workshop),
        "relay" => relay::config::connect(credential, workshop),
        "telegram" => telegram::config::connect(credential, workshop),
        "slack" => slack::config::connect(credential, workshop),
        other => Err(format!("there is no adapter for {other:?}")),
    }
}
