//! A task that is given to an agent of its own. It is done in a session apart, by the same lanes and turns as everything
//! else; what its turn comes to is the end of the job, and nothing of it is sent anywhere by itself.
//!
//! **Invariant:** the session has the job's own id, so that neither can be without the other.

use serde::{Deserialize, Serialize};
use serde_json::json;
use talaria_domain::address::ReturnAddress;
use talaria_domain::authority::Authority;
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::{EventId, JobId, RunId, SessionId};
use talaria_domain::job::{Job, JobEnd, JobKind, Promise};
use talaria_domain::machine::{InboxState, JobState, Machine as _};
use talaria_domain::runner::Task;
use talaria_store::inbox::{self, InboxRow};
use talaria_store::jobs::{self, Order};
use talaria_store::sessions::{self, Apart};
use talaria_store::{Result, StoreError, Tx};

use super::keep::{self, Told};
use super::{Answer, words};
use crate::control::stop;
use crate::registry::revoke;
use crate::shared::Shared;

/// Why a delegation ends that somebody waited for.
pub(crate) const LET_GO: &str = "whoever waited for it does not any more";

/// What is stored of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Work {
    goal: String,
    context: String,
    tools: Option<Vec<String>>,
    depth: u32,
    authority: Authority,
}

/// A task, and on whose behalf it is given.
#[derive(Debug, Clone)]
pub(crate) struct Commission {
    pub(crate) id: JobId,
    pub(crate) run: Option<RunId>,
    pub(crate) return_to: ReturnAddress,
    /// What whoever gives it may use.
    pub(crate) authority: Authority,
    /// How far whoever gives it is away from a person.
    pub(crate) depth: u32,
    pub(crate) task: Task,
    pub(crate) promise: Promise,
}

/// A task as the turn that does it sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Errand {
    pub(crate) job: JobId,
    pub(crate) goal: String,
    pub(crate) depth: u32,
    pub(crate) authority: Authority,
    pub(crate) is_over: bool,
}

/// What was stopped.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    /// Whose turns have to be told after the commit.
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) told: Told,
}

/// The session that a delegation is done in.
pub(crate) const fn session_of(job: JobId) -> SessionId {
    SessionId::from_bytes(*job.as_bytes())
}

