//! `talaria why`: why somebody may talk or not, and what thinks about what they say. Pure but for reading the
//! configuration: the same rules decide as in the gateway.

use serde_json::{Value, json};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::binding::{self, Binding, EventPattern};
use talaria_domain::names::{AccountName, PlatformName, ProfileName, UserId};
use talaria_domain::principal::{Principal, Role};
use talaria_gateway::access::{self, AccessPolicy, Decision, Trust};
use talaria_platforms::local::SURFACES;

use super::{Context, Failure};
use crate::config::{self, BindingSettings, Effective};
use crate::output;

/// Why somebody may talk or not, and what thinks about what they say
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Needs no gateway: it reads the configuration and decides as the gateway would.

Example:
  talaria why PLATFORM/main-bot:12345 PLATFORM:-100123:42"
)]
pub(crate) struct Why {
    /// Who: PLATFORM[/ACCOUNT]:USER
    principal: String,
    /// Where: PLATFORM, PLATFORM:CHAT or PLATFORM:CHAT:THREAD; without it, in their own chat
    address: Option<String>,
    /// About which event: a message, or one of the gateway's own
    #[arg(long, default_value = "message")]
    event: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that was decided.
#[derive(Debug, PartialEq)]
pub(crate) struct Explanation {
    access: Decision,
    profile: Option<ProfileName>,
    binding: Option<Chosen>,
}

/// What thinks, and why not another one.
#[derive(Debug, PartialEq)]
struct Chosen {
    binding: Binding,
    is_own: bool,
    /// Those that count here as well and are further away.
    others: Vec<String>,
}

impl Why {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let effective = config::read(&context.environment).map_err(Failure::Configuration)?;
        let principal = principal(&self.principal).map_err(Failure::Usage)?;
        let address = self.address.as_deref();
        let at = place(&principal, address).map_err(Failure::Usage)?;
        let explanation = explain(&effective, &principal, &at, &self.event);
        if self.json {
            output::json(&explanation.to_json());
            return Ok(());
        }
        let facts = explanation.facts();
        let facts: Vec<(&str, String)> =
            facts.iter().map(|(name, it)| (*name, it.clone())).collect();
        context.facts(&facts);
        Ok(())
    }
}

/// `PLATFORM/ACCOUNT:USER`.
fn principal(text: &str) -> Result<Principal, String> {
    let expected = || format!("expected PLATFORM[/ACCOUNT]:USER, found {text:?}");
    let (place, user) = text.split_once(':').ok_or_else(expected)?;
    let (platform, account) = place.split_once('/').unwrap_or((place, "default"));
    if [platform, account, user].iter().any(|part| part.is_empty()) {
        return Err(expected());
    }
    Ok(Principal {
        platform: platform.into(),
        account: account.into(),
        user: user.into(),
        alternate: None,
        display_name: None,
        role: Role::Member,
    })
}

/// `PLATFORM:CHAT:THREAD`, or the chat that somebody has with us alone.
fn place(principal: &Principal, address: Option<&str>) -> Result<Address, String> {
    let mut parts = address.unwrap_or_default().splitn(3, ':');
    let platform = parts.next().filter(|platform| !platform.is_empty());
    if platform.is_some_and(|platform| platform != principal.platform.as_str()) {
        return Err("the address is on another platform than the principal".to_owned());
    }
    let chat = parts.next().filter(|chat| !chat.is_empty());
    let thread = parts.next().filter(|thread| !thread.is_empty());
    Ok(Address {
        platform: principal.platform.clone(),
        account: principal.account.clone(),
        chat_kind: if chat.is_some() {
            ChatKind::Group
        } else {
            ChatKind::Direct
        },
        chat: chat.unwrap_or(principal.user.as_str()).into(),
        thread: thread.map(Into::into),
        reply_to: None,
    })
}

/// What the gateway would decide.
fn explain(effective: &Effective, who: &Principal, at: &Address, event: &str) -> Explanation {
    let Some((policy, profile)) = account(effective, &who.platform, &who.account) else {
        let (platform, account) = (who.platform.as_str(), who.account.as_str());
        let reason = format!("no account {account:?} on {platform:?} is configured");
        return Explanation {
            access: Decision::Refused { reason },
            profile: None,
            binding: None,
        };
    };
    Explanation {
        access: access::decide(&policy, who),
        binding: chosen(&effective.bindings, (&profile, at), event),
        profile: Some(profile),
    }
}

