//! Commands about conversations. Whoever asks says who they are: nobody resumes, names or finds another's.

use talaria_domain::digest::Fields;
use talaria_domain::event::{DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::principal::PrincipalKey;
use talaria_domain::runner::Speaker;
use talaria_domain::session_key::{SessionKey, Source};
use talaria_store::inbox::{self, Arrival, InboxRow};
use talaria_store::sessions::{self, Opening, Session};
use talaria_store::transcripts::{self, Entry, Stretch, Utterance, Visibility};
use talaria_store::{Result, StoreError, Tx};

use super::{Answer, Order, stop};

/// How many conversations are listed.
const LISTED: u32 = 10;
/// More than any conversation has.
const ALL: u32 = 100_000;

fn opening(order: &Order<'_>) -> Opening {
    let shared = order.shared;
    let (event, now) = (&order.row.event, shared.now());
    let source = Source::of(&event.address, &event.principal);
    let sharing = shared
        .settings
        .profiles
        .get(&order.place.0.profile)
        .map_or_else(Default::default, |profile| profile.profile.sharing);
    let key = SessionKey::derive(&order.place.0.profile, &source, sharing);
    let owner = key.owner(&event.principal);
    Opening::of(key, owner, SessionId::next(&*shared.ids, now), now)
}

fn owner(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<PrincipalKey> {
    Ok(sessions::get(tx, order.row.session)?.owner)
}

/// `/new`.
pub(super) fn new(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let session = order.row.session;
    if stop::is_of_another(tx, order, session)? {
        return Ok(Answer::text(stop::NOT_YOURS));
    }
    let stopped = stop::end_turn(tx, order.shared, session, "a new conversation was begun")?;
    drop_waiting(tx, order, "a new conversation was begun")?;
    let fresh = sessions::reset(tx, &opening(order), "new")?;
    if !order.arguments.is_empty() {
        let owner = owner(tx, order)?;
        sessions::set_title(tx, owner, fresh, order.arguments)?;
    }
    Ok(Answer {
        text: "This is a new conversation. /resume goes back to the last one.".to_owned(),
        stopped,
    })
}

/// What waited in the conversation that is left. The gateway's own events stay: they belong to it wherever its chat is.
fn drop_waiting(tx: &mut Tx<'_>, order: &Order<'_>, reason: &str) -> Result<()> {
    let now = order.shared.now();
    let waiting = inbox::lane(tx, order.row.session)?;
    let is_dropped = |row: &&InboxRow| match row.event.kind {
        EventKind::Command { .. } => false,
        EventKind::Internal { .. } => row.attempts > 0,
        _ => true,
    };
    for row in waiting.iter().filter(is_dropped) {
        if row.attempts > 0 {
            stop::abandon(tx, order.shared, row, reason)?;
        } else {
            inbox::discard(tx, row.event.id, reason, now)?;
        }
    }
    Ok(())
}

/// `/resume [ID]`.
pub(super) fn resume(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let owner = owner(tx, order)?;
    let wanted = match order.arguments {
        "" => earlier(tx, order, owner)?,
        id => match id.parse::<SessionId>() {
            Ok(id) => found(sessions::get_owned(tx, owner, id))?,
            Err(error) => return Ok(Answer::text(error.to_string())),
        },
    };
    let Some(wanted) = wanted else {
        return Ok(Answer::text(
            "There is no such conversation of yours. /sessions lists them.",
        ));
    };
    let session = order.row.session;
    if wanted.id == session {
        return Ok(Answer::text("You are in that conversation."));
    }
    let stopped = stop::end_turn(
        tx,
        order.shared,
        session,
        "another conversation was resumed",
    )?;
    drop_waiting(tx, order, "another conversation was resumed")?;
    let key = sessions::get(tx, session)?.key;
    sessions::resume(tx, key, owner, wanted.id, order.shared.now())?;
    Ok(Answer {
        text: format!("You are back in {}.", named(&wanted)),
        stopped,
    })
}

/// The one before this one.
fn earlier(tx: &mut Tx<'_>, order: &Order<'_>, owner: PrincipalKey) -> Result<Option<Session>> {
    let here = sessions::get(tx, order.row.session)?;
    let listed = sessions::list(tx, owner, Some(here.id), ALL)?;
    Ok(listed.into_iter().find(|session| session.key == here.key))
}

fn found(session: Result<Session>) -> Result<Option<Session>> {
    match session {
        Ok(session) => Ok(Some(session)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn named(session: &Session) -> String {
    match &session.title {
        Some(title) => format!("{title:?} (`{}`)", session.id),
        None => format!("`{}`", session.id),
    }
}

/// `/branch [TITLE]`.
pub(super) fn branch(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let (session, now) = (order.row.session, order.shared.now());
    if inbox::occupancy(tx, session)?.claimed.is_some() {
        return Ok(Answer::text(
            "I am working on a message here: /stop first, or wait.",
        ));
    }
    let owner = owner(tx, order)?;
    let entries = transcripts::shown(tx, session, 0, ALL)?;
    let copy = sessions::reset(tx, &opening(order), "branched")?;
    for entry in entries {
        transcripts::append(tx, copy, &again(entry))?;
    }
    let title = Some(order.arguments).filter(|title| !title.is_empty());
    if let Some(title) = title {
        sessions::set_title(tx, owner, copy, title)?;
    }
    tracing::debug!(%session, %copy, ?now, "branched");
    Ok(Answer::text(format!(
        "You are in a copy of this conversation. /resume {session} goes back to the original."
    )))
}

fn again(entry: Entry) -> Utterance {
    Utterance {
        speaker: entry.speaker,
        text: entry.text,
        detail: entry.detail,
        run: entry.run,
        at: entry.at,
    }
}

/// `/title [TEXT]`.
pub(super) fn title(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let session = sessions::get(tx, order.row.session)?;
    if order.arguments.is_empty() {
        return Ok(Answer::text(match session.title {
            Some(title) => format!("This conversation is called {title:?}."),
            None => "This conversation has no name. /title NAME gives it one.".to_owned(),
        }));
    }
    let title: String = order.arguments.chars().take(200).collect();
    sessions::set_title(tx, session.owner, session.id, &title)?;
    Ok(Answer::text(format!(
        "This conversation is called {title:?}."
    )))
}

/// `/sessions`.
pub(super) fn list(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let owner = owner(tx, order)?;
    let listed = sessions::list(tx, owner, None, LISTED)?;
    let here = order.row.session;
    let line = |session: &Session| {
        let mark = if session.id == here {
            " (this one)"
        } else {
            ""
        };
        format!("- {}{mark}", named(session))
    };
    let lines: Vec<String> = listed.iter().map(line).collect();
    Ok(Answer::text(lines.join("\n")))
}

/// The last turn: from what a person said to the end, with what they said while it ran.
fn last_turn(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<(Stretch, String)>> {
    let entries = transcripts::shown(tx, session, 0, ALL)?;
    let is_asked = |entry: &Entry| entry.speaker == Speaker::User;
    let Some(asked) = entries.iter().rposition(is_asked) else {
        return Ok(None);
    };
    let is_same = |entry: &Entry| entry.run.is_some() && entry.run == entries[asked].run;
    let from = entries.iter().position(is_same).unwrap_or(asked);
    let turn = &entries[from..];
    let said: Vec<&str> = turn
        .iter()
        .filter(|entry| is_asked(entry))
        .map(|entry| entry.text.as_str())
        .collect();
    Ok(turn.first().zip(turn.last()).map(|(first, last)| {
        let stretch = Stretch {
            from: first.seq,
            to: last.seq,
        };
        (stretch, said.join("\n\n"))
    }))
}

/// `/undo`.
pub(super) fn undo(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let session = order.row.session;
    if inbox::occupancy(tx, session)?.claimed.is_some() {
        return Ok(Answer::text(
            "I am working on a message here: /stop first, or wait.",
        ));
    }
    let Some((stretch, text)) = last_turn(tx, session)? else {
        return Ok(Answer::text("There is nothing to undo."));
    };
    transcripts::hide(tx, session, &[stretch], Visibility::Undone)?;
    let start: String = text.chars().take(60).collect();
    Ok(Answer::text(format!(
        "I forgot the turn that began with {start:?}."
    )))
}

/// `/retry`.
pub(super) fn retry(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let session = order.row.session;
    if inbox::occupancy(tx, session)?.claimed.is_some() {
        return Ok(Answer::text(
            "I am working on a message here: /stop first, or wait.",
        ));
    }
    let Some((stretch, text)) = last_turn(tx, session)? else {
        return Ok(Answer::text("There is nothing to do again."));
    };
    transcripts::hide(tx, session, &[stretch], Visibility::Undone)?;
    let (shared, command) = (order.shared, &order.row.event);
    let token = command.dedupe.0.to_string();
    let event = Event {
        id: EventId::next(&*shared.ids, shared.now()),
        dedupe: DedupeKey(Fields::of("retry").text(&token).digest()),
        kind: EventKind::Message(talaria_domain::event::Content {
            text,
            ..Default::default()
        }),
        ..command.clone()
    };
    inbox::record(tx, &Arrival::of(event, opening(order))?)?;
    Ok(Answer::text("Once more."))
}
