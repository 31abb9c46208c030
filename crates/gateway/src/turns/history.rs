//! Between the transcript in the ledger and what a model is shown. Summaries come first, whatever their number: they
//! stand for what was said before everything that is still shown.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::runner::{Said, Speaker};
use talaria_store::transcripts::{self, Entry, Stretch, Utterance, Visibility};
use talaria_store::{Result, Tx};

/// More than any window holds.
const MOST: u32 = 20_000;

/// What a model is shown of a session, each with its number.
pub(crate) fn shown(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<(i64, Said)>> {
    let entries = transcripts::shown(tx, session, 0, MOST)?;
    let (summaries, rest): (Vec<Entry>, Vec<Entry>) = entries
        .into_iter()
        .partition(|entry| entry.speaker == Speaker::System);
    let all = summaries.into_iter().chain(rest);
    Ok(all.map(|entry| (entry.seq, said(entry))).collect())
}

fn said(entry: Entry) -> Said {
    let field = |name: &str| entry.detail.get(name).cloned().unwrap_or(Value::Null);
    Said {
        speaker: entry.speaker,
        calls: serde_json::from_value(field("calls")).unwrap_or_default(),
        answers: serde_json::from_value(field("answers")).unwrap_or_default(),
        text: entry.text,
    }
}

/// Appends to a session's transcript.
pub(crate) fn append(
    tx: &mut Tx<'_>,
    session: SessionId,
    run: Option<RunId>,
    said: &Said,
    at: Timestamp,
) -> Result<i64> {
    let is_plain = said.calls.is_empty() && said.answers.is_none();
    let detail = if is_plain {
        Value::Null
    } else {
        json!({ "calls": said.calls, "answers": said.answers })
    };
    let utterance = Utterance {
        speaker: said.speaker,
        text: said.text.clone(),
        detail,
        run,
        at,
    };
    transcripts::append(tx, session, &utterance)
}

/// Lets a summary stand for the entries with these numbers.
pub(crate) fn compact(
    tx: &mut Tx<'_>,
    session: SessionId,
    numbers: &[i64],
    summary: &str,
    at: Timestamp,
) -> Result<()> {
    for number in numbers {
        let one = Stretch {
            from: *number,
            to: *number,
        };
        transcripts::hide(tx, session, one, Visibility::Compacted)?;
    }
    let said = Said::plain(
        Speaker::System,
        format!("What was said before, in short:\n{summary}"),
    );
    append(tx, session, None, &said, at).map(drop)
}
