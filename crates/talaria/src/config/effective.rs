//! Pure: the configuration that holds, with every default filled in and every value checked. This is what the gateway
//! is wired from. It can be printed for debugging: secrets in it cannot.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use talaria_domain::binding::Binding;
use talaria_domain::descriptor::Descriptor;
use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};
use talaria_domain::principal::Role;
use talaria_domain::profile::Profile;
use talaria_domain::schedule::Zone;
use talaria_domain::secret::{ExposeSecret as _, SecretString};
use talaria_gateway::access::{AccessPolicy, Bots, Groups, Strangers, Trust};
use talaria_gateway::routing::Route;
use talaria_platforms::callback::allow::AllowList;
use talaria_platforms::callback::signature::Signer;
use talaria_server::Terms;
use talaria_store::Durability;
use url::Url;

use super::problem::Problem;
use super::secret::Secret;

/// In `allow`, everybody.
pub(crate) const EVERYBODY: &str = "*";

/// The configuration that holds.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    /// The data directory.
    pub(crate) home: PathBuf,
    /// The configuration file; none where the embedded defaults hold.
    pub(crate) file: Option<PathBuf>,
    /// Where the gateway is reached.
    pub(crate) server: Server,
    /// Where the ledger is.
    pub(crate) store: Store,
    /// The models by name, in the order of the file. `demo` is always among them.
    pub(crate) models: Vec<Model>,
    /// The profiles in the order of the file; never empty.
    pub(crate) profiles: Vec<ProfileSettings>,
    /// The first of them.
    pub(crate) default_profile: ProfileName,
    /// Runners outside, in the order of the file.
    pub(crate) runners: Vec<RunnerSettings>,
    /// What thinks where, and for what: those of the file first, then what the profiles say by themselves.
    pub(crate) bindings: Vec<BindingSettings>,
    /// The accounts.
    pub(crate) accounts: Vec<AccountSettings>,
    /// Chats that go to another profile.
    pub(crate) routes: Vec<Route>,
    /// What is done for agents of other gateways.
    pub(crate) compat: Compat,
    /// How much at once, and for how long.
    pub(crate) limits: Limits,
    /// Where the clock of schedules hangs.
    pub(crate) zone: Zone,
    /// One more key with the operator's rights.
    pub(crate) api_key: Option<SecretString>,
    /// What is logged, as a tracing filter.
    pub(crate) log: Option<String>,
    /// What works and should not stay as it is.
    pub(crate) warnings: Vec<Problem>,
    /// Every value with its key and where it came from, for people.
    pub(crate) settings: Vec<Setting>,
}

/// Where the gateway is reached.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The address to listen on; off loopback only with a public url.
    pub(crate) listen: SocketAddr,
    /// How it is reached from outside.
    pub(crate) public_url: Option<Url>,
    /// What everybody who comes is held to.
    pub(crate) terms: Terms,
    /// Where programs may be called back; none where nobody is.
    pub(crate) callbacks: Option<Callbacks>,
}

/// Where programs may be called back.
#[derive(Debug, Clone)]
pub(crate) struct Callbacks {
    /// The beginnings of their addresses.
    pub(crate) allow: AllowList,
    /// What callbacks are signed with.
    pub(crate) signer: Signer,
}

/// Where the ledger is.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// As the ledger takes it.
    pub(crate) url: StoreUrl,
    /// How much a commit survives.
    pub(crate) durability: Durability,
}

/// A store's url: it can hold a password, so it is shown without.
#[derive(Debug, Clone)]
pub(crate) struct StoreUrl {
    pub(super) url: SecretString,
    /// For people.
    pub(crate) shown: String,
}

impl StoreUrl {
    /// All of it, for the ledger.
    pub(crate) fn expose(&self) -> &str {
        self.url.expose_secret()
    }
}

/// A model.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// What profiles call it.
    pub(crate) name: String,
    /// How it is spoken to.
    pub(crate) provider: Provider,
    /// Where it is served; none for the demo model.
    pub(crate) base_url: Option<Url>,
    /// Its name there.
    pub(crate) served_as: String,
    /// Its key.
    pub(crate) api_key: Option<Secret>,
    /// How much it can be shown, in tokens; none where nobody said.
    pub(crate) window: Option<usize>,
}

/// How a model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Provider {
    /// Chat completions, by any compatible server.
    OpenAi,
    /// Messages.
    Anthropic,
    /// The built-in one that needs nothing.
    Demo,
}

/// A profile with everything that the domain's does not say.
#[derive(Debug, Clone)]
pub(crate) struct ProfileSettings {
    /// The agent's identity.
    pub(crate) profile: Profile,
    /// What thinks.
    pub(crate) runner: RunnerKind,
    /// The model that it thinks with.
    pub(crate) model: Model,
    /// The tools it may use.
    pub(crate) tools: Vec<String>,
    /// Those of them that need a person's yes before each call.
    pub(crate) approve: Vec<String>,
    /// When its conversations start afresh.
    pub(crate) reset: Reset,
}

/// What thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunnerKind {
    /// The model and tools loop.
    Native,
    /// A process that speaks JSON-RPC lines.
    Process,
    /// An agent that speaks the Agent Client Protocol.
    Acp,
}

