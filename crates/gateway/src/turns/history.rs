//! Between the transcript in the ledger and what a model is shown. Summaries come first, whatever their number: they
//! stand for what was said before everything that is still shown.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::runner::{Said, Speaker};
use talaria_store::transcripts::{self, Line, Stretch, Utterance, Visibility};
use talaria_store::{Result, Tx};

use super::recent::History;

/// More than any window holds.
const MOST: u32 = 20_000;

/// What is read where a turn begins: the writer has better things to do than to read long histories.
const FEW: u32 = 64;

/// What a model is shown of a session, each with its number; none if it is much.
pub(crate) fn recent(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<History>> {
    let lines = transcripts::lines(tx, session, FEW + 1)?;
    let is_all = lines.len() <= FEW as usize;
    Ok(is_all.then(|| in_order(lines)))
}

/// What a model is shown of a session, each with its number.
pub(crate) fn shown(tx: &mut Tx<'_>, session: SessionId) -> Result<History> {
    Ok(in_order(transcripts::lines(tx, session, MOST)?))
}

fn in_order(mut lines: Vec<Line>) -> History {
    lines.sort_by_key(|line| line.speaker != Speaker::System);
    let all = lines.into_iter();
    all.map(|line| (line.seq, said(line.speaker, line.text, &line.detail)))
        .collect()
}

pub(crate) fn said(speaker: Speaker, text: String, detail: &Value) -> Said {
    if detail.is_null() {
        return Said::plain(speaker, text);
    }
    let field = |name: &str| detail.get(name).cloned().unwrap_or(Value::Null);
    Said {
        speaker,
        calls: serde_json::from_value(field("calls")).unwrap_or_default(),
        answers: serde_json::from_value(field("answers")).unwrap_or_default(),
        text,
        images: Vec::new(),
    }
}

/// Appends to a session's transcript.
pub(crate) fn append(
    tx: &mut Tx<'_>,
    session: SessionId,
    run: Option<RunId>,
    said: &Said,
    at: Timestamp,
) -> Result<()> {
    transcripts::append(tx, session, &utterance(said, run, at)).map(drop)
}

/// What was said, as the transcript takes it.
pub(crate) fn utterances<'a>(
    said: impl Iterator<Item = &'a Said>,
    run: Option<RunId>,
    at: Timestamp,
) -> Vec<Utterance> {
    said.map(|it| utterance(it, run, at)).collect()
}

fn utterance(said: &Said, run: Option<RunId>, at: Timestamp) -> Utterance {
    let is_plain = said.calls.is_empty() && said.answers.is_none();
    let detail = if is_plain {
        Value::Null
    } else {
        json!({ "calls": said.calls, "answers": said.answers })
    };
    Utterance {
        speaker: said.speaker,
        text: said.text.clone(),
        detail,
        run,
        at,
    }
}

/// Lets a summary stand for the entries with these numbers.
pub(crate) fn compact(
    tx: &mut Tx<'_>,
    session: SessionId,
    numbers: &[i64],
    summary: &str,
    at: Timestamp,
) -> Result<()> {
    let entries: Vec<Stretch> = numbers.iter().map(|number| Stretch::one(*number)).collect();
    transcripts::hide(tx, session, &entries, Visibility::Compacted)?;
    let said = Said::plain(
        Speaker::System,
        format!("What was said before, in short:\n{summary}"),
    );
    append(tx, session, None, &said, at)
}
