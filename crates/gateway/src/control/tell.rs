//! Commands that only tell: `/help`, `/status`, `/whoami`, `/trace`.

use std::fmt::Write as _;

use talaria_domain::ids::EventId;
use talaria_domain::machine::Machine as _;
use talaria_domain::principal::Role;
use talaria_store::inbox::InboxRow;
use talaria_store::{Result, StoreError, Tx, inbox, outbox, runs, sessions};

use super::{Answer, Order};
use crate::access::roles;
use crate::asking::hear;
use crate::delivery::say;
use crate::intake::command::COMMANDS;

pub(super) fn help(role: Role) -> Answer {
    let lines: Vec<String> = COMMANDS
        .iter()
        .filter(|(name, _)| roles::may_use(role, name))
        .map(|(name, what)| {
            match what
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("] "))
            {
                Some((argument, what)) => format!("- `/{name} [{argument}]`: {what}"),
                None => format!("- `/{name}`: {what}"),
            }
        })
        .collect();
    Answer::text(lines.join("\n"))
}

pub(super) fn status(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let session = sessions::get(tx, order.row.session)?;
    let lane = inbox::occupancy(tx, session.id)?;
    let waited_for = hear::waited_for(tx, session.id)?;
    let doing = match (waited_for, lane.claimed) {
        (Some(question), _) => format!("I wait for an answer ({question})"),
        (None, Some(_)) => "I am working on a message".to_owned(),
        (None, None) => "I am idle".to_owned(),
    };
    let title = session.title.map(|title| format!(" ({title})"));
    Ok(Answer::text(format!(
        "{doing}, {} waiting. This is conversation {}{}.",
        lane.waiting,
        session.id,
        title.unwrap_or_default()
    )))
}

pub(super) fn whoami(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let principal = &order.row.event.principal;
    let role = match principal.role {
        Role::Owner => "the owner",
        Role::Admin => "an admin",
        Role::Member => "a member",
        Role::Guest => "a guest",
    };
    let session = sessions::get(tx, order.row.session)?;
    let profile = order.place.0.profile.as_str();
    Ok(Answer::text(format!(
        "You are `{}` on {} (account {}), {role}. You talk to the profile {profile:?} in conversation {}.",
        principal
            .stable_user()
            .map_or("unknown", |user| user.as_str()),
        principal.platform.as_str(),
        principal.account.as_str(),
        session.id
    )))
}

pub(super) fn trace(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let wanted = match order.arguments {
        "" => match runs::last(tx, order.row.session)? {
            Some(run) => find(tx, run.event)?,
            None => None,
        },
        id => match id.parse::<EventId>() {
            Ok(id) => find(tx, id)?.filter(|row| row.session == order.row.session),
            Err(error) => return Ok(Answer::text(error.to_string())),
        },
    };
    let Some(row) = wanted else {
        return Ok(Answer::text(
            "There is no such message in this conversation.",
        ));
    };
    life(tx, &row).map(Answer::text)
}

fn find(tx: &mut Tx<'_>, id: EventId) -> Result<Option<InboxRow>> {
    match inbox::get(tx, id) {
        Ok(row) => Ok(Some(row)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn life(tx: &mut Tx<'_>, row: &InboxRow) -> Result<String> {
    let mut text = format!(
        "Message `{}`: {}, {} attempt(s).",
        row.event.id,
        row.state.as_str(),
        row.attempts
    );
    if let Some(reason) = &row.reason {
        write!(text, " {reason}.").unwrap_or_default();
    }
    let reply = match outbox::get(tx, say::answer_id(&row.event)) {
        Ok(reply) => reply,
        Err(StoreError::NotFound { .. }) => return Ok(text),
        Err(error) => return Err(error),
    };
    write!(text, " Answer: {}.", reply.state.as_str()).unwrap_or_default();
    for part in outbox::parts(tx, reply.id)? {
        let number = part.part.ordinal + 1;
        write!(
            text,
            " Part {number}: {}, {} attempt(s).",
            part.state.as_str(),
            part.attempts
        )
        .unwrap_or_default();
    }
    Ok(text)
}
