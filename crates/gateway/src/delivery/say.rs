//! What the gateway says becomes a reply with parts, in the transaction of whoever says it. The answer to an event has
//! the event's own id: however often a turn is tried, there can be only one.

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::capabilities::Capability;
use talaria_domain::delivery::{Part, PartBody, ReplyKind};
use talaria_domain::event::{Attachment, Event, EventKind};
use talaria_domain::ids::{PartId, ReplyId, RunId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::machine::ReplyState;
use talaria_domain::names::ProfileName;
use talaria_domain::principal::Principal;
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::inbox::InboxRow;
use talaria_store::kept::Kept;
use talaria_store::outbox::{self, QueuedPart, ReplyStart};
use talaria_store::sessions::{self, Opening};
use talaria_store::{Result, StoreError, Tx};

use super::plan::{self, Change};
use crate::shared::Shared;

/// Where something is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) Kept<ReturnAddress>);

impl Place {
    /// Where an answer goes.
    pub(crate) fn of(to: ReturnAddress) -> Self {
        Self(Kept::from(to))
    }

    /// Where an event was said.
    pub(crate) fn of_event(event: &Event, session: SessionId, profile: &ProfileName) -> Self {
        let mut address = event.address.clone();
        let is_internal = matches!(event.kind, EventKind::Internal { .. });
        // Between two people it is clear what is answered.
        if !is_internal && address.chat_kind != ChatKind::Direct {
            address.reply_to.clone_from(&event.message);
        }
        Self::of(ReturnAddress {
            address,
            requester: event.principal.clone(),
            profile: profile.clone(),
            session,
        })
    }

    /// A place that something is said at without anybody having asked there, with the conversation that it has. None
    /// where no account of ours is.
    pub(crate) fn unasked(
        tx: &mut Tx<'_>,
        shared: &Shared,
        to: &Address,
        requester: &Principal,
    ) -> Result<Option<Self>> {
        let (settings, now) = (&shared.settings, shared.now());
        let Some(account) = settings.account(to) else {
            return Ok(None);
        };
        let profile = settings.profile_at(account, (to, requester)).clone();
        let sharing = settings.profiles.get(&profile);
        let sharing = sharing.map_or_else(Sharing::default, |it| it.profile.sharing);
        let key = SessionKey::derive(&profile, &Source::of(to, requester), sharing);
        let owner = key.owner(requester);
        let fresh = SessionId::next(&*shared.ids, now);
        let session = sessions::resolve(tx, &Opening::of(key, owner, fresh, now))?;
        Ok(Some(Self::of(ReturnAddress {
            address: to.clone(),
            requester: requester.clone(),
            profile,
            session,
        })))
    }

    pub(crate) fn session(&self) -> SessionId {
        self.0.session
    }
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    reply: ReplyId,
    run: Option<RunId>,
    kind: ReplyKind,
    text: String,
}

impl Statement {
    /// The answer to an event.
    pub(crate) fn to(row: &InboxRow, run: Option<RunId>, text: &str) -> Self {
        Self {
            reply: answer_id(&row.event),
            run,
            kind: ReplyKind::Final,
            text: text.to_owned(),
        }
    }

    /// Something that was to be said at a time. Whoever planned it knows its reply.
    pub(crate) fn planned(reply: ReplyId, text: &str) -> Self {
        Self {
            reply,
            run: None,
            kind: ReplyKind::Notice,
            text: text.to_owned(),
        }
    }

    fn start(&self, shared: &Shared, place: &Place) -> ReplyStart {
        ReplyStart {
            id: self.reply,
            run: self.run,
            kind: self.kind,
            return_to: place.0.clone(),
            at: shared.now(),
        }
    }

    /// The same, as something that the gateway says and no agent.
    pub(crate) const fn by_the_gateway(mut self) -> Self {
        self.kind = ReplyKind::Notice;
        self
    }
}

/// The id of the one answer to an event.
pub(crate) const fn answer_id(event: &Event) -> ReplyId {
    ReplyId::from_bytes(*event.id.as_bytes())
}

/// Says something that the gateway has to say.
pub(crate) fn notice(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    text: &str,
) -> Result<Happening> {
    let statement = Statement {
        reply: ReplyId::next(&*shared.ids, shared.now()),
        run: None,
        kind: ReplyKind::Notice,
        text: text.to_owned(),
    };
    answer(tx, shared, place, &statement)
}

/// Sends a file in the name of a run, with words beside it.
pub(crate) fn file(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    (part, run): (PartId, RunId),
    (attachment, caption): (&Attachment, &str),
) -> Result<Happening> {
    let name = attachment.file_name.as_deref().unwrap_or_default();
    let gap = if caption.is_empty() { "" } else { "\n" };
    let statement = Statement {
        reply: ReplyId::next(&*shared.ids, shared.now()),
        run: Some(run),
        kind: ReplyKind::Notice,
        // For those who look at the ledger; people are shown the file itself.
        text: format!("{caption}{gap}[file {name:?}]"),
    };
    outbox::record(tx, &statement.start(shared, place))?;
    outbox::set_text(tx, statement.reply, &statement.text)?;
    let part = Part {
        id: part,
        reply: statement.reply,
        ordinal: 0,
        body: PartBody::File {
            attachment: attachment.clone(),
            caption: caption.to_owned(),
        },
    };
    outbox::add_part(tx, &part, shared.now())?;
    outbox::finish(tx, statement.reply, shared.now())?;
    Ok(said(&statement))
}

/// Asks the reader something, in the words of a run.
pub(crate) fn prompt(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    (reply, run): (ReplyId, RunId),
    text: &str,
) -> Result<Happening> {
    let statement = Statement {
        reply,
        run: Some(run),
        kind: ReplyKind::Prompt,
        text: text.to_owned(),
    };
    answer(tx, shared, place, &statement)
}

/// What those are told who watch.
pub(crate) fn said(statement: &Statement) -> Happening {
    Happening::Said {
        reply: statement.reply,
        kind: statement.kind,
        run: statement.run,
        text: statement.text.clone(),
    }
}

/// Says all of it.
pub(crate) fn answer(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    statement: &Statement,
) -> Result<Happening> {
    let said = said(statement);
    let capabilities = shared
        .settings
        .account(&place.0.address)
        .map(|account| account.adapter.capabilities());
    if capabilities
        .as_ref()
        .is_some_and(|it| it.can.contains(&Capability::ReadsLedger))
    {
        show_whole(tx, shared, place, statement)?;
        return Ok(said);
    }
    let parts = open(tx, shared, place, statement)?;
    let pieces = match capabilities {
        Some(capabilities) => (shared.settings.split)(&statement.text, capabilities.text_limit),
        None => vec![statement.text.clone()],
    };
    reconcile(tx, shared, statement, &parts, &pieces)?;
    outbox::finish(tx, statement.reply, shared.now())?;
    Ok(said)
}

/// Says all of it where people and programs read the ledger.
pub(crate) fn show_whole(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    statement: &Statement,
) -> Result<()> {
    outbox::record_shown(tx, &statement.start(shared, place), &statement.text)
}

fn part(shared: &Shared, statement: &Statement, ordinal: usize, markdown: String) -> Part {
    Part {
        id: PartId::next(&*shared.ids, shared.now()),
        reply: statement.reply,
        ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
        body: PartBody::Text { markdown },
    }
}

/// Shows `visible` where the answer will be, as far as it fits into one message: the answer so far, which is what the
/// statement says, or what is going on, which nothing remembers.
pub(crate) fn show(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    statement: &Statement,
    visible: &str,
) -> Result<()> {
    let Some(account) = shared.settings.account(&place.0.address) else {
        return Ok(());
    };
    let limit = account.adapter.capabilities().text_limit;
    let mut pieces = (shared.settings.split)(visible, limit);
    pieces.truncate(1);
    let parts = open(tx, shared, place, statement)?;
    reconcile(tx, shared, statement, &parts, &pieces)
}

/// The reply with this text, begun or gone on with, and its parts.
fn open(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    statement: &Statement,
) -> Result<Vec<QueuedPart>> {
    let mut parts = Vec::new();
    match outbox::get(tx, statement.reply) {
        Ok(_) => parts = outbox::parts(tx, statement.reply)?,
        Err(StoreError::NotFound { .. }) => {
            outbox::record(tx, &statement.start(shared, place))?;
        }
        Err(error) => return Err(error),
    }
    outbox::set_text(tx, statement.reply, &statement.text)?;
    Ok(parts)
}

fn reconcile(
    tx: &mut Tx<'_>,
    shared: &Shared,
    statement: &Statement,
    parts: &[QueuedPart],
    pieces: &[String],
) -> Result<()> {
    let shown: Vec<&str> = parts.iter().map(|part| markdown(&part.part.body)).collect();
    for change in plan::reconcile(&shown, pieces) {
        match change {
            Change::Add { ordinal, markdown } => {
                let part = part(shared, statement, ordinal, markdown);
                outbox::add_part(tx, &part, shared.now())?;
            }
            Change::Revise { index, markdown } => {
                outbox::revise(tx, parts[index].part.id, &PartBody::Text { markdown })?;
            }
        }
    }
    Ok(())
}

fn markdown(body: &PartBody) -> &str {
    match body {
        PartBody::Text { markdown } => markdown,
        PartBody::File { caption, .. } => caption,
    }
}

/// Ends an answer that was being shown when its turn was stopped: what people saw says so, what nobody saw is
/// withdrawn.
pub(crate) fn break_off(tx: &mut Tx<'_>, shared: &Shared, event: &Event) -> Result<()> {
    leave_as(tx, shared, event, "\n\n(stopped)")
}

/// Ends an answer that was being shown when its turn ended in silence: what people saw stays, what nobody saw is
/// withdrawn.
pub(crate) fn fall_silent(tx: &mut Tx<'_>, shared: &Shared, event: &Event) -> Result<()> {
    leave_as(tx, shared, event, "")
}

fn leave_as(tx: &mut Tx<'_>, shared: &Shared, event: &Event, mark: &str) -> Result<()> {
    let reply = match outbox::get(tx, answer_id(event)) {
        Ok(reply) if reply.state == ReplyState::Open => reply,
        Ok(_) | Err(StoreError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let is_seen = outbox::parts(tx, reply.id)?
        .iter()
        .any(|part| part.attempts > 0);
    if !is_seen {
        return outbox::withdraw(tx, reply.id, shared.now());
    }
    let place = Place::of(reply.return_to.clone());
    let statement = Statement {
        reply: reply.id,
        run: reply.run,
        kind: reply.kind,
        text: match format!("{}{mark}", reply.text).trim_start_matches('\n') {
            // All that people saw was what was going on.
            "" => "…".to_owned(),
            text => text.to_owned(),
        },
    };
    answer(tx, shared, &place, &statement).map(drop)
}
