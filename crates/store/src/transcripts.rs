//! What was said in a session, in order. Undone and compacted entries stay, out of sight; the search index is
//! told of an entry in the same transaction.

use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::principal::PrincipalKey;
pub use talaria_domain::runner::Speaker;

use crate::bind;
use crate::error::{Result, StoreError};
use crate::search;
use crate::sessions::{self, Tail};
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};

/// The detail of what is only words, as it is kept: most of what is said.
const NO_DETAIL: &str = "null";

/// Whether an entry is part of what the model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// It is.
    Shown,
    /// It was undone.
    Undone,
    /// A summary stands for it.
    Compacted,
}

impl Visibility {
    /// Its name in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Undone => "undone",
            Self::Compacted => "compacted",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Shown, Self::Undone, Self::Compacted]
            .into_iter()
            .find(|visibility| visibility.as_str() == name)
    }
}

/// What a name stands for, or that it stands for nothing.
fn named<T>(name: &str, found: Option<T>) -> Result<T> {
    let unknown = || StoreError::unreadable("entry", &format!("unknown word {name:?}"));
    found.ok_or_else(unknown)
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number in the session.
    pub seq: i64,
    /// Who said it.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
    /// Everything else that the model is shown: tool calls, attachments.
    pub detail: Json,
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// Whether the model is shown it.
    pub visibility: Visibility,
    /// When.
    pub at: Timestamp,
}

/// What is said next.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance {
    /// Who says it.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
    /// Everything else that the model is shown.
    pub detail: Json,
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// Now.
    pub at: Timestamp,
}

fn read(row: &Row<'_>) -> Result<Entry> {
    let (speaker, visibility) = (row.text(1)?, row.text(5)?);
    Ok(Entry {
        seq: row.get(0)?,
        speaker: named(speaker, Speaker::parse(speaker))?,
        text: row.get(2)?,
        detail: row.json(3)?,
        run: row.get(4)?,
        visibility: named(visibility, Visibility::parse(visibility))?,
        at: row.get(6)?,
    })
}

/// Appends to a session; gives the entry's number.
pub fn append(tx: &mut Tx<'_>, session: SessionId, said: &Utterance) -> Result<i64> {
    append_all(tx, session, std::slice::from_ref(said))
}

/// Appends several to a session; gives the first one's number.
pub fn append_all(tx: &mut Tx<'_>, session: SessionId, all: &[Utterance]) -> Result<i64> {
    let tail = sessions::tail(tx, session)?;
    append_after(tx, (session, tail), all)
}

/// The same for a session that had come this far when it was last looked at.
pub fn append_after(
    tx: &mut Tx<'_>,
    (session, mut tail): (SessionId, Tail),
    all: &[Utterance],
) -> Result<i64> {
    let Some(last) = all.last() else {
        return Ok(0);
    };
    while !sessions::take_entries(tx, (session, tail.last), all.len(), last.at)? {
        tail = sessions::tail(tx, session)?;
    }
    let first = tail.last + 1;
    write_down(tx, (session, tail.owner, first), all)?;
    Ok(first)
}

/// Writes down what is said first in a session that was [opened with it](sessions::open_with).
pub fn begin(
    tx: &mut Tx<'_>,
    (session, owner): (SessionId, PrincipalKey),
    all: &[Utterance],
) -> Result<()> {
    write_down(tx, (session, owner, 1), all)
}

fn write_down(
    tx: &mut Tx<'_>,
    (session, owner, first): (SessionId, PrincipalKey, i64),
    all: &[Utterance],
) -> Result<()> {
    (first..)
        .zip(all)
        .try_for_each(|(seq, said)| append_one(tx, (session, owner, seq), said))
}

fn append_one(
    tx: &mut Tx<'_>,
    (session, owner, seq): (SessionId, PrincipalKey, i64),
    said: &Utterance,
) -> Result<()> {
    let speaker = said.speaker.as_str();
    let detail = match &said.detail {
        Json::Null => NO_DETAIL.to_owned(),
        detail => to_json(detail)?,
    };
    let entry = tx.insert(
        "INSERT INTO transcripts (session_id, seq, owner, role, text, entry, run_id, visibility, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'shown', ?8) RETURNING entry_id",
        bind![session, seq, owner, speaker, said.text, detail, said.run, said.at],
    )?;
    search::note(tx, entry, owner, &said.text)
}

