//! A run asks a person and waits. The question, the run's journal, its state and the reply that shows it are one commit;
//! whoever waits is woken by the commit that ends it. Answers come in through `hear`, like everything that people say.
//!
//! **Invariant:** an open question has a run that waits for it. Whatever ends the run withdraws the question in the same
//! transaction; a waiter that is dropped withdraws its own. **Invariant:** one answer counts, for the run that asked.

pub mod decide;
pub mod words;

pub(crate) mod hear;
mod waits;

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{Answer, Question, Refusal, RefusalCode};
use talaria_domain::ids::{QuestionId, ReplyId, RunId};
use talaria_domain::live::Happening;
use talaria_domain::machine::{QuestionState, RunState};
use talaria_domain::question::{Approvers, PressToken};
use talaria_domain::run::{Action, RunEvent};
use talaria_store::questions::{self, Asked};
use talaria_store::{Result, StoreError, Tx, leases, runs};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) use self::waits::Waits;
use crate::delivery::say::{self, Place};
use crate::shared::Shared;
use crate::turns::begin::Begun;

/// Nobody can answer sooner.
const SHORTEST: Duration = Duration::from_secs(1);
/// Nobody remembers longer.
const LONGEST: Duration = Duration::from_hours(24);
/// What one run may have open at once.
const MOST_OPEN: usize = 8;
/// What fits into a question.
const MOST_LETTERS: usize = 4_000;
/// Choices, and letters of one.
const MOST_CHOICES: usize = 20;
const MOST_LETTERS_OF_A_CHOICE: usize = 200;
/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);

type Told = std::result::Result<Answer, Refusal>;

/// Asks a person, and waits for their answer, the end of the time, or the end of the run.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    begun: &Arc<Begun>,
    stop: &CancellationToken,
    question: Question,
) -> Told {
    if stop.is_cancelled() {
        return Err(run_ended());
    }
    let now = shared.now();
    let patience = question.patience.clamp(SHORTEST, LONGEST);
    may_ask(shared, begun, now.plus(patience))?;
    fits(&question.action)?;
    let token = fresh_token()?;
    let (id, reply) = (
        QuestionId::next(&*shared.ids, now),
        ReplyId::next(&*shared.ids, now),
    );
    let asked = Asked {
        id,
        session: begun.session(),
        run: begun.run,
        event: begun.row.event.id,
        reply,
        target: begun.place.0.address.target(),
        token: token.hash(),
        code: String::new(),
        action: question.action,
        approvers: Approvers::of(&begun.place.0.requester),
        asked_at: now,
        expires_at: now.plus(patience),
    };
    let waiting = Waiting::begin(shared, begun, stop, (asked, token));
    waiting.record().await?;
    waiting.wait().await
}

/// Whether anybody can answer, for as long as it would be waited.
fn may_ask(shared: &Shared, begun: &Begun, until: Timestamp) -> std::result::Result<(), Refusal> {
    let refuse = |reason: &str| Err(Refusal::new(RefusalCode::Disabled, reason));
    if begun.errand.is_some() {
        return refuse(
            "this task was given by another agent, and no person can be asked about it: decide by yourself, or say in \
             your answer what has to be decided",
        );
    }
    let wishes = begun.wishes();
    if wishes.is_some_and(|wishes| wishes.may_be_asked) {
        return Ok(());
    }
    let window = wishes.and_then(|wishes| wishes.window);
    let window = window.unwrap_or_else(|| shared.settings.window(&begun.place.0.address));
    match window {
        DeliveryWindow::Always => Ok(()),
        DeliveryWindow::Until(end) if until <= end => Ok(()),
        DeliveryWindow::Until(_) | DeliveryWindow::InTurnOnly | DeliveryWindow::Never => refuse(
            "nobody can be asked in this conversation, because whoever called waits for the answer itself: decide by \
             yourself, or ask in your answer",
        ),
    }
}

/// Whether it is something that can be shown and answered.
fn fits(action: &Action) -> std::result::Result<(), Refusal> {
    let refuse = |code, reason: String| Err(Refusal::new(code, reason));
    let (text, choices) = match action {
        Action::Approval { effect } => (effect, &[][..]),
        Action::Question { text, choices } => (text, choices.as_slice()),
    };
    if text.trim().is_empty() {
        let reason = "expected something to ask, found nothing";
        return refuse(RefusalCode::Invalid, reason.to_owned());
    }
    if text.chars().count() > MOST_LETTERS {
        let reason = format!("a question has at most {MOST_LETTERS} letters: ask shorter");
        return refuse(RefusalCode::TooLarge, reason);
    }
    let is_long = |choice: &String| choice.chars().count() > MOST_LETTERS_OF_A_CHOICE;
    if choices.len() > MOST_CHOICES || choices.iter().any(is_long) {
        let reason = format!(
            "a question has at most {MOST_CHOICES} choices of {MOST_LETTERS_OF_A_CHOICE} letters"
        );
        return refuse(RefusalCode::TooLarge, reason);
    }
    let is_again = |(at, choice): (usize, &String)| {
        let same = |other: &String| other.to_lowercase() == choice.to_lowercase();
        choice.trim().is_empty() || choices.iter().take(at).any(same)
    };
    if choices.iter().enumerate().any(is_again) {
        let reason = "expected choices that differ, and none that is empty";
        return refuse(RefusalCode::Invalid, reason.to_owned());
    }
    Ok(())
}

