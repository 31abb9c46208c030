//! `talaria why`: why somebody may talk or not, who answers, and what thinks about what they say. The running gateway is
//! asked; without one the same rules decide from the configuration, and nobody knows who was paired.

use serde_json::{Value, json};
use talaria_domain::address::Address;
use talaria_domain::binding::{self, Binding, EventPattern};
use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::names::{ChatId, ProfileName, ThreadId};
use talaria_gateway::access::doors::{self, Entrance};
use talaria_gateway::access::{AccessPolicy, Trust};
use talaria_platforms::local::SURFACES;
use talaria_server::doorkeeper::{Person, Supposed};

use super::client::Gateway;
use super::text::{ago, field, time};
use super::{Context, Failure};
use crate::config::{self, BindingSettings, Effective};
use crate::output;
use crate::up::doorkeeper::{no_account, place, principal, told};

/// Why somebody may talk or not, who answers, and what thinks about what they say
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Asks the running gateway. Without one it decides by the configuration alone, as the gateway would.

Examples:
  talaria why PLATFORM/main-bot/12345
  talaria why PLATFORM/main-bot/12345 -- -100123:42"
)]
pub(crate) struct Why {
    /// Who: PLATFORM/ACCOUNT/USER
    principal: String,
    /// Where: CHAT or CHAT:THREAD; without it, in their own chat
    #[arg(allow_hyphen_values = true)]
    address: Option<String>,
    /// Where, if the chat's id has a colon in it
    #[arg(long, conflicts_with = "address", allow_hyphen_values = true)]
    chat: Option<String>,
    /// In which thread of it
    #[arg(long, requires = "chat", allow_hyphen_values = true)]
    thread: Option<String>,
    /// With which command, if with one
    #[arg(long)]
    command: Option<String>,
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
    /// As the gateway answers it.
    told: Value,
    /// Whether the gateway said so.
    is_live: bool,
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
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let supposed = self.supposed().map_err(Failure::Usage)?;
        let live = ask(context, &supposed).await?;
        let effective = match config::read(&context.environment) {
            Ok(effective) => Some(effective),
            // The gateway's secrets may be nobody else's business: what it says is enough.
            Err(_) if live.is_some() => None,
            Err(problems) => return Err(Failure::Configuration(problems)),
        };
        let explanation = explain(effective.as_ref(), &supposed, &self.event, live);
        if self.json {
            output::json(&explanation.to_json());
            return Ok(());
        }
        let facts = explanation.facts();
        let facts: Vec<(&str, String)> = facts
            .iter()
            .map(|(name, it)| (name.as_str(), it.clone()))
            .collect();
        context.facts(&facts);
        if !explanation.is_live {
            output::remark(
                "by the configuration alone: no running gateway knows this account, nor whether they were paired",
            );
        }
        Ok(())
    }

    fn supposed(&self) -> Result<Supposed, String> {
        let who = person(&self.principal)?;
        let (chat, thread) = match &self.address {
            Some(address) => written(&who, address),
            None => (self.chat.clone(), self.thread.clone()),
        };
        Ok(Supposed {
            who,
            chat: chat.map(Into::into),
            thread: thread.map(Into::into),
            command: self.command.clone(),
        })
    }
}

/// `PLATFORM/ACCOUNT/USER`; `PLATFORM[/ACCOUNT]:USER` is the same.
fn person(text: &str) -> Result<Person, String> {
    let expected = || format!("expected PLATFORM/ACCOUNT/USER, found {text:?}");
    if let Some(person) = Person::parse(text).filter(|it| !it.account.as_str().contains(':')) {
        return Ok(person);
    }
    let (place, user) = text.split_once(':').ok_or_else(expected)?;
    let (platform, account) = place.split_once('/').unwrap_or((place, "default"));
    Person::parse(&format!("{platform}/{account}/{user}")).ok_or_else(expected)
}

/// `CHAT[:THREAD]`; with the platform in front it is the same.
fn written(who: &Person, address: &str) -> (Option<String>, Option<String>) {
    let platform = who.platform.as_str();
    let rest = match address.split_once(':') {
        Some((first, rest)) if first == platform => rest,
        None if address == platform => "",
        _ => address,
    };
    let (chat, thread) = rest.split_once(':').unwrap_or((rest, ""));
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    (some(chat), some(thread))
}

