//! Pure: the configuration that holds as a flat list of keys and values, for `config show` and `config explain`. A
//! secret is `(set)`, here as everywhere.

use serde_json::{Value, json};
use talaria_domain::binding::{BindingScope, Policy};
use talaria_domain::principal::Role;
use talaria_gateway::routing::Route;
use talaria_server::Terms;
use talaria_store::Durability;

use super::effective::{
    AccountSettings, BindingSettings, Effective, Limits, Model, ProfileSettings, RunnerSettings,
    Setting,
};
use super::keys::join;

/// What stands for a secret.
pub(crate) const SECRET: &str = "(set)";

type Values = Vec<(String, Value)>;

/// Every value with its key.
pub(super) fn values(effective: &Effective) -> Values {
    let path = |path: &std::path::Path| path.display().to_string();
    let durability = match effective.store.durability {
        Durability::Power => "power",
        Durability::Process => "process",
    };
    let public_url = effective
        .server
        .public_url
        .as_ref()
        .map(ToString::to_string);
    let mut values = named(
        "",
        [
            ("home", json!(path(&effective.home))),
            ("file", json!(effective.file.as_deref().map(path))),
            ("api_key", json!(effective.api_key.as_ref().map(|_| SECRET))),
            ("log", json!(effective.log)),
            ("default_profile", json!(effective.default_profile)),
        ],
    );
    let listen = effective.server.listen.to_string();
    values.extend(named(
        "server",
        [("listen", json!(listen)), ("public_url", json!(public_url))],
    ));
    values.extend(terms(&effective.server.terms));
    let callbacks = effective.server.callbacks.as_ref();
    let allow: Option<Vec<&str>> = callbacks.map(|callbacks| callbacks.allow.shown().collect());
    values.extend(named(
        "server.callbacks",
        [
            ("allow", json!(allow.unwrap_or_default())),
            ("secret", json!(callbacks.map(|_| SECRET))),
        ],
    ));
    values.extend(named(
        "store",
        [
            ("url", json!(effective.store.url.shown)),
            ("durability", json!(durability)),
        ],
    ));
    values.extend(effective.models.iter().flat_map(model));
    values.extend(effective.profiles.iter().flat_map(profile));
    values.extend(effective.runners.iter().enumerate().flat_map(runner));
    let bindings = effective.bindings.iter().filter(|binding| !binding.is_own);
    values.extend(bindings.enumerate().flat_map(binding));
    values.extend(effective.accounts.iter().enumerate().flat_map(account));
    values.extend(effective.routes.iter().enumerate().flat_map(route));
    let hermes_env = effective.compat.hermes_env;
    values.extend(named("compat", [("hermes_env", json!(hermes_env))]));
    values.extend(limits(&effective.limits));
    values.extend(named("gateway", [("zone", json!(effective.zone.as_str()))]));
    values
}

/// The settings that a key stands for: itself, or everything below it.
pub(crate) fn below<'e>(settings: &'e [Setting], key: &str) -> Vec<&'e Setting> {
    let is_below = |setting: &&Setting| {
        let rest = setting.key.strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    settings.iter().filter(is_below).collect()
}

/// A value for people.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn model(model: &Model) -> Values {
    named(
        &join("model", &model.name),
        [
            ("provider", json!(model.provider.as_str())),
            (
                "base_url",
                json!(model.base_url.as_ref().map(ToString::to_string)),
            ),
            ("model", json!(model.served_as)),
            ("api_key", json!(model.api_key.as_ref().map(|_| SECRET))),
            ("window", json!(model.window)),
        ],
    )
}

