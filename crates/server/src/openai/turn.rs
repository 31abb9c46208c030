//! A turn that a program asks for: where it takes place, how it gets in, and who waits for it. What it says is followed
//! in [`follow`], how it stands is decided in [`standing`], and what happens when nobody waits any more is in [`leave`].

pub(super) mod follow;
pub(super) mod leave;
pub(super) mod standing;

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::names::{ChatId, MessageId, ProfileName};
use talaria_domain::principal::Principal;
use talaria_store::{Tx, inbox, sessions};

use super::completions::asked::Memory;
use super::once::Fresh;
use super::refusal::Refusal;
use crate::access::keys::Caller;
use crate::error::ApiError;
use crate::places::Place;
use crate::shared::App;
use crate::surfaces;

/// The conversation that a request goes on with, and the one that its answer belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("x-talaria-session-id");

/// Who may go on with which conversation.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) caller: Caller,
    /// Without one, the turn is a conversation of its own.
    pub(super) session: Option<SessionId>,
    /// Whose turn it is to be; without one it is that of the conversation's profile, or of the default one.
    pub(super) profile: Option<ProfileName>,
}

impl Asker {
    /// Who asks, as the headers tell.
    pub(super) fn of(
        caller: Caller,
        headers: &HeaderMap,
        profile: Option<&ProfileName>,
    ) -> Result<Self, Refusal> {
        let named = headers.get(&SESSION).map(|id| {
            let text = id.to_str().unwrap_or_default();
            let unfit = |error: talaria_domain::ids::NotAnId| ApiError::NotFound {
                message: error.to_string(),
            };
            text.parse().map_err(unfit)
        });
        let session = named.transpose()?;
        Ok(Self {
            caller,
            session,
            profile: profile.cloned(),
        })
    }

    /// The name of its profile, as programs are told it.
    pub(super) fn model(&self, app: &App) -> String {
        let profile = self.profile.as_ref().unwrap_or(&app.shared.profile);
        profile.to_string()
    }

    /// Whose memory of the conversation counts.
    pub(super) fn memory(&self) -> Memory {
        self.session.map_or(Memory::Theirs, |_| Memory::Ours)
    }
}

/// A turn that is about to be handed in.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) event: EventId,
    address: Address,
    profile: Option<ProfileName>,
    principal: Principal,
    at: Timestamp,
    /// Whether it may be handed in twice.
    is_kept: bool,
}

/// A turn that was taken in.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) event: EventId,
    pub(super) session: SessionId,
    /// When it was taken in.
    pub(super) at: Timestamp,
    order: Arc<Order>,
}

impl Turn {
    /// The header that names its conversation.
    pub(super) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        let value = HeaderValue::from_str(&self.session.to_string()).ok()?;
        Some((SESSION, value))
    }

    /// A turn that was taken in before, if it is this caller's.
    pub(super) async fn find(app: &App, caller: &Caller, event: EventId) -> Result<Self, Refusal> {
        let owner = caller.owner();
        let work = move |tx: &mut Tx<'_>| {
            let row = inbox::get(tx, event)?;
            sessions::get_owned(tx, owner, row.session)?;
            Ok(row)
        };
        let unknown = |error| match ApiError::from(error) {
            ApiError::NotFound { .. } => ApiError::NotFound {
                message: format!("there is no run {event}"),
            },
            other => other,
        };
        let row = app.shared.ledger.read(work).await.map_err(unknown)?;
        let Event {
            address,
            principal,
            received_at: at,
            ..
        } = row.event;
        Ok(Self {
            event,
            session: row.session,
            at,
            order: Arc::new(Order {
                event,
                address,
                profile: None,
                principal,
                at,
                is_kept: true,
            }),
        })
    }
}

/// Where a turn takes place and whose it is: where its conversation is, or in a chat of its own, which has its name from
/// what opens it.
async fn place(
    app: &App,
    asker: &Asker,
    event: EventId,
) -> Result<(Address, Option<ProfileName>), Refusal> {
    let Some(session) = asker.session else {
        let chat = ChatId::from(event.to_string());
        return Ok((surfaces::program(chat), asker.profile.clone()));
    };
    let Place { address, profile } = Place::find(app, &asker.caller, session).await?;
    if asker.profile.as_ref().is_some_and(|it| *it != profile) {
        let message = format!(
            "this conversation is one of the profile {:?}: name that one as the model, or begin another conversation",
            profile.as_str()
        );
        return Err(ApiError::Conflict { message }.into());
    }
    Ok((address, Some(profile)))
}

/// What became of a turn that was handed in.
pub(super) enum Taken {
    /// It is in the ledger.
    Now(Box<Turn>),
    /// It was there before: somebody else handed it in.
    Before(Box<Turn>),
}

impl Order {
    /// Prepares a turn, whose id may be written down already.
    pub(super) async fn prepare(
        app: &App,
        asker: &Asker,
        fresh: Fresh,
    ) -> Result<Arc<Self>, Refusal> {
        let (address, profile) = place(app, asker, fresh.event).await?;
        Ok(Arc::new(Self {
            event: fresh.event,
            is_kept: fresh.is_kept,
            address,
            profile,
            principal: asker.caller.principal.clone(),
            at: app.now(),
        }))
    }

    /// The conversation that it will be a turn of, most of the time: a chat may have moved on to another one.
    pub(super) fn expected_at(&self, asker: &Asker) -> SessionId {
        asker.session.unwrap_or_else(|| self.event.opens())
    }

    /// Hands it in.
    pub(super) async fn hand_in(
        self: &Arc<Self>,
        app: &App,
        caller: &Caller,
        content: Content,
    ) -> Result<Taken, Refusal> {
        match app.shared.intake.accept(self.said(content)).await {
            Ok(Accepted::Recorded { session, .. }) => Ok(Taken::Now(Box::new(Turn {
                event: self.event,
                session,
                at: self.at,
                order: Arc::clone(self),
            }))),
            Ok(Accepted::CrowdedOut { .. }) => Err(Refusal::queue_full()),
            Ok(Accepted::Duplicate { first }) => {
                let turn = Turn::find(app, caller, first).await?;
                Ok(Taken::Before(Box::new(turn)))
            }
            Ok(Accepted::Refused { reason }) => {
                let message = if caller.is_owner() {
                    format!("the gateway does not accept this: {reason}")
                } else {
                    "the gateway does not accept messages with this key".to_owned()
                };
                Err(ApiError::Forbidden { message }.into())
            }
            Err(NotAccepted { reason }) => Err(ApiError::Unavailable { cause: reason }.into()),
        }
    }

    /// What is said, as intake takes it.
    fn said(&self, mut content: Content) -> Event {
        let token = self.event.to_string();
        if let Some(wishes) = &mut content.wishes {
            wishes.profile.clone_from(&self.profile);
        }
        let dedupe = if self.is_kept {
            self.dedupe(&token)
        } else {
            DedupeKey::own(self.event)
        };
        Event {
            message: Some(MessageId::from(token)),
            ..self.event(self.event, dedupe, content)
        }
    }

    /// What a message of the same asker is known by.
    fn dedupe(&self, token: &str) -> DedupeKey {
        DedupeKey::derive(&self.address.platform, &self.address.account, token)
    }

    /// A message of the same asker at the same place.
    fn event(&self, id: EventId, dedupe: DedupeKey, content: Content) -> Event {
        Event {
            id,
            dedupe,
            address: self.address.clone(),
            principal: self.principal.clone(),
            message: None,
            kind: EventKind::Message(content),
            sent_at: None,
            received_at: self.at,
        }
    }
}