fn account(
    effective: &Effective,
    platform: &PlatformName,
    name: &AccountName,
) -> Option<(AccessPolicy, ProfileName)> {
    if SURFACES
        .iter()
        .any(|(surface, _)| *surface == platform.as_str())
    {
        let policy = AccessPolicy {
            surface: Trust::Checked,
            ..AccessPolicy::default()
        };
        return Some((policy, effective.default_profile.clone()));
    }
    let mut accounts = effective.accounts.iter();
    let found = accounts.find(|it| it.platform == *platform && it.name == *name)?;
    let is_anyone = |user: &UserId| user.as_str() == "*";
    let policy = AccessPolicy {
        allow: found.allow.iter().cloned().collect(),
        surface: Trust::Unchecked,
        anyone: found.allow.iter().any(is_anyone),
    };
    Some((policy, found.profile.clone()))
}

fn chosen(
    bindings: &[BindingSettings],
    place: (&ProfileName, &Address),
    event: &str,
) -> Option<Chosen> {
    let all = || bindings.iter().map(|it| &it.binding);
    let found = binding::resolve(all(), place, event).ok()?;
    let counts = |it: &&Binding| {
        it.scope.covers(place.0, place.1)
            && it
                .events
                .iter()
                .any(|pattern| pattern.closeness(event).is_some())
    };
    let mut others: Vec<&Binding> = all()
        .filter(counts)
        .filter(|it| it.id != found.id)
        .collect();
    others.sort_by_key(|it| std::cmp::Reverse(it.scope.nearness()));
    Some(Chosen {
        is_own: bindings
            .iter()
            .any(|it| it.is_own && it.binding.id == found.id),
        binding: found.clone(),
        others: others.iter().map(|it| it.id.to_string()).collect(),
    })
}

impl Explanation {
    fn access(&self) -> String {
        match &self.access {
            Decision::Allowed(Role::Guest) => "allowed as a guest: \"*\" is in `allow`".to_owned(),
            Decision::Allowed(_) => "allowed".to_owned(),
            Decision::Refused { reason } => format!("refused: {reason}"),
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("access", self.access())];
        if let Some(profile) = &self.profile {
            facts.push(("profile", profile.to_string()));
        }
        let Some(chosen) = &self.binding else {
            facts.push(("binding", "none".to_owned()));
            return facts;
        };
        let binding = &chosen.binding;
        let own = if chosen.is_own {
            " (what the profile says by itself)"
        } else {
            ""
        };
        let events: Vec<&str> = binding.events.iter().map(EventPattern::as_str).collect();
        facts.extend([
            ("binding", format!("{}{own}", binding.id)),
            (
                "because of",
                format!("{} for {}", binding.scope, events.join(", ")),
            ),
            ("before", chosen.others.join(", ")),
            ("runner", binding.runner.to_string()),
        ]);
        facts.extend(allowed(binding));
        facts
    }

    fn to_json(&self) -> Value {
        let (is_allowed, reason) = match &self.access {
            Decision::Allowed(_) => (true, self.access()),
            Decision::Refused { reason } => (false, reason.clone()),
        };
        let binding = self.binding.as_ref().map(|chosen| {
            let binding = &chosen.binding;
            json!({
                "id": binding.id,
                "scope": binding.scope.to_string(),
                "events": binding.events,
                "runner": binding.runner,
                "own": chosen.is_own,
                "before": chosen.others,
                "policy": binding.policy,
            })
        });
        json!({
            "access": { "allowed": is_allowed, "reason": reason },
            "profile": self.profile,
            "binding": binding,
        })
    }
}

/// What a binding allows, for people.
fn allowed(binding: &Binding) -> Vec<(&'static str, String)> {
    let policy = &binding.policy;
    let list = |names: Vec<&str>| match names.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let resources = &policy.resources;
    let names =
        |set: &std::collections::BTreeSet<String>| list(set.iter().map(String::as_str).collect());
    let scopes = policy.state.scopes.iter().map(|scope| scope.as_str());
    let state = if policy.state.enable {
        list(scopes.collect())
    } else {
        "disabled".to_owned()
    };
    let stores = resources.storage.iter().map(|store| store.as_str());
    vec![
        ("models", names(&resources.models)),
        ("tools", names(&resources.tools)),
        ("stores", list(stores.collect())),
        ("state", state),
    ]
}

#[cfg(test)]
mod tests;
