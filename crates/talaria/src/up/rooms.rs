//! From the configuration to the gateway's settings: profiles with what thinks for them, our own surfaces, the
//! operator's accounts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use talaria_agents::models::{self, ModelSettings, Provider as Spoken};
use talaria_agents::native::NativeRunner;
use talaria_agents::processes::Processes;
use talaria_agents::tools::{self, Environment as ChildEnvironment};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::authority::{Authority, Grant, ResourceKind, Right};
use talaria_domain::clock::Clock;
use talaria_domain::ids::Ids;
use talaria_domain::profile::Account;
use talaria_gateway::access::{AccessPolicy, Trust};
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::files::Files;
use talaria_gateway::registry::IDLE;
use talaria_gateway::settings::{
    AccountSettings, DoubtPolicy, Limits, ProfileSettings, Reset, ResumePolicy, Settings,
};
use talaria_platforms::callback::{self, Callback};
use talaria_platforms::local::{Local, SURFACES};
use talaria_platforms::split::pieces;
use talaria_platforms::{Allowance, Credential, Webhook, Workshop};
use talaria_server::PlaceOf;

use super::runners;
use crate::config::{
    AccountSettings as ConfiguredAccount, Effective, Environment, Model,
    ProfileSettings as Configured, Provider, ResetMode, RunnerKind,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What the gateway is made with.
pub(super) fn settings(
    effective: &Effective,
    environment: &Environment,
    (clock, ids): (&Arc<dyn Clock>, &Arc<dyn Ids>),
    resume: ResumePolicy,
    processes: &Arc<Processes>,
) -> anyhow::Result<Settings> {
    let tls = models::tls()?;
    let workshop = Workshop {
        client: client(tls.clone())?,
        clock: Arc::clone(clock),
        ids: Arc::clone(ids),
    };
    let client = models::Client::new(tls);
    let children = ChildEnvironment::allowed(environment.texts());
    let children = if effective.compat.hermes_env {
        children.with_hermes_names()
    } else {
        children
    };
    let profiles = effective.profiles.iter().map(|configured| {
        let profile = profile(configured, &client, (&children, processes))?;
        Ok((profile.profile.name.clone(), profile))
    });
    let surfaces = SURFACES.map(|surface| {
        let adapter = Arc::new(Local::of(surface, &effective.default_profile, clock));
        AccountSettings {
            adapter,
            access: AccessPolicy {
                surface: Trust::Checked,
                ..AccessPolicy::default()
            },
            merge_window: Duration::ZERO,
            rate: Rate::UNLIMITED,
            account_rate: Rate::UNLIMITED,
            edit_pace: Duration::ZERO,
            doubt: DoubtPolicy::PreferLoss,
            marks: false,
            home: None,
        }
    });
    let mut accounts: Vec<AccountSettings> = surfaces.into();
    accounts.extend(called_back(effective, &workshop));
    for configured in &effective.accounts {
        accounts.push(account(configured, &workshop)?);
    }
    Ok(Settings {
        node: "gateway".into(),
        profiles: profiles.collect::<anyhow::Result<_>>()?,
        worker: Arc::<Processes>::clone(processes),
        accounts,
        routes: effective.routes.clone(),
        bindings: runners::bindings(effective, environment, &client, (&children, processes))?,
        limits: limits(effective, resume),
        split: pieces,
        files: Some(files(&effective.home)),
        zone: effective.zone.clone(),
    })
}

/// The HTTP client that all platforms share.
fn client(tls: rustls::ClientConfig) -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would carry the key in its header to wherever the server points.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("talaria/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls)
        .build()
}

/// Files are kept in the data directory. They are sent from where the gateway works, from the directory for what is
/// temporary, and from where they are kept; nothing else of the data directory ever is.
fn files(home: &Path) -> Files {
    let home = std::path::absolute(home).unwrap_or_else(|_| home.to_owned());
    let root = home.join("files");
    // A service that works at the root of everything would share everything.
    let works_in = std::env::current_dir().ok();
    let works_in = works_in.filter(|directory| directory.parent().is_some());
    let shareable = works_in.into_iter();
    let shareable = shareable.chain([std::env::temp_dir(), root.clone()]);
    Files {
        shareable: shareable.collect(),
        root,
        private: Some(home),
    }
}

/// The way back to programs, where the operator allows one. Nobody can talk there.
fn called_back(effective: &Effective, workshop: &Workshop) -> Option<AccountSettings> {
    let callbacks = effective.server.callbacks.clone()?;
    let settings = callback::Settings {
        allow: callbacks.allow,
        signer: callbacks.signer,
        profile: effective.default_profile.clone(),
    };
    Some(AccountSettings {
        adapter: Arc::new(Callback::new(settings, workshop)),
        access: AccessPolicy::default(),
        merge_window: Duration::ZERO,
        rate: Rate::UNLIMITED,
        account_rate: Rate::UNLIMITED,
        edit_pace: Duration::ZERO,
        doubt: DoubtPolicy::PreferLoss,
        marks: false,
        home: None,
    })
}

/// Where programs may be called back, as the server asks it.
pub(super) fn callback(effective: &Effective) -> Option<PlaceOf> {
    let allow = effective.server.callbacks.as_ref()?.allow.clone();
    Some(Arc::new(move |url| {
        callback::address(&allow, url).map_err(str::to_owned)
    }))
}

/// An account of the operator's, with who may talk there.
fn account(configured: &ConfiguredAccount, workshop: &Workshop) -> anyhow::Result<AccountSettings> {
    let (platform, name) = (configured.platform.as_str(), configured.name.as_str());
    let credential = Credential {
        account: Account {
            platform: configured.platform.clone(),
            name: configured.name.clone(),
            profile: configured.profile.clone(),
        },
        api_base: configured.api_base.clone(),
        token: configured.token.as_ref().map(|token| token.value.clone()),
        app_token: configured
            .app_token
            .as_ref()
            .map(|token| token.value.clone()),
        webhook: configured.webhook.as_ref().map(|webhook| Webhook {
            secret: webhook.secret.value.clone(),
            url: webhook.url.clone(),
        }),
    };
    let connection = talaria_platforms::connect(credential, workshop)
        .map_err(|why| anyhow::anyhow!("account {name:?} on {platform:?}: {why}"))?;
    Ok(AccountSettings {
        adapter: connection.adapter,
        access: configured.access(),
        merge_window: connection.merge_window,
        rate: rate(connection.chat, configured.rate.chat),
        account_rate: rate(connection.account, configured.rate.account),
        edit_pace: connection.edit_pace,
        doubt: DoubtPolicy::PreferLoss,
        marks: configured.marks,
        home: home(configured),
    })
}

/// Where the owner hears of what nobody asked for.
fn home(configured: &ConfiguredAccount) -> Option<Address> {
    let home = configured.home.as_ref()?;
    Some(Address {
        platform: configured.platform.clone(),
        account: configured.name.clone(),
        chat_kind: ChatKind::Direct,
        chat: home.chat.clone(),
        thread: home.thread.clone(),
        reply_to: None,
    })
}

/// What the platform usually takes, or so many messages a second: then a tenth of that may come at once.
fn rate(usual: Allowance, written: Option<u32>) -> Rate {
    let Allowance { burst, every } = usual;
    match written {
        None => Rate { burst, every },
        Some(written) => Rate {
            burst: (written / 10).max(1),
            every: Duration::from_millis(1_000_u32.div_ceil(written.max(1)).into()),
        },
    }
}

fn limits(effective: &Effective, resume: ResumePolicy) -> Limits {
    let limits = &effective.limits;
    Limits {
        turns: limits.max_turns,
        turn_time: limits.turn_timeout,
        no_progress: limits.no_progress,
        idle_run: IDLE.max(limits.no_progress),
        queue: limits.queue_limit,
        attempts: limits.attempts,
        drain: limits.drain,
        resume,
        ..Limits::default()
    }
}

fn profile(
    configured: &Configured,
    client: &models::Client,
    (children, processes): (&ChildEnvironment, &Arc<Processes>),
) -> anyhow::Result<ProfileSettings> {
    let name = configured.profile.name.as_str();
    anyhow::ensure!(
        configured.runner != RunnerKind::Acp,
        "profile {name:?}: this build has no runner \"acp\""
    );
    let tools = tools::all(children, processes);
    let known: BTreeSet<&str> = tools.iter().map(|tool| tool.name()).collect();
    for tool in &configured.tools {
        if !known.contains(tool.as_str()) {
            tracing::warn!(profile = name, tool, "this build has no such tool");
        }
    }
    let model = models::build(model(&configured.model), client.clone());
    Ok(ProfileSettings {
        profile: configured.profile.clone(),
        runner: Arc::new(
            NativeRunner::new(model, tools).approving(configured.approve.iter().cloned().collect()),
        ),
        authority: authority(configured),
        reset: reset(configured),
    })
}

/// The model and the tools that the profile names, as they are in this build, and its own conversation.
fn authority(configured: &Configured) -> Authority {
    let tools = configured.tools.iter().map(|tool| {
        let grant = Grant::of(["call", "detail"]).pinned_to(built_in(tool));
        (tool.clone(), grant)
    });
    let model = &configured.model;
    let models = Grant::of(["count_tokens", "invoke", "stream"]).pinned_to(served(model));
    let models = [(model.name.clone(), models)].into();
    Authority {
        grants: [
            (ResourceKind::Tool, tools.collect()),
            (ResourceKind::Model, models),
        ]
        .into(),
        rights: Right::ALL.into(),
        state: configured.profile.state.clone(),
    }
}

/// What is behind the name of a tool.
pub(super) fn built_in(tool: &str) -> String {
    format!("built in: {tool}")
}

/// What is behind the name of a model.
pub(super) fn served(model: &Model) -> String {
    format!("{}: {}", model.provider.as_str(), model.served_as)
}

pub(super) fn model(model: &Model) -> ModelSettings {
    ModelSettings {
        provider: match model.provider {
            Provider::OpenAi => Spoken::OpenAi,
            Provider::Anthropic => Spoken::Anthropic,
            Provider::Demo => Spoken::Demo,
        },
        base_url: model.base_url.as_ref().map(ToString::to_string),
        model: model.served_as.clone(),
        api_key: model.api_key.as_ref().map(|key| key.value.clone()),
        window: model.window,
    }
}

fn reset(configured: &Configured) -> Reset {
    let rule = configured.reset;
    let (idle, at_hour) = (Some(rule.idle), Some(rule.at_hour));
    match rule.mode {
        ResetMode::None => Reset::default(),
        ResetMode::Idle => Reset {
            idle,
            at_hour: None,
        },
        ResetMode::Daily => Reset {
            idle: None,
            at_hour,
        },
        ResetMode::Both => Reset { idle, at_hour },
    }
}

/// What the default profile thinks with, for people.
pub(super) fn model_name(effective: &Effective) -> String {
    let default = effective
        .profiles
        .iter()
        .find(|profile| profile.profile.name == effective.default_profile);
    default.map_or_else(String::new, |profile| match profile.model.provider {
        Provider::Demo => profile.model.name.clone(),
        Provider::OpenAi | Provider::Anthropic => profile.model.served_as.clone(),
    })
}

#[cfg(test)]
mod tests {
    //! How much may be written.

    use super::*;

    #[test]
    fn a_rate_is_the_platforms_own_unless_the_operator_says_another() {
        let usual = Allowance {
            burst: 3,
            every: Duration::from_secs(1),
        };
        for (written, burst, every) in [
            (None, 3, 1_000),
            (Some(1), 1, 1_000),
            (Some(30), 3, 34),
            (Some(1_000), 100, 1),
        ] {
            let every = Duration::from_millis(every);
            assert_eq!(rate(usual, written), Rate { burst, every }, "{written:?}");
        }
    }
}