fn fresh_token() -> std::result::Result<PressToken, Refusal> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| {
        let reason = "the system gave no random numbers";
        Refusal::new(RefusalCode::Unavailable, reason)
    })?;
    Ok(PressToken::from_random(bytes))
}

fn run_ended() -> Refusal {
    Refusal::new(RefusalCode::RunEnded, "the run was stopped")
}

fn refusal(error: &StoreError) -> Refusal {
    match error {
        StoreError::Conflict(_) => run_ended(),
        error => Refusal::new(RefusalCode::Unavailable, error.to_string()),
    }
}

/// Somebody who waits for an answer. Dropped before it came, the question is withdrawn.
struct Waiting {
    shared: Arc<Shared>,
    begun: Arc<Begun>,
    stop: CancellationToken,
    asked: Asked,
    knock: Arc<Notify>,
    is_over: bool,
}

impl Waiting {
    fn begin(
        shared: &Arc<Shared>,
        begun: &Arc<Begun>,
        stop: &CancellationToken,
        (asked, token): (Asked, PressToken),
    ) -> Self {
        // Before the commit: whoever answers at once is heard.
        let knock = shared
            .waits
            .begin(begun.run, asked.id, token, asked.asked_at);
        Self {
            shared: Arc::clone(shared),
            begun: Arc::clone(begun),
            stop: stop.clone(),
            asked,
            knock,
            is_over: false,
        }
    }

    async fn record(&self) -> std::result::Result<(), Refusal> {
        let (this, begun, asked) = (
            Arc::clone(&self.shared),
            Arc::clone(&self.begun),
            self.asked.clone(),
        );
        let recorded = self
            .shared
            .ledger
            .write(move |tx| record(tx, &this, &begun, &asked))
            .await;
        match recorded {
            Ok(Some(happenings)) => {
                self.tell(happenings);
                Ok(())
            }
            Ok(None) => {
                let reason =
                    format!("{MOST_OPEN} questions are open already: wait for an answer first");
                Err(Refusal::new(RefusalCode::Unavailable, reason))
            }
            Err(error) => Err(refusal(&error)),
        }
    }

    async fn wait(mut self) -> Told {
        loop {
            let left = self.asked.expires_at.since(self.shared.now());
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    // Whoever stopped the run has withdrawn it, or puts the run back.
                    self.is_over = true;
                    return Err(run_ended());
                }
                () = self.knock.notified() => {}
                // Not polling: that is when the question ends.
                () = tokio::time::sleep(left) => {}
            }
            let (this, begun, id) = (
                Arc::clone(&self.shared),
                Arc::clone(&self.begun),
                self.asked.id,
            );
            let looked = self
                .shared
                .ledger
                .write(move |tx| look(tx, &this, &begun, id))
                .await;
            match looked {
                Ok(None) => {}
                Ok(Some((told, happenings))) => {
                    self.is_over = true;
                    self.tell(happenings);
                    return told;
                }
                Err(StoreError::Conflict(_)) => {
                    self.is_over = true;
                    return Err(run_ended());
                }
                Err(error) => {
                    tracing::warn!(question = %id, %error, "the ledger was asked for an answer and did not say");
                    // Not polling: the ledger is away, and says nothing when it is back.
                    tokio::time::sleep(LEDGER_PAUSE).await;
                    self.knock.notify_one();
                }
            }
        }
    }

    fn tell(&self, happenings: Vec<Happening>) {
        let session = self.begun.session();
        for happening in happenings {
            self.shared.watchers.tell(session, happening);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let shared = &self.shared;
        let (run, id) = (self.begun.run, self.asked.id);
        shared.waits.end(run, id, shared.now());
        if self.is_over || self.stop.is_cancelled() {
            return;
        }
        let (this, begun) = (Arc::clone(shared), Arc::clone(&self.begun));
        shared.spawn(async move {
            let ledger = this.ledger.clone();
            let withdrawn = ledger.write(move |tx| leave(tx, &this, &begun, id)).await;
            match withdrawn {
                // Its run is over, and it with it.
                Ok(()) | Err(StoreError::Conflict(_)) => {}
                Err(error) => {
                    tracing::warn!(question = %id, %error, "a question that nobody waits for stays open until its run ends");
                }
            }
        });
    }
}