/// The delegation that is done in a session; none for people's conversations.
pub(crate) fn of_session(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<Job>> {
    let job = jobs::find(tx, JobId::from_bytes(*session.as_bytes()))?;
    Ok(job.filter(|job| job.kind == JobKind::Delegation))
}

/// Records a delegation and the event that its agent begins with, or says why not.
pub(crate) fn start(
    tx: &mut Tx<'_>,
    shared: &Shared,
    commission: &Commission,
) -> Result<Answer<()>> {
    let Commission {
        id,
        run,
        return_to,
        authority,
        depth,
        task,
        promise,
    } = commission;
    if jobs::find(tx, *id)?.is_some() {
        return Ok(Ok(()));
    }
    if *depth >= shared.settings.limits.depth {
        return Ok(Err(
            "a task that was delegated this far is not delegated any further: do it yourself"
                .to_owned(),
        ));
    }
    let work = Work {
        goal: task.goal.clone(),
        context: task.context.clone(),
        tools: task.tools.clone(),
        depth: depth + 1,
        authority: authority.clone().with_tools(task.tools.as_deref()),
    };
    let order = Order {
        id: *id,
        run: *run,
        kind: JobKind::Delegation,
        return_to: return_to.clone(),
        work: json!(work),
        promise: *promise,
        node: shared.settings.node.clone(),
        at: shared.now(),
    };
    if let Err(words) = keep::record(tx, shared, &order)? {
        return Ok(Err(words));
    }
    open(tx, shared, &order, task)?;
    Ok(Ok(()))
}

fn open(tx: &mut Tx<'_>, shared: &Shared, order: &Order, task: &Task) -> Result<()> {
    let (session, return_to) = (session_of(order.id), &order.return_to);
    let apart = Apart {
        session,
        parent: return_to.session,
        owner: return_to.requester.key(),
        at: order.at,
    };
    sessions::open_apart(tx, &apart)?;
    let text = format!("{}\n\n{}", task.goal.trim(), task.context.trim());
    let event = Event {
        id: EventId::next(&*shared.ids, order.at),
        dedupe: jobs::task_key(order.id),
        address: return_to.address.clone(),
        principal: return_to.requester.clone(),
        message: None,
        kind: EventKind::Internal {
            cause: InternalCause::Delegated { job: order.id },
            text: text.trim_end().to_owned(),
        },
        sent_at: None,
        received_at: order.at,
    };
    inbox::record_pinned(tx, &event, session).map(drop)
}

/// The task that an event begins, if it is one.
pub(crate) fn errand_of(tx: &mut Tx<'_>, row: &InboxRow) -> Result<Option<Errand>> {
    let EventKind::Internal {
        cause: InternalCause::Delegated { job },
        ..
    } = &row.event.kind
    else {
        return Ok(None);
    };
    let job = jobs::get(tx, *job)?;
    let work: Work = serde_json::from_value(job.work).map_err(|error| StoreError::Unreadable {
        thing: "task",
        why: error.to_string(),
    })?;
    let authority = match job.run {
        Some(giver) => revoke::left_by(tx, giver, &work.authority)?,
        None => work.authority,
    };
    Ok(Some(Errand {
        job: job.id,
        goal: work.goal,
        depth: work.depth,
        authority,
        is_over: job.state.is_end(),
    }))
}

/// Its turn begins.
pub(crate) fn begin(tx: &mut Tx<'_>, errand: &Errand, run: RunId) -> Result<()> {
    if jobs::get(tx, errand.job)?.state == JobState::Queued {
        jobs::start(tx, errand.job, &json!({ "run": run }))?;
    }
    Ok(())
}

/// Its turn has come to something: the job ends with it.
pub(crate) fn finish(
    tx: &mut Tx<'_>,
    shared: &Shared,
    errand: &Errand,
    (state, said): (JobState, &str),
) -> Result<Told> {
    let result = match state {
        JobState::Completed => json!({ "answer": said }),
        _ => json!({ "error": said }),
    };
    let end = JobEnd {
        state,
        text: words::ended(errand.job, &errand.goal, state, said),
        result,
    };
    keep::end(tx, shared, errand.job, &end)
}

/// Stops a delegation wherever it stands, with everything that it delegated itself.
pub(crate) fn cancel(tx: &mut Tx<'_>, shared: &Shared, job: &Job, reason: &str) -> Result<Stopped> {
    let mut stopped = Stopped::default();
    if job.state.is_end() {
        return Ok(stopped);
    }
    let session = session_of(job.id);
    for child in delegations(tx, session)? {
        stopped.add(cancel(tx, shared, &child, reason)?);
    }
    stopped
        .sessions
        .extend(stop::end_turn(tx, shared, session, reason)?);
    for row in inbox::lane(tx, session)? {
        if row.state == InboxState::Queued {
            inbox::discard(tx, row.event.id, reason, shared.now())?;
        }
    }
    let goal = job.work.get("goal").and_then(|goal| goal.as_str());
    let end = JobEnd {
        state: JobState::Cancelled,
        text: words::ended(
            job.id,
            goal.unwrap_or_default(),
            JobState::Cancelled,
            reason,
        ),
        result: json!({ "error": reason }),
    };
    stopped.told.extend(keep::end(tx, shared, job.id, &end)?);
    Ok(stopped)
}

/// Stops what a session, or one run in it, delegated and waited for.
pub(crate) fn let_go(
    tx: &mut Tx<'_>,
    shared: &Shared,
    session: SessionId,
    run: Option<RunId>,
) -> Result<Stopped> {
    let mut stopped = Stopped::default();
    for job in delegations(tx, session)? {
        let is_of_run = run.is_none() || job.run == run;
        if job.promise == Promise::Nothing && is_of_run {
            stopped.add(cancel(tx, shared, &job, LET_GO)?);
        }
    }
    Ok(stopped)
}

fn delegations(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<Job>> {
    let open = jobs::open(tx, Some(session))?.into_iter();
    Ok(open.filter(|job| job.kind == JobKind::Delegation).collect())
}

impl Errand {
    /// The same, where the profile may do less by now than when the task was given.
    #[must_use]
    pub(crate) fn within(mut self, authority: &Authority) -> Self {
        self.authority = self.authority.narrowed_to(authority);
        self
    }
}

impl Stopped {
    pub(crate) fn add(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.told.extend(other.told);
    }

    /// Tells turns and watchers, after the commit.
    pub(crate) fn tell(self, shared: &Shared) {
        for session in self.sessions {
            shared.running.stop(session);
        }
        shared.watchers.tell_all(self.told);
    }
}
