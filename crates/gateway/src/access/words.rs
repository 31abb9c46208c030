//! A decision in words, for the operator.
//!
//! Pure: never shown to whoever was refused.

use talaria_domain::names::UserId;

use super::decide::{Decision, Facts, Found, Ignored, Look, Refused, Source, Step};
use super::pairing::Grant;
use super::policy::{AccessPolicy, Bots, Mentions, Strangers, Threads};

/// What was decided, and why.
pub fn decision(decision: &Decision, facts: &Facts<'_>) -> String {
    match decision {
        Decision::Allowed { role, because } => {
            format!("allowed as {}: {}", role.as_str(), source(*because))
        }
        Decision::Ignored { reason } => format!("ignored: {}", ignored(*reason)),
        Decision::Refused { reason } => format!("refused: {}", refused(*reason, facts)),
        Decision::Pair => "may ask to be paired: a direct message gets a code".to_owned(),
    }
}

/// Why something is not for us.
pub const fn ignored(reason: Ignored) -> &'static str {
    match reason {
        Ignored::NotMentioned => "it was said to the room and not to us",
        Ignored::Bot => "a program wrote it",
    }
}

/// Why somebody may not.
pub fn refused(reason: Refused, facts: &Facts<'_>) -> String {
    let principal = facts.principal;
    match reason {
        Refused::Stranger => {
            let who = principal.stable_user().map_or("nobody", UserId::as_str);
            format!(
                "{who:?} is not in `roles` or `allow` of the account {:?} on {:?}, is not paired, and the chat is not in \
                 `groups.allow_chats`",
                principal.account.as_str(),
                principal.platform.as_str()
            )
        }
        Refused::Command { role, .. } => format!(
            "a {} may not use /{}",
            role.as_str(),
            facts.command.unwrap_or_default()
        ),
    }
}

const fn source(source: Source) -> &'static str {
    match source {
        Source::Surface => "a key was checked",
        Source::Roles => "`roles` names them",
        Source::Allow => "`allow` names them",
        Source::Grant => "they were paired",
        Source::Chat => "`groups.allow_chats` names the chat",
        Source::Anyone => "\"*\" is in `allow`",
    }
}

/// One thing that was looked at: its name, and what was found.
pub fn step(step: &Step, policy: &AccessPolicy, grant: Option<&Grant>) -> (&'static str, String) {
    let is_fine = step.found == Found::Fine;
    match step.at {
        Look::Author => ("bots", bots(policy.bots, is_fine).to_owned()),
        Look::Mention => ("mention", mention(policy, is_fine)),
        Look::Source(at) => (name(at), found(at, step.found, grant)),
        Look::Strangers => {
            let what = match (policy.strangers, is_fine) {
                (_, true) => "pair: they get a code",
                (Strangers::Pair, false) => "pair, but only people in direct chats get a code",
                (Strangers::Ignore, false) => "ignore",
            };
            ("strangers", what.to_owned())
        }
        Look::Command => {
            let what = if is_fine { "theirs" } else { "not theirs" };
            ("command", what.to_owned())
        }
    }
}

const fn name(source: Source) -> &'static str {
    match source {
        Source::Surface => "surface",
        Source::Roles => "roles",
        Source::Allow => "allow",
        Source::Grant => "pairing",
        Source::Chat => "groups.allow_chats",
        Source::Anyone => "anyone",
    }
}

fn found(at: Source, found: Found, grant: Option<&Grant>) -> String {
    let Found::Role(role) = found else {
        return "no".to_owned();
    };
    match (at, grant) {
        (Source::Grant, Some(grant)) => {
            format!("{}, approved by {}", role.as_str(), grant.approved_by)
        }
        _ => role.as_str().to_owned(),
    }
}

const fn bots(policy: Bots, is_heard: bool) -> &'static str {
    match (policy, is_heard) {
        (Bots::Ignore, _) => "ignored",
        (Bots::Mentions, true) => "heard where they mention us, and this does",
        (Bots::Mentions, false) => "heard where they mention us, and this does not",
        (Bots::All, _) => "heard",
    }
}

fn mention(policy: &AccessPolicy, is_heard: bool) -> String {
    let what = match (policy.groups.mention, is_heard) {
        (Mentions::Optional, _) => return "not needed here".to_owned(),
        (Mentions::Required, true) => "needed here, and given",
        (Mentions::Required, false) => "needed here, and not given",
    };
    let threads = match policy.groups.threads {
        Threads::Follow => "; not in threads where we have answered",
        Threads::Mention => "; also in threads",
    };
    format!("{what}{threads}")
}