/// A runner outside: a program, and what it may do at most.
#[derive(Debug, Clone)]
pub(crate) struct RunnerSettings {
    /// What it is.
    pub(crate) descriptor: Descriptor,
    /// The program.
    pub(crate) command: PathBuf,
    /// What the program is given.
    pub(crate) args: Vec<String>,
    /// The environment variables that it gets beside those that every child gets, by name.
    pub(crate) env: Vec<String>,
    /// Where it works.
    pub(crate) cwd: Option<PathBuf>,
}

/// What joins a place and kinds of events to a runner.
#[derive(Debug, Clone)]
pub(crate) struct BindingSettings {
    /// Where, for what, what thinks and what it may.
    pub(crate) binding: Binding,
    /// Whether nobody wrote it down: it is what a profile says by itself.
    pub(crate) is_own: bool,
}

/// When conversations start afresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reset {
    /// By which rule.
    pub(crate) mode: ResetMode,
    /// After this long without a message.
    pub(crate) idle: Duration,
    /// At this hour, from 0 to 23.
    pub(crate) at_hour: u8,
}

/// By which rule conversations start afresh.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResetMode {
    /// Never by themselves.
    #[default]
    None,
    /// After a silence.
    Idle,
    /// Every day at an hour.
    Daily,
    /// Whichever comes first.
    Both,
}

/// One credential on a platform.
#[derive(Debug, Clone)]
pub(crate) struct AccountSettings {
    /// The chat service.
    pub(crate) platform: PlatformName,
    /// Its name, unique there.
    pub(crate) name: AccountName,
    /// Whose it is.
    pub(crate) profile: ProfileName,
    /// Its credential.
    pub(crate) token: Option<Secret>,
    /// A second credential, where the platform has one for its connection.
    pub(crate) app_token: Option<Secret>,
    /// How the platform calls us, if it does.
    pub(crate) webhook: Option<Webhook>,
    /// Where the platform's API is, if not at its usual place.
    pub(crate) api_base: Option<Url>,
    /// Who may talk; `*` is everybody.
    pub(crate) allow: Vec<UserId>,
    /// Who may talk, with what they may do.
    pub(crate) roles: BTreeMap<UserId, Role>,
    /// What holds where several people are.
    pub(crate) groups: Groups,
    /// What other programs say.
    pub(crate) bots: Bots,
    /// What happens to everybody else.
    pub(crate) strangers: Strangers,
    /// Where it speaks when nobody asked.
    pub(crate) home: Option<HomeChat>,
    /// Whether messages are marked as seen, answered or failed.
    pub(crate) marks: bool,
    /// How much it may write, if not what its platform usually takes.
    pub(crate) rate: WrittenRate,
}

impl AccountSettings {
    /// Who may talk there, as the gateway decides it.
    pub(crate) fn access(&self) -> AccessPolicy {
        let is_anyone = |user: &&UserId| user.as_str() == EVERYBODY;
        let named = self.allow.iter().filter(|user| !is_anyone(user));
        AccessPolicy {
            allow: named.cloned().collect(),
            roles: self.roles.clone(),
            surface: Trust::Unchecked,
            anyone: self.allow.iter().any(|user| is_anyone(&user)),
            strangers: self.strangers,
            groups: self.groups.clone(),
            bots: self.bots,
        }
    }
}

/// How a platform calls us.
#[derive(Debug, Clone)]
pub(crate) struct Webhook {
    /// What it proves itself with.
    pub(crate) secret: Secret,
    /// Where it finds us, if it has to be told.
    pub(crate) url: Option<Url>,
}

/// Messages a second, where the operator says how many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenRate {
    /// To one chat.
    pub(crate) chat: Option<u32>,
    /// To all chats of the account together.
    pub(crate) account: Option<u32>,
}

/// Where an account speaks when nobody asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HomeChat {
    /// The chat.
    pub(crate) chat: ChatId,
    /// The thread in it.
    pub(crate) thread: Option<ThreadId>,
}

/// What is done for agents of other gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compat {
    /// Children also see their session under the names that they know.
    pub(crate) hermes_env: bool,
}

/// How much at once, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Turns that run at once.
    pub(crate) max_turns: usize,
    /// A turn is ended after this long.
    pub(crate) turn_timeout: Duration,
    /// A turn is ended when it did nothing for this long.
    pub(crate) no_progress: Duration,
    /// Messages that may wait in one conversation.
    pub(crate) queue_limit: usize,
    /// How often something is tried before it is a dead letter.
    pub(crate) attempts: u32,
    /// How long running turns have to end when the gateway stops.
    pub(crate) drain: Duration,
}

/// A value, its key, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Its key, as `config explain` takes it.
    pub(crate) key: String,
    /// The value; a secret is `(set)`.
    pub(crate) value: Value,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// The file says so.
    File {
        /// In this line.
        line: usize,
    },
    /// An environment variable says so.
    Environment {
        /// This one.
        name: &'static str,
    },
}

impl Provider {
    /// Its name in the file.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Demo => "demo",
        }
    }
}

impl ResetMode {
    /// Its name in the file.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Idle => "idle",
            Self::Daily => "daily",
            Self::Both => "both",
        }
    }
}
