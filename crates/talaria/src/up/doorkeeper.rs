//! Who may come in, from the gateway's words to the server's. Whoever is named by id is a person in a chat of their own,
//! unless a chat is said.

use talaria_domain::adapter::Pending;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::names::UserId;
use talaria_domain::principal::{Principal, Role};
use talaria_gateway::access::Decision;
use talaria_gateway::access::decide::Refused;
use talaria_gateway::access::doors::{self, Explanation, Settled};
use talaria_gateway::access::pairing::{Grant, Request};
use talaria_gateway::routing::Route;
use talaria_server::doorkeeper::{
    Access, Approval, Doorkeeper, Granted, Listing, NotSettled, Person, Step, Supposed, Told,
    Waiting, Whom,
};
use talaria_store::StoreError;

use super::desk::Desk;

impl Doorkeeper for Desk {
    fn list(&self) -> Pending<'_, Result<Listing, NotSettled>> {
        Box::pin(async move {
            let listing = self.0.doors().list().await.map_err(|error| later(&error))?;
            Ok(Listing {
                pending: listing.waiting.iter().map(waiting).collect(),
                granted: listing.granted.iter().map(granted).collect(),
                locked_until: listing.locked_until,
            })
        })
    }

    fn approve(&self, approval: Approval) -> Pending<'_, Result<Granted, NotSettled>> {
        Box::pin(async move {
            let Approval { whom, role, by } = approval;
            let whom = meant(whom);
            let settled = self.0.doors().approve(whom, role, &by).await;
            let grant = done(settled.map_err(|error| later(&error))?)?;
            Ok(granted(&grant))
        })
    }

    fn deny(&self, whom: Whom) -> Pending<'_, Result<Waiting, NotSettled>> {
        Box::pin(async move {
            let settled = self.0.doors().deny(meant(whom)).await;
            let request = done(settled.map_err(|error| later(&error))?)?;
            Ok(waiting(&request))
        })
    }

    fn revoke(&self, who: Person) -> Pending<'_, Result<(), NotSettled>> {
        Box::pin(async move {
            let revoked = self.0.doors().revoke(&principal(&who)).await;
            if revoked.map_err(|error| later(&error))? {
                return Ok(());
            }
            Err(NotSettled::NotFound {
                reason: "nobody of that name was paired: `talaria pair list` shows who was"
                    .to_owned(),
            })
        })
    }

    fn why(&self, supposed: Supposed) -> Result<Told, NotSettled> {
        let (who, at) = (principal(&supposed.who), place(&supposed));
        let explained = self.0.doors().why(doors::Supposed {
            principal: &who,
            address: &at,
            command: supposed.command.as_deref(),
        });
        let missing = || NotSettled::NotFound {
            reason: no_account(&supposed.who),
        };
        explained.map(told).ok_or_else(missing)
    }
}

/// What is said where no account is.
pub(crate) fn no_account(who: &Person) -> String {
    let (platform, account) = (who.platform.as_str(), who.account.as_str());
    format!("no account {account:?} on {platform:?} is configured")
}

/// Somebody by who they are.
pub(crate) fn principal(who: &Person) -> Principal {
    Principal {
        platform: who.platform.clone(),
        account: who.account.clone(),
        user: who.user.clone(),
        alternate: None,
        display_name: None,
        role: Role::Member,
    }
}

/// Where they would say it.
pub(crate) fn place(supposed: &Supposed) -> Address {
    let who = &supposed.who;
    let chat = supposed.chat.clone();
    Address {
        platform: who.platform.clone(),
        account: who.account.clone(),
        chat_kind: if chat.is_some() {
            ChatKind::Group
        } else {
            ChatKind::Direct
        },
        chat: chat.unwrap_or_else(|| who.user.as_str().into()),
        thread: supposed.thread.clone(),
        reply_to: None,
    }
}

/// An explanation as it is answered.
pub(crate) fn told(explanation: Explanation) -> Told {
    let (decision, role) = match explanation.decision {
        Decision::Allowed { role, .. } => ("allowed", Some(role)),
        Decision::Ignored { .. } => ("ignored", None),
        Decision::Refused {
            reason: Refused::Command { role, .. },
        } => ("refused", Some(role)),
        Decision::Refused { .. } => ("refused", None),
        Decision::Pair => ("pair", None),
    };
    let steps = explanation.steps.into_iter();
    Told {
        access: Access {
            allowed: decision == "allowed",
            decision: decision.to_owned(),
            role,
            reason: explanation.words,
            steps: steps
                .map(|(source, found)| Step {
                    source: source.to_owned(),
                    found,
                })
                .collect(),
            grant: explanation.grant.as_ref().map(granted),
        },
        profile: explanation.profile,
        route: explanation.route.as_ref().map(route),
    }
}

fn route(route: &Route) -> String {
    let Route {
        platform,
        account,
        chat,
        thread,
        user,
        profile: _,
    } = route;
    let named = [
        ("account", account.as_ref().map(ToString::to_string)),
        ("chat", chat.as_ref().map(ToString::to_string)),
        ("thread", thread.as_ref().map(ToString::to_string)),
        ("user", user.as_ref().map(ToString::to_string)),
    ];
    let named = named.into_iter();
    let named = named.filter_map(|(name, value)| Some(format!(" {name} {:?}", value?)));
    format!("{platform}{}", named.collect::<String>())
}

fn waiting(request: &Request) -> Waiting {
    Waiting {
        principal: named(&request.principal),
        name: request.principal.display_name.clone(),
        asked_at: request.asked_at,
        expires_at: request.expires_at,
    }
}

fn granted(grant: &Grant) -> Granted {
    Granted {
        principal: named(&grant.principal),
        name: grant.principal.display_name.clone(),
        role: grant.role,
        approved_by: grant.approved_by.clone(),
        approved_at: grant.approved_at,
    }
}

fn named(who: &Principal) -> String {
    let user = who.stable_user().map_or("", UserId::as_str);
    format!("{}/{}/{user}", who.platform, who.account)
}

fn meant(whom: Whom) -> doors::Whom {
    match whom {
        Whom::Code(code) => doors::Whom::Code(code),
        Whom::Person(person) => doors::Whom::User(Box::new(principal(&person))),
    }
}

fn done<T>(settled: Settled<T>) -> Result<T, NotSettled> {
    let missing = |reason: &str| NotSettled::NotFound {
        reason: reason.to_owned(),
    };
    match settled {
        Settled::Done(done) => Ok(done),
        Settled::NoRequest => Err(missing(
            "nobody waits under that name or code, or it is too old: `talaria pair list` shows who does",
        )),
        Settled::NoAccount => Err(missing("no such account is configured")),
        Settled::Locked { .. } => Err(NotSettled::Locked {
            reason: "too many codes were wrong: none is looked at for an hour; approve by PLATFORM/ACCOUNT/USER instead"
                .to_owned(),
        }),
    }
}

fn later(error: &StoreError) -> NotSettled {
    NotSettled::Retry {
        reason: error.to_string(),
    }
}
