//! What is decided about an event before the ledger is asked: whether it is let in, as whose event, for which profile, and
//! whether it is a command. Nothing here reads the ledger: the usual message of somebody who is known costs nothing.

use std::sync::Arc;

use talaria_domain::capabilities::Capability;
use talaria_domain::event::{Event, EventKind};
use talaria_domain::names::ProfileName;
use talaria_domain::profile::BusyPolicy;

use super::command::{self, Parsed};
use crate::access::decide::{self, Ignored, Refused};
use crate::access::loops::Turn;
use crate::access::{Bots, Decision, Facts, decide as may, roles, words};
use crate::settings::{AccountSettings, ProfileSettings};
use crate::shared::Shared;

/// An event, and whose it is.
pub(super) struct Decided<'a> {
    pub(super) event: Event,
    pub(super) account: &'a AccountSettings,
    pub(super) profile: &'a Arc<ProfileSettings>,
    /// What the sender wants to happen if a turn runs.
    pub(super) wish: Option<BusyPolicy>,
    /// Whether a program wrote it.
    pub(super) is_by_a_bot: bool,
}

/// What becomes of an event.
pub(super) enum Admission<'a> {
    /// It is let in.
    In(Decided<'a>),
    /// It is let in if we have answered in this thread before.
    IfFollowed(Decided<'a>),
    /// Somebody asks to be let in.
    Stranger(Decided<'a>),
    /// It is not for us.
    Ignored(&'static str),
    /// It is not let in. For the operator.
    Refused(String),
    /// Programs have talked to each other for long enough.
    Looped {
        event: Event,
        account: &'a AccountSettings,
        is_news: bool,
    },
}

/// What becomes of an event.
pub(super) fn decide(shared: &Shared, event: Event) -> Admission<'_> {
    let settings = &shared.settings;
    let Some(account) = settings.account(&event.address) else {
        return Admission::Refused(format!(
            "no account {:?} on {:?} is configured",
            event.address.account.as_str(),
            event.address.platform.as_str()
        ));
    };
    shared
        .pulse
        .received(account.adapter.account(), shared.now());
    let name = chosen(&event, account)
        .unwrap_or_else(|| settings.profile_at(account, (&event.address, &event.principal)));
    let Some(own) = shared.own.get(name) else {
        let name = name.as_str();
        return Admission::Refused(format!("no profile {name:?} is configured"));
    };
    let decided = |event, wish| Decided {
        event,
        account,
        profile: &own.profile,
        wish,
        is_by_a_bot: false,
    };
    judge(shared, event, account, decided)
}

fn judge<'a>(
    shared: &'a Shared,
    mut event: Event,
    account: &'a AccountSettings,
    decided: impl FnOnce(Event, Option<BusyPolicy>) -> Decided<'a>,
) -> Admission<'a> {
    let parsed = parsed(&event);
    let mut facts = Facts::of(&event, shared.lodge.role(&event.principal));
    if let Some((name, _)) = &parsed {
        facts.command = Some(name);
    }
    let policy = &account.access;
    let is_by_a_bot = facts.is_by_a_bot();
    let mut decision = may(policy, &facts);
    let not_mentioned = Decision::Ignored {
        reason: Ignored::NotMentioned,
    };
    let is_if_followed = decision == not_mentioned && decide::may_follow(policy, &facts);
    if is_if_followed {
        facts.has_spoken = true;
        decision = may(policy, &facts);
    }
    let role = match decision {
        // Whoever may not use a command is told so, on the path that commands take.
        Decision::Allowed { role, .. }
        | Decision::Refused {
            reason: Refused::Command { role, .. },
        } => role,
        Decision::Ignored { reason } => return Admission::Ignored(words::ignored(reason)),
        Decision::Refused { reason } => return Admission::Refused(words::refused(reason, &facts)),
        Decision::Pair => return Admission::Stranger(decided(event, None)),
    };
    if is_by_a_bot {
        let turn = shared.lodge.programs.program(&event.address, shared.now());
        if let Turn::Over { is_news } = turn {
            return Admission::Looped {
                event,
                account,
                is_news,
            };
        }
    } else if policy.bots != Bots::Ignore {
        shared.lodge.programs.person(&event.address);
    }
    event.principal.role = role;
    let wish = parsed.and_then(|parsed| recognise(&mut event, parsed));
    let decided = Decided {
        is_by_a_bot,
        ..decided(event, wish)
    };
    if is_if_followed {
        return Admission::IfFollowed(decided);
    }
    Admission::In(decided)
}

/// The profile that a program chose: only where the server has checked who speaks.
fn chosen<'a>(event: &'a Event, account: &AccountSettings) -> Option<&'a ProfileName> {
    let capabilities = account.adapter.capabilities();
    let is_ours = capabilities.can.contains(&Capability::ReadsLedger);
    let wishes = event.wishes().filter(|_| is_ours)?;
    wishes.profile.as_ref()
}

/// The command that a message is, and the rest of its line.
fn parsed(event: &Event) -> Option<(String, String)> {
    let EventKind::Message(content) = &event.kind else {
        return None;
    };
    match command::parse(content, event.address.chat_kind) {
        Parsed::Command { name, arguments } => Some((name, arguments)),
        Parsed::Text => None,
    }
}

/// Turns a message that is a command into one. `/queue TEXT` and `/steer TEXT` stay messages, with a wish, for those who
/// may use them.
fn recognise(event: &mut Event, (name, arguments): (String, String)) -> Option<BusyPolicy> {
    let may_wish = !arguments.is_empty() && roles::may_use(event.principal.role, &name);
    let wish = BusyPolicy::parse(&name).filter(|_| may_wish);
    match (&mut event.kind, wish) {
        (EventKind::Message(content), Some(_)) => content.text = arguments,
        _ => event.kind = EventKind::Command { name, arguments },
    }
    wish
}
