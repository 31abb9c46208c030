//! What runs ask people. A question is open for as long as its run waits for it, and ends once: answered, expired, or
//! withdrawn with its run.
//!
//! **Invariant:** of several answers one counts. Whoever answers changes an open row or none.

use talaria_domain::address::TargetKey;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::Answer;
use talaria_domain::ids::{EventId, QuestionId, ReplyId, RunId, SessionId};
use talaria_domain::machine::QuestionState;
use talaria_domain::principal::PrincipalKey;
use talaria_domain::question::{Approvers, TokenHash};
use talaria_domain::run::Action;

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};
use crate::wake::Wake;

/// What a run asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question's id.
    pub id: QuestionId,
    /// The conversation that the run is a turn of.
    pub session: SessionId,
    /// The run that waits.
    pub run: RunId,
    /// What that run answers.
    pub event: EventId,
    /// What shows it.
    pub reply: ReplyId,
    /// Where it is shown.
    pub target: TargetKey,
    /// What its buttons carry.
    pub token: TokenHash,
    /// What people call it.
    pub code: String,
    /// What is asked.
    pub action: Action,
    /// Who may answer.
    pub approvers: Approvers,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// Until when it may be answered.
    pub expires_at: Timestamp,
}

/// A question, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub asked: Asked,
    /// Where it stands.
    pub state: QuestionState,
    /// What was answered.
    pub answer: Option<Answer>,
    /// Who answered.
    pub answered_by: Option<PrincipalKey>,
    /// The event that answered.
    pub answer_event: Option<EventId>,
}

/// An answer, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// What was answered.
    pub answer: Answer,
    /// Who answered.
    pub by: PrincipalKey,
    /// The event that answered.
    pub event: EventId,
    /// Now.
    pub at: Timestamp,
}

macro_rules! columns {
    () => {
        "question_id, session_id, run_id, event_id, reply_id, target, token_hash, code, action, approvers, asked_at,
         expires_at, state, answer, answered_by, answer_event"
    };
}

fn read(row: &Row<'_>) -> Result<Question> {
    let answer = row.get::<Option<String>>(13)?;
    Ok(Question {
        asked: Asked {
            id: row.get(0)?,
            session: row.get(1)?,
            run: row.get(2)?,
            event: row.get(3)?,
            reply: row.get(4)?,
            target: row.get(5)?,
            token: row.get(6)?,
            code: row.get(7)?,
            action: row.json(8)?,
            approvers: row.json(9)?,
            asked_at: row.get(10)?,
            expires_at: row.get(11)?,
        },
        state: row.state(12)?,
        answer: answer.map(|text| from_json("answer", &text)).transpose()?,
        answered_by: row.get(14)?,
        answer_event: row.get(15)?,
    })
}

