//! The one decision about everything that arrives, whatever it is.
//!
//! Pure: a policy and the facts of an event in, a decision out, and every step on the way to whoever wants to hear of it.
//! What is not said to us is nobody's business and is looked at first; then who speaks, by every source there is, of
//! which the highest role counts; then what they want to do. Names and claimed roles are never believed.

#[cfg(test)]
mod tests;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::event::{Author, Event, EventKind, Mention};
use talaria_domain::principal::{Principal, Role};

use super::policy::{AccessPolicy, Bots, Mentions, Strangers, Threads, Trust};
use super::roles;

/// What is known about an event before it is let in.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Who.
    pub principal: &'a Principal,
    /// Where.
    pub address: &'a Address,
    /// What they did.
    pub deed: Deed,
    /// The command that it is, if it is one.
    pub command: Option<&'a str>,
    /// What they were granted when they were paired.
    pub grant: Option<Role>,
    /// Whether we have answered in this conversation before.
    pub has_spoken: bool,
}

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// They wrote.
    Wrote(Mention, Author),
    /// They changed what they wrote.
    Changed(Mention, Author),
    /// Anything that is about us, or that nobody says: a button, a mark, the platform's own commands.
    Did,
}

impl<'a> Facts<'a> {
    /// Those of an event, by somebody who was granted this.
    pub fn of(event: &'a Event, grant: Option<Role>) -> Self {
        let deed = match &event.kind {
            EventKind::Message(content) => Deed::Wrote(content.mention, content.author),
            EventKind::Edited(content) => Deed::Changed(content.mention, content.author),
            _ => Deed::Did,
        };
        let command = match &event.kind {
            EventKind::Command { name, .. } => Some(name.as_str()),
            _ => None,
        };
        Self {
            principal: &event.principal,
            address: &event.address,
            deed,
            command,
            grant,
            has_spoken: false,
        }
    }

    /// Whether several people can be there.
    const fn is_among_others(&self) -> bool {
        !matches!(self.address.chat_kind, ChatKind::Direct | ChatKind::Webhook)
    }

    const fn words(&self) -> Option<(Mention, Author)> {
        match self.deed {
            Deed::Wrote(mention, author) | Deed::Changed(mention, author) => {
                Some((mention, author))
            }
            Deed::Did => None,
        }
    }

    /// Whether a program did it.
    pub fn is_by_a_bot(&self) -> bool {
        self.words()
            .is_some_and(|(_, author)| author == Author::Bot)
    }

    fn is_said_to_us(&self) -> bool {
        let is_mentioned = self
            .words()
            .is_none_or(|(mention, _)| mention != Mention::Absent);
        is_mentioned || !self.is_among_others()
    }

    fn is_in_a_thread(&self) -> bool {
        self.address.thread.is_some() || self.address.chat_kind == ChatKind::Thread
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// They may.
    Allowed {
        /// In this role.
        role: Role,
        /// Who says so.
        because: Source,
    },
    /// It is not for us.
    Ignored {
        /// Why.
        reason: Ignored,
    },
    /// They may not.
    Refused {
        /// Why.
        reason: Refused,
    },
    /// Nobody knows them yet, and they may ask for it.
    Pair,
}

/// Where somebody's role comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The surface has checked a key.
    Surface,
    /// `roles`.
    Roles,
    /// `allow`.
    Allow,
    /// They were paired.
    Grant,
    /// `groups.allow_chats`.
    Chat,
    /// `"*"` in `allow`.
    Anyone,
}

/// Why something is not for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// It was said to the room.
    NotMentioned,
    /// A program said it.
    Bot,
}

/// Why somebody may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Nobody let them in.
    Stranger,
    /// They may talk, and their role may not use this command.
    Command {
        /// What they are.
        role: Role,
        /// Who says so.
        because: Source,
    },
}

/// One thing that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What.
    pub at: Look,
    /// What was found there.
    pub found: Found,
}

/// What is looked at, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Whether a person wrote it.
    Author,
    /// Whether it was said to us.
    Mention,
    /// Who says what they are.
    Source(Source),
    /// What happens to strangers.
    Strangers,
    /// Whether their role may use the command.
    Command,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing that counts.
    Nothing,
    /// Nothing in the way.
    Fine,
    /// That it ends here.
    End,
    /// What they are.
    Role(Role),
}

/// Whether they may.
pub fn decide(policy: &AccessPolicy, facts: &Facts<'_>) -> Decision {
    examine(policy, facts, &mut |_| {})
}

