//! Slash commands. They are recorded like everything else and then take this path, which never waits behind a turn.
//! A command is carried out, answered and completed in one transaction: it happens once, also after a crash.

pub(crate) mod conversation;
mod later;
mod plan;
pub(crate) mod stop;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::event::EventKind;
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::machine::InboxState;
use talaria_domain::profile::BusyPolicy;
use talaria_store::inbox::{self, InboxRow};
use talaria_store::{Result, StoreError, Tx, keys, sessions};

use crate::access::roles;
use crate::asking::hear::{self, Verb};
use crate::delivery::say::{self, Place, Statement};
use crate::lanes::busy;
use crate::shared::Shared;

/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_millis(500);

/// Carries out a command that was recorded.
pub(crate) fn start(shared: &Arc<Shared>, event: EventId) {
    let task = execute(Arc::clone(shared), event);
    shared.spawn(task);
}

/// What a command did.
struct Done {
    session: SessionId,
    happenings: Vec<Happening>,
    /// Sessions whose turn was ended and has to be told so.
    stopped: Vec<SessionId>,
}

/// What a command answers.
pub(crate) struct Answer {
    text: String,
    stopped: Vec<SessionId>,
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            stopped: Vec::new(),
        }
    }
}

/// What a command is carried out with.
pub(crate) struct Order<'a> {
    shared: &'a Arc<Shared>,
    row: &'a InboxRow,
    place: &'a Place,
    arguments: &'a str,
}

async fn execute(shared: Arc<Shared>, event: EventId) {
    loop {
        let this = Arc::clone(&shared);
        let done = shared
            .ledger
            .write(move |tx| carry_out(tx, &this, event))
            .await;
        match done {
            Ok(done) => {
                let Some(done) = done else { return };
                for session in done.stopped {
                    shared.running.stop(session);
                }
                for happening in done.happenings {
                    shared.watchers.tell(done.session, happening);
                }
                return;
            }
            Err(StoreError::Retry { .. } | StoreError::Uncertain { .. }) => {
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => return,
                    // Not polling: the ledger is away, and says nothing when it is back.
                    () = tokio::time::sleep(LEDGER_PAUSE) => {}
                }
            }
            Err(error) => {
                tracing::error!(%event, %error, "a command could not be carried out");
                return;
            }
        }
    }
}

fn carry_out(tx: &mut Tx<'_>, shared: &Arc<Shared>, event: EventId) -> Result<Option<Done>> {
    let row = inbox::get(tx, event)?;
    let EventKind::Command { name, arguments } = &row.event.kind else {
        return Ok(None);
    };
    if row.state != InboxState::Queued {
        return Ok(None);
    }
    let key = sessions::get(tx, row.session)?.key;
    let key = keys::origin(tx, key)?;
    let place = Place::of_event(&row.event, row.session, &key.profile);
    let order = Order {
        shared,
        row: &row,
        place: &place,
        arguments,
    };
    let answer = run(tx, &order, name)?;
    let statement = Statement::to(&row, None, &answer.text).by_the_gateway();
    let said = say::answer(tx, shared, &place, &statement)?;
    inbox::execute(tx, event, shared.now())?;
    Ok(Some(Done {
        session: row.session,
        happenings: vec![said],
        stopped: answer.stopped,
    }))
}

fn run(tx: &mut Tx<'_>, order: &Order<'_>, name: &str) -> Result<Answer> {
    let role = order.row.event.principal.role;
    if !roles::may_use(role, name) {
        return Ok(Answer::text(roles::refusal(role, name)));
    }
    match name {
        "help" => Ok(tell::help(role)),
        "stop" => stop::stop(tx, order),
        "new" => conversation::new(tx, order),
        "resume" => conversation::resume(tx, order),
        "branch" => conversation::branch(tx, order),
        "title" => conversation::title(tx, order),
        "sessions" => conversation::list(tx, order),
        "jobs" => later::jobs(tx, order),
        "background" => later::background(tx, order),
        "schedule" => plan::schedule(tx, order),
        "undo" => conversation::undo(tx, order),
        "retry" => conversation::retry(tx, order),
        "approve" => answered(tx, order, Verb::Approve),
        "deny" => answered(tx, order, Verb::Deny),
        "answer" => answered(tx, order, Verb::Answer),
        "status" => tell::status(tx, order),
        "whoami" => tell::whoami(tx, order),
        "trace" => tell::trace(tx, order),
        other => match BusyPolicy::parse(other) {
            Some(policy) => choose(tx, order, policy),
            None => Ok(Answer::text(format!(
                "I do not know /{other}. /help lists what I understand."
            ))),
        },
    }
}

fn answered(tx: &mut Tx<'_>, order: &Order<'_>, verb: Verb) -> Result<Answer> {
    let row = order.row;
    let (said, what) = ((&row.event, row.session), (verb, order.arguments));
    hear::command(tx, order.shared, said, what).map(Answer::text)
}

fn choose(tx: &mut Tx<'_>, order: &Order<'_>, policy: BusyPolicy) -> Result<Answer> {
    busy::choose(tx, order.row.session, policy, order.shared.now())?;
    Ok(Answer::text(match policy {
        BusyPolicy::Queue => "From now on, messages that come while I work wait for their turn.",
        BusyPolicy::Steer => {
            "From now on, messages that come while I work are passed on to what I am doing."
        }
        BusyPolicy::Interrupt => {
            "From now on, a message that comes while I work stops what I am doing."
        }
    }))
}