fn profile(settings: &ProfileSettings) -> Values {
    let profile = &settings.profile;
    let key = join("profile", profile.name.as_str());
    let scopes: Vec<_> = profile
        .state
        .scopes
        .iter()
        .map(|scope| scope.as_str())
        .collect();
    let mut values = named(
        &key,
        [
            ("model", json!(settings.model.name)),
            ("instructions", json!(profile.instructions)),
            ("runner", json!(profile.runner)),
            ("tools", json!(settings.tools)),
            ("approve", json!(settings.approve)),
            ("busy", json!(profile.busy.as_str())),
            ("state.enable", json!(profile.state.enable)),
            ("state.scopes", json!(scopes)),
        ],
    );
    let reset = &settings.reset;
    values.extend(named(
        &join(&key, "session"),
        [
            ("group_per_user", json!(profile.sharing.group_per_user)),
            ("thread_per_user", json!(profile.sharing.thread_per_user)),
            ("reset.mode", json!(reset.mode.as_str())),
            ("reset.idle_minutes", json!(reset.idle.as_secs() / 60)),
            ("reset.at_hour", json!(reset.at_hour)),
        ],
    ));
    values
}

fn runner((index, runner): (usize, &RunnerSettings)) -> Values {
    let descriptor = &runner.descriptor;
    let key = format!("runner[{index}]");
    let mut values = named(
        &key,
        [
            ("id", json!(descriptor.name.id())),
            ("command", json!(runner.command)),
            // They can hold anything, a secret among it.
            ("args", json!(format!("{} given", runner.args.len()))),
            ("env", json!(runner.env)),
            ("cwd", json!(runner.cwd)),
            ("version", json!(descriptor.version)),
            ("capabilities", json!(descriptor.capabilities)),
        ],
    );
    let permissions = &descriptor.permissions;
    values.extend(named(
        &format!("{key}.permissions"),
        [
            ("models", json!(permissions.models)),
            ("tools", json!(permissions.tools)),
            ("knowledge_bases", json!(permissions.knowledge_bases)),
            ("files", json!(permissions.files)),
            ("storage", json!(permissions.storage)),
            ("history", json!(permissions.history)),
            ("events", json!(permissions.events)),
            ("interactions", json!(permissions.interactions)),
        ],
    ));
    values
}

fn binding((index, settings): (usize, &BindingSettings)) -> Values {
    let binding = &settings.binding;
    let key = format!("binding[{index}]");
    let mut values = named(&key, [("id", json!(binding.id))]);
    values.extend(place(&key, &binding.scope));
    let Policy {
        resources,
        state,
        delivery,
    } = &binding.policy;
    values.extend(named(
        &key,
        [
            ("events", json!(binding.events)),
            ("runner", json!(binding.runner)),
            ("config", json!(binding.config)),
            ("models", json!(resources.models)),
            ("tools", json!(resources.tools)),
            ("knowledge_bases", json!(resources.knowledge_bases)),
            ("files", json!(resources.files)),
            ("storage", json!(resources.storage)),
            ("state.enable", json!(state.enable)),
            ("state.scopes", json!(state.scopes)),
            ("delivery.streaming", json!(delivery.streaming)),
            ("delivery.progress", json!(delivery.progress)),
            ("delivery.interactions", json!(delivery.interactions)),
        ],
    ));
    values
}

fn place(key: &str, scope: &BindingScope) -> Values {
    let (mut profile, mut platform, mut account) = (None, None, None);
    let (mut chat, mut thread) = (None, None);
    match scope {
        BindingScope::Global => {}
        BindingScope::Profile(name) => profile = Some(name),
        BindingScope::Account {
            platform: on,
            account: by,
        } => (platform, account) = (Some(on), Some(by)),
        BindingScope::Chat {
            platform: on,
            account: by,
            chat: at,
            thread: within,
        } => {
            (platform, account) = (Some(on), Some(by));
            (chat, thread) = (Some(at), within.as_ref());
        }
    }
    named(
        key,
        [
            ("profile", json!(profile)),
            ("platform", json!(platform)),
            ("account", json!(account)),
            ("chat", json!(chat)),
            ("thread", json!(thread)),
        ],
    )
}