/// The same, with everything that was looked at.
pub fn explain(policy: &AccessPolicy, facts: &Facts<'_>) -> (Decision, Vec<Step>) {
    let mut steps = Vec::new();
    let decision = examine(policy, facts, &mut |step| steps.push(step));
    (decision, steps)
}

/// Whether what was ignored would count if we had answered in this thread before: then somebody has to look.
pub fn may_follow(policy: &AccessPolicy, facts: &Facts<'_>) -> bool {
    let followed = Facts {
        has_spoken: true,
        ..*facts
    };
    follows(policy, &followed)
        && matches!(
            decide(policy, &followed),
            Decision::Allowed { .. }
                | Decision::Refused {
                    reason: Refused::Command { .. }
                }
        )
}

fn follows(policy: &AccessPolicy, facts: &Facts<'_>) -> bool {
    facts.has_spoken && facts.is_in_a_thread() && policy.groups.threads == Threads::Follow
}

fn examine(policy: &AccessPolicy, facts: &Facts<'_>, note: &mut dyn FnMut(Step)) -> Decision {
    if policy.surface == Trust::Checked {
        let (role, because) = (facts.principal.role, Source::Surface);
        note(at(Look::Source(because), Found::Role(role)));
        return command(facts, (role, because), note);
    }
    if facts.is_by_a_bot() {
        let is_heard = match policy.bots {
            Bots::Ignore => false,
            Bots::Mentions => facts.is_said_to_us(),
            Bots::All => true,
        };
        note(at(Look::Author, fine(is_heard)));
        if !is_heard {
            return Decision::Ignored {
                reason: Ignored::Bot,
            };
        }
    }
    if facts.is_among_others() && facts.words().is_some() {
        let is_heard = facts.is_said_to_us()
            || policy.groups.mention == Mentions::Optional
            || follows(policy, facts);
        note(at(Look::Mention, fine(is_heard)));
        if !is_heard {
            return Decision::Ignored {
                reason: Ignored::NotMentioned,
            };
        }
    }
    match known(policy, facts, note) {
        Some(known) => command(facts, known, note),
        None => stranger(policy, facts, note),
    }
}

const fn at(at: Look, found: Found) -> Step {
    Step { at, found }
}

const fn fine(is_fine: bool) -> Found {
    if is_fine { Found::Fine } else { Found::End }
}

/// The highest role that any source gives them.
fn known(
    policy: &AccessPolicy,
    facts: &Facts<'_>,
    note: &mut dyn FnMut(Step),
) -> Option<(Role, Source)> {
    // Whoever has no id at all is known to nobody.
    let user = facts.principal.stable_user();
    let listed = user.and_then(|user| policy.roles.get(user).copied());
    let allowed = user.filter(|user| policy.allow.contains(*user));
    let is_open =
        facts.is_among_others() && policy.groups.allow_chats.contains(&facts.address.chat);
    let sources = [
        (Source::Roles, listed),
        (Source::Allow, allowed.map(|_| Role::Member)),
        (Source::Grant, facts.grant.filter(|_| user.is_some())),
        (Source::Chat, is_open.then_some(Role::Guest)),
        (Source::Anyone, policy.anyone.then_some(Role::Guest)),
    ];
    let mut highest: Option<(Role, Source)> = None;
    for (source, role) in sources {
        note(at(
            Look::Source(source),
            role.map_or(Found::Nothing, Found::Role),
        ));
        let Some(role) = role else { continue };
        if highest.is_none_or(|(known, _)| role < known) {
            highest = Some((role, source));
        }
    }
    highest
}

/// A person who writes to us alone may ask to be let in. Nobody else hears anything.
fn stranger(policy: &AccessPolicy, facts: &Facts<'_>, note: &mut dyn FnMut(Step)) -> Decision {
    let may_ask = policy.strangers == Strangers::Pair
        && facts.address.chat_kind == ChatKind::Direct
        && matches!(facts.deed, Deed::Wrote(_, Author::Person))
        && facts.principal.stable_user().is_some();
    note(at(Look::Strangers, fine(may_ask)));
    if may_ask {
        return Decision::Pair;
    }
    Decision::Refused {
        reason: Refused::Stranger,
    }
}

fn command(
    facts: &Facts<'_>,
    (role, because): (Role, Source),
    note: &mut dyn FnMut(Step),
) -> Decision {
    if let Some(name) = facts.command {
        let may_use = roles::may_use(role, name);
        note(at(Look::Command, fine(may_use)));
        if !may_use {
            return Decision::Refused {
                reason: Refused::Command { role, because },
            };
        }
    }
    Decision::Allowed { role, because }
}