/// Something that was said, as far as the model is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its number in the session.
    pub seq: i64,
    /// Who said it.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
    /// Everything else that the model is shown: tool calls, attachments.
    pub detail: Json,
}

/// What the model is shown, in order: what every turn reads, so nothing else is read.
pub fn lines(tx: &mut Tx<'_>, session: SessionId, limit: u32) -> Result<Vec<Line>> {
    tx.rows(
        "SELECT seq, role, text, entry FROM transcripts
         WHERE session_id = ?1 AND visibility = 'shown' ORDER BY seq LIMIT ?2",
        bind![session, limit],
        |row| {
            let (speaker, detail) = (row.text(1)?, row.text(3)?);
            Ok(Line {
                seq: row.get(0)?,
                speaker: named(speaker, Speaker::parse(speaker))?,
                text: row.get(2)?,
                detail: match detail {
                    NO_DETAIL => Json::Null,
                    detail => from_json("entry", detail)?,
                },
            })
        },
    )
}

/// What the model is shown, in order, from after `after`.
pub fn shown(tx: &mut Tx<'_>, session: SessionId, after: i64, limit: u32) -> Result<Vec<Entry>> {
    tx.rows(
        "SELECT seq, role, text, entry, run_id, visibility, at FROM transcripts
         WHERE session_id = ?1 AND seq > ?2 AND visibility = 'shown' ORDER BY seq LIMIT ?3",
        bind![session, after, limit],
        read,
    )
}

/// Everything that was said, in order, from after `after`.
pub fn page(tx: &mut Tx<'_>, session: SessionId, after: i64, limit: u32) -> Result<Vec<Entry>> {
    tx.rows(
        "SELECT seq, role, text, entry, run_id, visibility, at FROM transcripts
         WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        bind![session, after, limit],
        read,
    )
}

/// The newest of what was said before a number and was not undone, in order.
pub fn before(tx: &mut Tx<'_>, session: SessionId, before: i64, limit: u32) -> Result<Vec<Entry>> {
    let mut newest = tx.rows(
        "SELECT seq, role, text, entry, run_id, visibility, at FROM transcripts
         WHERE session_id = ?1 AND seq < ?2 AND visibility <> 'undone' ORDER BY seq DESC LIMIT ?3",
        bind![session, before, limit],
        read,
    )?;
    newest.reverse();
    Ok(newest)
}

/// What was said under these numbers and was not undone, in order.
pub fn numbered(tx: &mut Tx<'_>, session: SessionId, numbers: &[i64]) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    for number in numbers {
        found.extend(tx.row(
            "SELECT seq, role, text, entry, run_id, visibility, at FROM transcripts
             WHERE session_id = ?1 AND seq = ?2 AND visibility <> 'undone'",
            bind![session, number],
            read,
        )?);
    }
    found.sort_by_key(|entry: &Entry| entry.seq);
    Ok(found)
}

/// A stretch of a session, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The first number.
    pub from: i64,
    /// The last number.
    pub to: i64,
}

impl Stretch {
    /// A single entry.
    pub const fn one(number: i64) -> Self {
        Self {
            from: number,
            to: number,
        }
    }
}

/// Takes stretches of what is shown out of sight. Gives how many entries that were. All of it together takes a number, as
/// appending does: whoever knows a session's last number knows what is shown of it.
pub fn hide(
    tx: &mut Tx<'_>,
    session: SessionId,
    stretches: &[Stretch],
    as_what: Visibility,
) -> Result<u64> {
    if !stretches.is_empty() {
        sessions::take_number(tx, session)?;
    }
    let mut hidden = 0;
    for Stretch { from, to } in stretches {
        hidden += tx.execute(
            "UPDATE transcripts SET visibility = ?4
             WHERE session_id = ?1 AND seq BETWEEN ?2 AND ?3 AND visibility = 'shown'",
            bind![session, from, to, as_what.as_str()],
        )?;
    }
    Ok(hidden)
}

/// Erases everything that was said in a session, also from the search index. Gives how many entries that were.
pub fn erase(tx: &mut Tx<'_>, session: SessionId) -> Result<u64> {
    search::forget(tx, session)?;
    tx.execute(
        "DELETE FROM transcripts WHERE session_id = ?1",
        bind![session],
    )
}