/// Records a question. Whoever asks makes its run wait in the same transaction.
pub fn ask(tx: &mut Tx<'_>, asked: &Asked) -> Result<()> {
    let (action, approvers) = (to_json(&asked.action)?, to_json(&asked.approvers)?);
    tx.execute(
        "INSERT INTO questions
             (question_id, session_id, run_id, event_id, reply_id, target, token_hash, code, action, approvers, state,
              asked_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open', ?11, ?12)",
        bind![
            asked.id,
            asked.session,
            asked.run,
            asked.event,
            asked.reply,
            asked.target,
            asked.token,
            asked.code,
            action,
            approvers,
            asked.asked_at,
            asked.expires_at
        ],
    )?;
    Ok(())
}

/// Somebody answers. The first one counts; for every other it is a conflict.
pub fn answer(tx: &mut Tx<'_>, question: QuestionId, given: &Given) -> Result<()> {
    let answered = tx.execute(
        "UPDATE questions SET state = 'answered', answer = ?2, answered_by = ?3, answer_event = ?4, ended_at = ?5
         WHERE question_id = ?1 AND state = 'open'",
        bind![question, to_json(&given.answer)?, given.by, given.event, given.at],
    )?;
    ended(tx, question, answered, ("answer", QuestionState::Answered))
}

/// Nobody answered in time.
pub fn expire(tx: &mut Tx<'_>, question: QuestionId, at: Timestamp) -> Result<()> {
    let expired = tx.execute(
        "UPDATE questions SET state = 'expired', ended_at = ?2 WHERE question_id = ?1 AND state = 'open'",
        bind![question, at],
    )?;
    ended(tx, question, expired, ("expire", QuestionState::Expired))
}

/// Its run does not wait for it any more.
pub fn withdraw(tx: &mut Tx<'_>, question: QuestionId, at: Timestamp) -> Result<()> {
    let withdrawn = tx.execute(
        "UPDATE questions SET state = 'withdrawn', ended_at = ?2 WHERE question_id = ?1 AND state = 'open'",
        bind![question, at],
    )?;
    ended(
        tx,
        question,
        withdrawn,
        ("withdraw", QuestionState::Withdrawn),
    )
}

fn ended(
    tx: &mut Tx<'_>,
    question: QuestionId,
    changed: u64,
    (verb, to): (&'static str, QuestionState),
) -> Result<()> {
    if changed == 0 {
        let row = get(tx, question)?;
        return legal(question, row.state, verb, to);
    }
    tx.wake(Wake::Question(question));
    Ok(())
}

/// Its run has ended: whatever it asked and nobody answered is withdrawn with it. Gives how many.
pub(crate) fn withdraw_all(tx: &mut Tx<'_>, run: RunId, at: Timestamp) -> Result<u64> {
    let open: Vec<QuestionId> = tx.rows(
        "SELECT question_id FROM questions WHERE run_id = ?1 AND state = 'open' ORDER BY question_id",
        bind![run],
        |row| row.get(0),
    )?;
    for question in &open {
        withdraw(tx, *question, at)?;
    }
    Ok(open.len() as u64)
}

/// A question by its id.
pub fn get(tx: &mut Tx<'_>, question: QuestionId) -> Result<Question> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE question_id = ?1"
    );
    let row = tx.row(sql, bind![question], read)?;
    found("question", question, row)
}

/// The same, if there is one.
pub fn find(tx: &mut Tx<'_>, question: QuestionId) -> Result<Option<Question>> {
    match get(tx, question) {
        Err(StoreError::NotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

/// The question whose buttons carry a token.
pub fn by_token(tx: &mut Tx<'_>, token: TokenHash) -> Result<Option<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE token_hash = ?1"
    );
    tx.row(sql, bind![token], read)
}

/// The question that a reply shows.
pub fn by_reply(tx: &mut Tx<'_>, reply: ReplyId) -> Result<Option<Question>> {
    let sql = concat!("SELECT ", columns!(), " FROM questions WHERE reply_id = ?1");
    tx.row(sql, bind![reply], read)
}

/// The newest question at a place that people call so, whatever became of it.
pub fn by_code(tx: &mut Tx<'_>, target: TargetKey, code: &str) -> Result<Option<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE target = ?1 AND code = ?2 ORDER BY question_id DESC LIMIT 1"
    );
    tx.row(sql, bind![target, code], read)
}

/// What is open in a conversation, oldest first.
pub fn open_in(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE session_id = ?1 AND ended_at IS NULL ORDER BY question_id"
    );
    tx.rows(sql, bind![session], read)
}

/// What is open at a place, in whichever conversation, oldest first.
pub fn open_at(tx: &mut Tx<'_>, target: TargetKey) -> Result<Vec<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE target = ?1 AND ended_at IS NULL ORDER BY question_id"
    );
    tx.rows(sql, bind![target], read)
}

/// What was last asked at a place.
pub fn last_at(tx: &mut Tx<'_>, target: TargetKey) -> Result<Option<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE target = ?1 ORDER BY question_id DESC LIMIT 1"
    );
    tx.row(sql, bind![target], read)
}

/// What a run asked, oldest first.
pub fn of_run(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<Question>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM questions WHERE run_id = ?1 ORDER BY question_id"
    );
    tx.rows(sql, bind![run], read)
}

/// Whether a run still waits for an answer.
pub fn is_awaited(tx: &mut Tx<'_>, run: RunId) -> Result<bool> {
    let sql = "SELECT question_id FROM questions WHERE run_id = ?1 AND state = 'open' LIMIT 1";
    let open = tx.row(sql, bind![run], |row| row.get::<QuestionId>(0))?;
    Ok(open.is_some())
}