fn account((index, account): (usize, &AccountSettings)) -> Values {
    let (home, webhook) = (account.home.as_ref(), account.webhook.as_ref());
    let thread = home.and_then(|home| home.thread.as_ref());
    named(
        &format!("account[{index}]"),
        [
            ("platform", json!(account.platform)),
            ("name", json!(account.name)),
            ("profile", json!(account.profile)),
            ("token", json!(account.token.as_ref().map(|_| SECRET))),
            (
                "app_token",
                json!(account.app_token.as_ref().map(|_| SECRET)),
            ),
            ("webhook.secret", json!(webhook.map(|_| SECRET))),
            (
                "webhook.url",
                json!(
                    webhook
                        .and_then(|it| it.url.as_ref())
                        .map(ToString::to_string)
                ),
            ),
            (
                "api_base",
                json!(account.api_base.as_ref().map(ToString::to_string)),
            ),
            ("allow", json!(account.allow)),
            ("strangers", json!(account.strangers)),
            ("roles.owner", having(account, Role::Owner)),
            ("roles.admin", having(account, Role::Admin)),
            ("roles.member", having(account, Role::Member)),
            ("roles.guest", having(account, Role::Guest)),
            ("groups.mention", json!(account.groups.mention)),
            ("groups.allow_chats", json!(account.groups.allow_chats)),
            ("groups.threads", json!(account.groups.threads)),
            ("bots", json!(account.bots)),
            ("home.chat", json!(home.map(|home| &home.chat))),
            ("home.thread", json!(thread)),
            ("marks", json!(account.marks)),
            ("rate.chat", json!(account.rate.chat)),
            ("rate.account", json!(account.rate.account)),
        ],
    )
}

/// Those who have this role.
fn having(account: &AccountSettings, role: Role) -> Value {
    let named = account.roles.iter().filter(|(_, other)| **other == role);
    json!(named.map(|(user, _)| user).collect::<Vec<_>>())
}

fn route((index, route): (usize, &Route)) -> Values {
    named(
        &format!("route[{index}]"),
        [
            ("platform", json!(route.platform)),
            ("account", json!(route.account)),
            ("chat", json!(route.chat)),
            ("thread", json!(route.thread)),
            ("user", json!(route.user)),
            ("profile", json!(route.profile)),
        ],
    )
}

fn limits(limits: &Limits) -> Values {
    named(
        "gateway",
        [
            ("max_turns", json!(limits.max_turns)),
            (
                "turn_timeout_minutes",
                json!(limits.turn_timeout.as_secs() / 60),
            ),
            (
                "no_progress_minutes",
                json!(limits.no_progress.as_secs() / 60),
            ),
            ("queue_limit", json!(limits.queue_limit)),
            ("attempts", json!(limits.attempts)),
            ("drain_seconds", json!(limits.drain.as_secs())),
        ],
    )
}

fn terms(terms: &Terms) -> Values {
    let mut values = named(
        "server",
        [
            ("cors_origins", json!(terms.cors_origins)),
            ("body_limit_mb", json!(terms.body_limit / 1024 / 1024)),
            ("header_limit_kb", json!(terms.header_limit / 1024)),
            ("header_timeout_seconds", json!(terms.header_time.as_secs())),
            ("body_timeout_seconds", json!(terms.body_time.as_secs())),
            ("max_connections", json!(terms.connections)),
        ],
    );
    values.extend(named(
        "server.limits",
        [
            ("turns_at_once", json!(terms.turns.at_once)),
            ("turns_in_a_row", json!(terms.turns.in_a_row)),
            ("turns_per_second", json!(terms.turns.per_second)),
        ],
    ));
    values
}

/// Puts a table's key before each of its values.
fn named<const N: usize>(table: &str, values: [(&str, Value); N]) -> Values {
    let whole = |(key, value): (&str, Value)| match table {
        "" => (key.to_owned(), value),
        _ => (format!("{table}.{key}"), value),
    };
    values.into_iter().map(whole).collect()
}