/// The question, the journal, the run's state and what people see, at once. Nothing if too much is open already.
fn record(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    asked: &Asked,
) -> Result<Option<Vec<Happening>>> {
    leases::fence(tx, &begun.lease)?;
    let own = questions::of_run(tx, begun.run)?;
    let open = own
        .iter()
        .filter(|question| question.state == QuestionState::Open);
    if open.count() >= MOST_OPEN {
        return Ok(None);
    }
    let asked = Asked {
        code: free_code(tx, asked)?,
        ..asked.clone()
    };
    questions::ask(tx, &asked)?;
    let event = RunEvent::ActionRequested {
        request: asked.id.to_string(),
        action: asked.action.clone(),
    };
    let (run, at) = (begun.run, asked.asked_at);
    let seq = runs::append(tx, &begun.lease, run, &event, at)?;
    if runs::get(tx, run)?.state == RunState::Running {
        runs::wait(tx, &begun.lease, run, at)?;
    }
    let patience = asked.expires_at.since(asked.asked_at);
    let text = words::prompt(&asked.action, &asked.code, patience);
    let said = say::prompt(tx, shared, &begun.place, (asked.reply, run), &text)?;
    let what = event;
    Ok(Some(vec![Happening::Yielded { run, seq, what }, said]))
}

/// What nothing else is called at this place, for as long as that is open.
fn free_code(tx: &mut Tx<'_>, asked: &Asked) -> Result<String> {
    let open = questions::open_at(tx, asked.target)?;
    let is_free = |code: &String| open.iter().all(|other| other.asked.code != *code);
    let mut codes = (0..=u32::MAX).map(|attempt| words::code(asked.id, attempt));
    Ok(codes.find(is_free).unwrap_or_default())
}

type Looked = Option<(Told, Vec<Happening>)>;

/// What became of a question; nothing while it is open.
fn look(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun, id: QuestionId) -> Result<Looked> {
    leases::fence(tx, &begun.lease)?;
    let (question, now) = (questions::get(tx, id)?, shared.now());
    let asked = &question.asked;
    let patience = asked.expires_at.since(asked.asked_at);
    let mut happenings = Vec::new();
    let told = match question.state {
        QuestionState::Open if now < asked.expires_at => return Ok(None),
        QuestionState::Open => {
            questions::expire(tx, id, now)?;
            let text = words::expired(&asked.action, patience);
            happenings.push(say::notice(tx, shared, &begun.place, &text)?);
            Err(nobody_answered())
        }
        QuestionState::Answered => question.answer.clone().ok_or_else(nobody_answered),
        QuestionState::Expired => Err(nobody_answered()),
        QuestionState::Withdrawn => Err(run_ended()),
    };
    let settled = go_on(tx, begun, id, now)?;
    happenings.push(settled);
    Ok(Some((told, happenings)))
}

fn nobody_answered() -> Refusal {
    let reason = "nobody answered in time: that is neither a yes nor an answer; go on without it";
    Refusal::new(RefusalCode::Expired, reason)
}

/// The run works again, unless it still waits for something else; its journal says what this question came to.
fn go_on(tx: &mut Tx<'_>, begun: &Begun, id: QuestionId, now: Timestamp) -> Result<Happening> {
    let (run, question) = (begun.run, questions::get(tx, id)?);
    let what = RunEvent::ActionSettled {
        request: id.to_string(),
        state: question.state,
        answer: question.answer,
    };
    let seq = runs::append(tx, &begun.lease, run, &what, now)?;
    if runs::get(tx, run)?.state == RunState::Waiting && !questions::is_awaited(tx, run)? {
        runs::start(tx, &begun.lease, run, now)?;
    }
    Ok(Happening::Yielded { run, seq, what })
}

/// Nobody waits for the answer any more, though the run goes on.
fn leave(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun, id: QuestionId) -> Result<()> {
    leases::fence(tx, &begun.lease)?;
    let now = shared.now();
    match questions::find(tx, id)? {
        Some(question) if question.state == QuestionState::Open => {
            questions::withdraw(tx, id, now)?;
        }
        Some(_) => {}
        // It was never recorded.
        None => return Ok(()),
    }
    go_on(tx, begun, id, now).map(drop)
}

/// Tells the conversation that what an interrupted run had asked is no longer open.
pub(crate) fn take_back(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    run: RunId,
) -> Result<Vec<Happening>> {
    let withdrawn = questions::of_run(tx, run)?
        .into_iter()
        .filter(|question| question.state == QuestionState::Withdrawn);
    withdrawn
        .map(|question| say::notice(tx, shared, place, &words::taken_back(&question)))
        .collect()
}