/// What the running gateway says; none where no gateway answers.
async fn ask(context: &Context, supposed: &Supposed) -> Result<Option<Value>, Failure> {
    let who = &supposed.who;
    let named = format!("{}/{}/{}", who.platform, who.account, who.user);
    let query = [
        ("chat", supposed.chat.as_ref().map(ChatId::as_str)),
        ("thread", supposed.thread.as_ref().map(ThreadId::as_str)),
        ("command", supposed.command.as_deref()),
    ];
    let query: Vec<(&str, &str)> = query
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    let gateway = match Gateway::find(context) {
        Err(Failure::NotReachable(_)) => return Ok(None),
        found => found?,
    };
    match gateway.get_with(&["api", "why", &named], &query).await {
        Ok(told) => Ok(Some(told)),
        // Or it knows no such account.
        Err(Failure::NotReachable(_) | Failure::Failed(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// What the gateway said, or would decide by the configuration; and what thinks there.
fn explain(
    effective: Option<&Effective>,
    supposed: &Supposed,
    event: &str,
    live: Option<Value>,
) -> Explanation {
    let at = place(supposed);
    let is_live = live.is_some();
    let by_configuration = || by_configuration(effective?, supposed, &at);
    let Some(told) = live.or_else(by_configuration) else {
        let reason = no_account(&supposed.who);
        let access = json!({ "allowed": false, "decision": "refused", "reason": format!("refused: {reason}") });
        return Explanation {
            told: json!({ "access": access }),
            is_live,
            binding: None,
        };
    };
    let profile = ProfileName::from(field(&told, "profile"));
    Explanation {
        binding: effective.and_then(|it| chosen(&it.bindings, (&profile, &at), event)),
        told,
        is_live,
    }
}

fn by_configuration(effective: &Effective, supposed: &Supposed, at: &Address) -> Option<Value> {
    let (policy, profile) = account(effective, &supposed.who)?;
    let entrance = Entrance {
        policy: &policy,
        profile: &profile,
        routes: &effective.routes,
    };
    let who = principal(&supposed.who);
    let supposed = doors::Supposed {
        principal: &who,
        address: at,
        command: supposed.command.as_deref(),
    };
    serde_json::to_value(told(doors::explain(&entrance, supposed, None))).ok()
}

fn account(effective: &Effective, who: &Person) -> Option<(AccessPolicy, ProfileName)> {
    let platform = &who.platform;
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
    let found = accounts.find(|it| it.platform == *platform && it.name == who.account)?;
    Some((found.access(), found.profile.clone()))
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
    fn facts(&self) -> Vec<(String, String)> {
        let access = &self.told["access"];
        let mut facts = vec![("access", field(access, "reason"))];
        let steps = access["steps"].as_array().into_iter().flatten();
        let steps: Vec<(String, String)> = steps
            .map(|step| (format!("  {}", field(step, "source")), field(step, "found")))
            .collect();
        let grant = &access["grant"];
        if let Some(at) = time(grant, "approved_at") {
            let by = field(grant, "approved_by");
            facts.push(("paired", format!("by {by}, {}", ago(at, SystemClock.now()))));
        }
        facts.push(("profile", field(&self.told, "profile")));
        facts.push(("route", field(&self.told, "route")));
        match &self.binding {
            Some(chosen) => facts.extend(chosen.facts()),
            None => facts.push(("binding", "none".to_owned())),
        }
        let mut named: Vec<(String, String)> = facts
            .into_iter()
            .map(|(name, it)| (name.to_owned(), it))
            .collect();
        named.splice(1..1, steps);
        named
    }

    fn to_json(&self) -> Value {
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
            "access": self.told["access"],
            "profile": self.told["profile"],
            "route": self.told["route"],
            "live": self.is_live,
            "binding": binding,
        })
    }
}

impl Chosen {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let binding = &self.binding;
        let own = if self.is_own {
            " (what the profile says by itself)"
        } else {
            ""
        };
        let events: Vec<&str> = binding.events.iter().map(EventPattern::as_str).collect();
        let mut facts = vec![
            ("binding", format!("{}{own}", binding.id)),
            (
                "because of",
                format!("{} for {}", binding.scope, events.join(", ")),
            ),
            ("before", self.others.join(", ")),
            ("runner", binding.runner.to_string()),
        ];
        facts.extend(allowed(binding));
        facts
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
