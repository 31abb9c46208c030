//! Pure: `talaria.toml` as it may be written, one type per table. Everything is optional here; what an absent value
//! means is decided in `load.rs`. `document.rs` tells unknown keys apart, and these types refuse what it let through.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};
use talaria_domain::binding::{DeliveryPolicy, EventPattern};
use talaria_domain::descriptor::{Capability, Permissions, StoreName};
use talaria_domain::profile::BusyPolicy;
use talaria_domain::scope::StatePolicy;
use talaria_domain::secret::SecretString;
use talaria_gateway::access::{Bots, Mentions, Strangers, Threads};

use super::effective::{Provider, ResetMode};
use super::secret::SecretSource;

/// `[server]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ServerSection {
    pub(super) listen: Option<String>,
    pub(super) public_url: Option<String>,
    pub(super) callbacks: CallbacksSection,
    pub(super) cors_origins: Vec<String>,
    pub(super) body_limit_mb: Option<i64>,
    pub(super) header_limit_kb: Option<i64>,
    pub(super) header_timeout_seconds: Option<i64>,
    pub(super) body_timeout_seconds: Option<i64>,
    pub(super) max_connections: Option<i64>,
    pub(super) limits: TurnLimitsSection,
}

/// `[server.limits]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TurnLimitsSection {
    #[serde(rename = "turns_at_once")]
    pub(super) at_once: Option<i64>,
    #[serde(rename = "turns_in_a_row")]
    pub(super) in_a_row: Option<i64>,
    #[serde(rename = "turns_per_second")]
    pub(super) per_second: Option<i64>,
}

/// `[server.callbacks]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CallbacksSection {
    pub(super) allow: Vec<String>,
    pub(super) secret: Option<SecretSource>,
}

/// `[store]`. The url can hold a password.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoreSection {
    pub(super) url: Option<SecretString>,
    pub(super) durability: Option<DurabilityName>,
}

/// How the store's durability is written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DurabilityName {
    Power,
    Process,
}

/// `[model.NAME]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelSection {
    pub(super) provider: Option<Provider>,
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key: Option<SecretSource>,
    pub(super) window: Option<i64>,
}

/// `[profile.NAME]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProfileSection {
    pub(super) model: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) runner: Option<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) approve: Option<Vec<String>>,
    pub(super) busy: Option<BusyPolicy>,
    pub(super) state: Option<StatePolicy>,
    pub(super) session: SessionSection,
}

/// `[profile.NAME.session]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SessionSection {
    pub(super) group_per_user: Option<bool>,
    pub(super) thread_per_user: Option<bool>,
    pub(super) reset: ResetSection,
}

/// `reset = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ResetSection {
    pub(super) mode: Option<ResetMode>,
    pub(super) idle_minutes: Option<i64>,
    pub(super) at_hour: Option<i64>,
}

/// `[[runner]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunnerSection {
    pub(super) id: Option<String>,
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<String>,
    pub(super) cwd: Option<String>,
    pub(super) version: Option<String>,
    pub(super) capabilities: BTreeSet<Capability>,
    pub(super) permissions: Permissions,
}

/// `[[binding]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BindingSection {
    pub(super) id: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) account: Option<String>,
    pub(super) chat: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) events: Option<Vec<EventPattern>>,
    pub(super) runner: Option<String>,
    pub(super) config: Map<String, Value>,
    pub(super) models: BTreeSet<String>,
    pub(super) tools: BTreeSet<String>,
    pub(super) knowledge_bases: BTreeSet<String>,
    pub(super) files: bool,
    pub(super) storage: BTreeSet<StoreName>,
    pub(super) state: Option<StatePolicy>,
    pub(super) delivery: Option<DeliveryPolicy>,
}

/// `[[account]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AccountSection {
    pub(super) platform: Option<String>,
    pub(super) name: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) token: Option<SecretSource>,
    pub(super) app_token: Option<SecretSource>,
    pub(super) webhook: Option<WebhookSection>,
    pub(super) api_base: Option<String>,
    pub(super) allow: Option<Vec<String>>,
    pub(super) strangers: Option<Strangers>,
    pub(super) roles: Option<RolesSection>,
    pub(super) groups: GroupsSection,
    pub(super) bots: Bots,
    pub(super) home: Option<HomeSection>,
    pub(super) marks: bool,
    pub(super) rate: RateSection,
}

/// `roles = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RolesSection {
    pub(super) owner: Vec<String>,
    pub(super) admin: Vec<String>,
    pub(super) member: Vec<String>,
    pub(super) guest: Vec<String>,
}

/// `groups = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GroupsSection {
    pub(super) mention: Mentions,
    pub(super) allow_chats: Vec<String>,
    pub(super) threads: Threads,
}

/// `rate = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RateSection {
    pub(super) chat: Option<i64>,
    pub(super) account: Option<i64>,
}

/// `webhook = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WebhookSection {
    pub(super) secret: Option<SecretSource>,
    pub(super) url: Option<String>,
}

/// `home = { … }`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HomeSection {
    pub(super) chat: Option<String>,
    pub(super) thread: Option<String>,
}

/// `[[route]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RouteSection {
    pub(super) platform: Option<String>,
    pub(super) account: Option<String>,
    pub(super) chat: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) user: Option<String>,
    pub(super) profile: Option<String>,
}

/// `[compat]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CompatSection {
    pub(super) hermes_env: bool,
}

/// `[gateway]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GatewaySection {
    pub(super) max_turns: Option<i64>,
    pub(super) turn_timeout_minutes: Option<i64>,
    pub(super) no_progress_minutes: Option<i64>,
    pub(super) queue_limit: Option<i64>,
    pub(super) attempts: Option<i64>,
    pub(super) drain_seconds: Option<i64>,
    pub(super) zone: Option<String>,
}
