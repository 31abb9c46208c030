//! Pure: who a task is. Each variable is unset (what the process was started with counts), cleared (nothing counts), or
//! set. A turn binds all of a session's variables at once; a schedule's are bound where a turn is one; both are kept packed, so that
//! binding costs two allocations.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use talaria_domain::address::Address;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::SessionId;
use talaria_domain::names::{ChatId, MessageId, PlatformName, ThreadId};
use talaria_domain::runner::Turn;

use super::environment::Environment;
use super::variable::{OF_CRON, OF_SESSION, Variable};

/// What a variable says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Slot<T> {
    /// Nobody said anything: what the process was started with counts.
    #[default]
    Unset,
    /// It is empty, and nothing else counts.
    Cleared,
    /// This.
    Set(T),
}

/// Who a task is. The default is nobody.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Context {
    session: Slot<Arc<Texts<OF_SESSION>>>,
    /// The conversation, where it went on under another id than the one that was bound.
    session_id: Option<SessionIdText>,
    cron: Slot<Arc<Texts<OF_CRON>>>,
    cwd: Slot<Arc<Path>>,
    /// None is "nobody said", which is yes.
    async_delivery: Option<AsyncDelivery>,
}

type SessionIdText = Arc<str>;

/// Whether a result that comes after the turn reaches the agent's conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AsyncDelivery {
    Supported,
    Unsupported,
}

/// Where the result of a schedule's occurrence goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronTarget {
    /// The chat service.
    pub platform: PlatformName,
    /// The chat.
    pub chat: ChatId,
    /// The thread in it.
    pub thread: Option<ThreadId>,
}

impl CronTarget {
    fn of(address: &Address) -> Self {
        Self {
            platform: address.platform.clone(),
            chat: address.chat.clone(),
            thread: address.thread.clone(),
        }
    }
}

impl Context {
    /// Who works on this turn, with the late delivery that its conversation has.
    pub fn of_turn(turn: &Turn) -> Self {
        let mut context = Self::default();
        context.bind_turn(turn);
        if turn.input.iter().any(is_planned) {
            context.bind_cron(&CronTarget::of(&turn.return_to.address));
        }
        context
    }

    /// Who works on this turn of a program that asked and is gone once it has its answer. Nobody can say otherwise.
    pub fn of_api(turn: &Turn) -> Self {
        let mut context = Self::default();
        context.bind_api(turn);
        context
    }

    pub(super) fn bind_turn(&mut self, turn: &Turn) {
        let asked_at = turn.input.last().map(|event| event.received_at);
        let asked_at = asked_at.unwrap_or(Timestamp::ZERO);
        match turn.window {
            DeliveryWindow::InTurnOnly => self.bind_api(turn),
            window if window.may_promise(asked_at) => self.bind(turn, AsyncDelivery::Supported),
            _ => self.bind(turn, AsyncDelivery::Unsupported),
        }
    }

    pub(super) fn bind_api(&mut self, turn: &Turn) {
        self.bind(turn, AsyncDelivery::Unsupported);
    }

    fn bind(&mut self, turn: &Turn, async_delivery: AsyncDelivery) {
        self.session = Slot::Set(Arc::new(of_turn(turn)));
        self.session_id = None;
        self.cwd = Slot::Cleared;
        self.async_delivery = Some(async_delivery);
    }

    pub(super) fn bind_cron(&mut self, target: &CronTarget) {
        let thread = target.thread.as_ref().map_or("", ThreadId::as_str);
        let texts = Texts::of([target.platform.as_str(), target.chat.as_str(), thread]);
        self.cron = Slot::Set(Arc::new(texts));
    }

    pub(super) fn continue_as(&mut self, session: SessionId) {
        self.session_id = Some(session.to_string().into());
    }

    pub(super) fn set_cwd(&mut self, cwd: &Path) {
        self.cwd = Slot::Set(cwd.into());
    }

    /// The session is over: nothing of it is left, and nothing takes its place. A schedule's target stays.
    pub(super) fn clear(&mut self) {
        self.session = Slot::Cleared;
        self.session_id = None;
        self.cwd = Slot::Cleared;
        // Not "no": what comes next has not said anything yet.
        self.async_delivery = None;
    }

    /// Whether a session is bound.
    pub(super) const fn is_bound(&self) -> bool {
        matches!(self.session, Slot::Set(_))
    }

    /// What a variable says.
    pub fn slot(&self, variable: Variable) -> Slot<&str> {
        if let (Variable::Id, Some(id)) = (variable, &self.session_id) {
            return Slot::Set(id);
        }
        let at = variable as usize;
        match at.checked_sub(OF_SESSION) {
            None => text(&self.session, at),
            Some(at) => text(&self.cron, at),
        }
    }

    /// What a variable comes to: its own value, or what the process was started with where nobody said anything.
    /// Nothing at all is empty.
    pub fn get<'a>(&'a self, variable: Variable, environment: &'a Environment) -> &'a str {
        match self.slot(variable) {
            Slot::Set(value) => value,
            Slot::Cleared => "",
            Slot::Unset => environment.inherited(variable).unwrap_or_default(),
        }
    }

    /// The directory that the session works in, if it has one.
    pub fn cwd<'a>(&'a self, environment: &'a Environment) -> Option<&'a Path> {
        match &self.cwd {
            Slot::Set(cwd) => Some(cwd),
            Slot::Cleared => None,
            Slot::Unset => environment.inherited_cwd().map(Path::new),
        }
    }

    /// Whether a result that comes after the turn can be promised. Where nobody said anything it can.
    pub fn supports_async_delivery(&self) -> bool {
        self.async_delivery != Some(AsyncDelivery::Unsupported)
    }
}

fn text<const N: usize>(slot: &Slot<Arc<Texts<N>>>, at: usize) -> Slot<&str> {
    match slot {
        Slot::Set(texts) => Slot::Set(texts.get(at)),
        Slot::Cleared => Slot::Cleared,
        Slot::Unset => Slot::Unset,
    }
}

/// The variables of a turn, in their order. What its platform does not tell is empty.
fn of_turn(turn: &Turn) -> Texts<OF_SESSION> {
    let (address, requester) = (&turn.return_to.address, &turn.return_to.requester);
    let message = turn.input.iter().rev().find_map(|it| it.message.as_ref());
    let message = message.or(address.reply_to.as_ref());
    let session = turn.return_to.session.to_string();
    Texts::of([
        address.platform.as_str(),
        turn.input.last().map_or("", source),
        address.chat.as_str(),
        "",
        address.thread.as_ref().map_or("", ThreadId::as_str),
        requester.user.as_str(),
        requester.display_name.as_deref().unwrap_or_default(),
        turn.session_key.as_str(),
        &session,
        message.map_or("", MessageId::as_str),
        turn.profile.name.as_str(),
    ])
}

/// Whether it is what a schedule asks at its time: the answer is delivered there by itself.
const fn is_planned(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Internal {
            cause: InternalCause::Schedule { .. },
            ..
        }
    )
}

/// What began the turn.
fn source(event: &Event) -> &'static str {
    match &event.kind {
        EventKind::Internal { cause, .. } => match cause {
            InternalCause::JobEnded { .. } => "job",
            InternalCause::Delegated { .. } => "delegation",
            InternalCause::Handoff => "handoff",
            InternalCause::Schedule { .. } => "schedule",
            InternalCause::Board => "board",
        },
        kind => kind.as_str(),
    }
}

/// Several texts in one.
#[derive(Debug, PartialEq, Eq)]
struct Texts<const N: usize> {
    joined: Box<str>,
    ends: [usize; N],
}

impl<const N: usize> Texts<N> {
    fn of(texts: [&str; N]) -> Self {
        let mut end = 0;
        let ends = texts.map(|text| {
            end += text.len();
            end
        });
        let joined = texts.concat().into();
        Self { joined, ends }
    }

    fn get(&self, at: usize) -> &str {
        let start = match at.checked_sub(1) {
            None => Some(0),
            Some(before) => self.ends.get(before).copied(),
        };
        let range = start.zip(self.ends.get(at).copied());
        let text = range.and_then(|(start, end)| self.joined.get(start..end));
        text.unwrap_or_default()
    }
}
