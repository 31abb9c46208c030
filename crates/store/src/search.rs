//! Searchable history. Who asks is part of the query itself: another principal's words are not found, not filtered
//! out afterwards. The index is derived from the transcripts and can be rebuilt at any time.
//!
//! On SQLite, entries go into the index later, many at a time, when there is time for it; a search looks through those
//! that are not in it yet. While nobody finds the time, the writer keeps them from becoming too many.
//!
//! Both engines hold the same terms: texts are cut into words here, and writing without spaces into single
//! characters, so that a search means the same on both.

use std::collections::BTreeSet;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::SessionId;
use talaria_domain::principal::PrincipalKey;

use crate::bind;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::transcripts::Visibility;
use crate::tx::Tx;

/// How many terms of one entry are kept; the rest of a very long text is not found.
const TERMS: usize = 4_000;
/// Longer words are cut: nobody types them, and PostgreSQL refuses terms over two kilobytes.
const TERM_BYTES: usize = 128;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// In which session.
    pub session: SessionId,
    /// Under which number.
    pub seq: i64,
    /// The words.
    pub text: String,
    /// When they were said.
    pub at: Timestamp,
}

/// The terms of a text, each once.
///
/// ```
/// use talaria_store::search::terms;
///
/// let found: Vec<String> = terms("The ledger, THE Ledger! 日本").into_iter().collect();
/// assert_eq!(found, ["ledger", "the", "日", "本"]);
/// ```
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for word in text
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        if terms.len() >= TERMS {
            break;
        }
        if word.is_ascii() && word.len() <= TERM_BYTES {
            terms.insert(word.to_ascii_lowercase());
            continue;
        }
        let word = word.to_lowercase();
        let mut rest = String::new();
        for char in word.chars().filter(|char| char.is_alphanumeric()) {
            if is_unspaced(char) {
                terms.insert(char.to_string());
            } else if rest.len() < TERM_BYTES {
                rest.push(char);
            }
        }
        if !rest.is_empty() {
            terms.insert(rest);
        }
    }
    terms
}

/// Whether the writing that this belongs to is not cut into words by spaces.
const fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// How many entries the writer looks at together on SQLite.
const BATCH: u32 = 256;
/// How many may be missing in the index: a search looks through each of them.
const BACKLOG: i64 = 131_072;

/// An entry was appended: adds it, or some that have waited for too long.
pub(crate) fn note(tx: &mut Tx<'_>, entry: i64, owner: PrincipalKey, text: &str) -> Result<()> {
    match tx.dialect() {
        Dialect::Postgres => index(tx, (entry, owner, text), Place::Free),
        Dialect::Sqlite if entry % i64::from(BATCH) == 0 => {
            let after = indexed_to(tx)?;
            if entry - after > BACKLOG {
                // Faster than they come.
                rebuild_from(tx, after, 2 * BATCH)?;
            }
            Ok(())
        }
        Dialect::Sqlite => Ok(()),
    }
}

/// Adds some of the entries that wait to be; says whether there may be more.
pub fn catch_up(tx: &mut Tx<'_>) -> Result<bool> {
    match tx.dialect() {
        // They never wait there.
        Dialect::Postgres => Ok(false),
        Dialect::Sqlite => {
            let after = indexed_to(tx)?;
            Ok(rebuild_from(tx, after, BATCH)?.is_some())
        }
    }
}

fn indexed_to(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "SELECT indexed_to FROM search_progress";
    Ok(tx.row(sql, &[], |row| row.get(0))?.unwrap_or(0))
}

fn set_indexed_to(tx: &mut Tx<'_>, entry: i64) -> Result<()> {
    tx.execute(
        "UPDATE search_progress SET indexed_to = ?1 WHERE indexed_to < ?1",
        bind![entry],
    )
    .map(drop)
}

/// What is not in the index yet and says all of these words, newest first.
fn look_through(
    tx: &mut Tx<'_>,
    owner: PrincipalKey,
    words: &BTreeSet<String>,
) -> Result<Vec<Hit>> {
    let after = indexed_to(tx)?;
    let mut recent: Vec<Hit> = tx.rows(
        "SELECT session_id, seq, text, at FROM transcripts
         WHERE entry_id > ?1 AND owner = ?2 AND visibility <> ?3 AND (text LIKE ?4 OR text GLOB ?5)
         ORDER BY entry_id DESC",
        bind![
            after,
            owner,
            Visibility::Undone.as_str(),
            longest_in(words),
            BEYOND_ASCII
        ],
        read,
    )?;
    recent.retain(|hit| words.is_subset(&terms(&hit.text)));
    Ok(recent)
}

/// Texts with other letters than those of ASCII: how they are cut into words, only [`terms`] knows.
const BEYOND_ASCII: &str = "*[^\u{1}-~]*";

/// A pattern that every text of ASCII with all of these words fits: the engine leaves most of the others out before they
/// are cut into words.
fn longest_in(words: &BTreeSet<String>) -> String {
    let plain = words
        .iter()
        .filter(|word| word.is_ascii() && word.len() <= TERM_BYTES);
    let longest = plain.max_by_key(|word| word.len());
    longest.map_or_else(|| "%".to_owned(), |word| format!("%{word}%"))
}

fn read(row: &crate::tx::Row<'_>) -> Result<Hit> {
    Ok(Hit {
        session: row.get(0)?,
        seq: row.get(1)?,
        text: row.get(2)?,
        at: row.get(3)?,
    })
}

/// Whether the index may have something for an entry already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It has nothing.
    Free,
    /// It may have, which is taken out first.
    Taken,
}

/// Adds an entry, in the place of what the index had for it.
fn index(
    tx: &mut Tx<'_>,
    (entry, owner, text): (i64, PrincipalKey, &str),
    place: Place,
) -> Result<()> {
    let terms = terms(text);
    if terms.is_empty() {
        return Ok(());
    }
    let terms = terms.into_iter().collect::<Vec<_>>().join(" ");
    match (tx.dialect(), place) {
        (Dialect::Sqlite, Place::Free) => tx.execute(
            "INSERT INTO transcript_search (rowid, owner, terms) VALUES (?1, ?2, ?3)",
            bind![entry, owner.0.to_string(), terms],
        ),
        (Dialect::Sqlite, Place::Taken) => tx.execute(
            "INSERT OR REPLACE INTO transcript_search (rowid, owner, terms) VALUES (?1, ?2, ?3)",
            bind![entry, owner.0.to_string(), terms],
        ),
        (Dialect::Postgres, _) => tx.execute(
            "INSERT INTO transcript_search (entry_id, owner, terms)
             VALUES (?1, ?2, array_to_tsvector(string_to_array(?3, ' ')))
             ON CONFLICT (entry_id) DO UPDATE SET owner = excluded.owner, terms = excluded.terms",
            bind![entry, owner, terms],
        ),
    }?;
    Ok(())
}

/// What the owner's sessions say about all of these words, newest first. What was undone is not found.
pub fn search(tx: &mut Tx<'_>, owner: PrincipalKey, words: &str, limit: u32) -> Result<Vec<Hit>> {
    let terms = terms(words);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let undone = Visibility::Undone.as_str();
    match tx.dialect() {
        Dialect::Sqlite => {
            let mut hits = look_through(tx, owner, &terms)?;
            hits.extend(tx.rows(
                "SELECT t.session_id, t.seq, t.text, t.at
                 FROM transcript_search s JOIN transcripts t ON t.entry_id = s.rowid
                 WHERE transcript_search MATCH ?1 AND t.owner = ?2 AND t.visibility <> ?3
                 ORDER BY s.rowid DESC LIMIT ?4",
                bind![match_expression(owner, &terms), owner, undone, limit],
                read,
            )?);
            hits.truncate(limit as usize);
            Ok(hits)
        }
        // VARCHAR, because the dialect takes TEXT for a column's type and gives it a collation.
        Dialect::Postgres => tx.rows(
            "SELECT t.session_id, t.seq, t.text, t.at
             FROM transcript_search s JOIN transcripts t ON t.entry_id = s.entry_id
             WHERE s.terms @@ CAST(CAST(?1 AS VARCHAR) AS TSQUERY) AND s.owner = ?2 AND t.owner = ?2
                 AND t.visibility <> ?3
             ORDER BY s.entry_id DESC LIMIT ?4",
            bind![query_expression(&terms), owner, undone, limit],
            read,
        ),
    }
}

/// The same in one session, and in no other.
pub fn search_in(
    tx: &mut Tx<'_>,
    (owner, session): (PrincipalKey, SessionId),
    words: &str,
    limit: u32,
) -> Result<Vec<Hit>> {
    let terms = terms(words);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let undone = Visibility::Undone.as_str();
    match tx.dialect() {
        Dialect::Sqlite => {
            let mut hits = look_through(tx, owner, &terms)?;
            hits.retain(|hit| hit.session == session);
            hits.extend(tx.rows(
                "SELECT t.session_id, t.seq, t.text, t.at
                 FROM transcript_search s JOIN transcripts t ON t.entry_id = s.rowid
                 WHERE transcript_search MATCH ?1 AND t.session_id = ?2 AND t.visibility <> ?3
                 ORDER BY s.rowid DESC LIMIT ?4",
                bind![match_expression(owner, &terms), session, undone, limit],
                read,
            )?);
            hits.truncate(limit as usize);
            Ok(hits)
        }
        Dialect::Postgres => tx.rows(
            "SELECT t.session_id, t.seq, t.text, t.at
             FROM transcript_search s JOIN transcripts t ON t.entry_id = s.entry_id
             WHERE s.terms @@ CAST(CAST(?1 AS VARCHAR) AS TSQUERY) AND s.owner = ?2 AND t.session_id = ?3
                 AND t.visibility <> ?4
             ORDER BY s.entry_id DESC LIMIT ?5",
            bind![query_expression(&terms), owner, session, undone, limit],
            read,
        ),
    }
}

/// For FTS5: the owner is a term like the others, so that the index itself leaves everybody else out.
fn match_expression(owner: PrincipalKey, terms: &BTreeSet<String>) -> String {
    let owner = format!("owner : \"{}\"", owner.0);
    let terms = terms.iter().map(|term| format!("terms : \"{term}\""));
    std::iter::once(owner)
        .chain(terms)
        .collect::<Vec<_>>()
        .join(" AND ")
}

/// For tsquery. Terms hold letters and digits only, so that nothing has to be escaped.
fn query_expression(terms: &BTreeSet<String>) -> String {
    terms
        .iter()
        .map(|term| format!("'{term}'"))
        .collect::<Vec<_>>()
        .join(" & ")
}

/// Empties the index; [`rebuild_from`] fills it again.
pub fn clear(tx: &mut Tx<'_>) -> Result<()> {
    match tx.dialect() {
        Dialect::Sqlite => {
            let last = "SELECT MAX(entry_id) FROM transcripts";
            let last: Option<i64> = tx.row(last, &[], |row| row.get(0))?.flatten();
            set_indexed_to(tx, last.unwrap_or(0))?;
            tx.execute(
                "INSERT INTO transcript_search (transcript_search) VALUES ('delete-all')",
                &[],
            )
        }
        Dialect::Postgres => tx.execute("DELETE FROM transcript_search", &[]),
    }
    .map(drop)
}

/// Indexes the next `limit` entries after the entry `after`; gives the last one, none when all are done.
pub fn rebuild_from(tx: &mut Tx<'_>, after: i64, limit: u32) -> Result<Option<i64>> {
    let entries: Vec<(i64, PrincipalKey, String)> = tx.rows(
        "SELECT entry_id, owner, text FROM transcripts WHERE entry_id > ?1 ORDER BY entry_id LIMIT ?2",
        bind![after, limit],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let indexed = match tx.dialect() {
        Dialect::Sqlite => indexed_to(tx)?,
        Dialect::Postgres => 0,
    };
    for (entry, owner, text) in &entries {
        let place = if *entry > indexed {
            Place::Free
        } else {
            Place::Taken
        };
        index(tx, (*entry, *owner, text), place)?;
    }
    let last = entries.last().map(|(entry, ..)| *entry);
    if let (Dialect::Sqlite, Some(last)) = (tx.dialect(), last) {
        set_indexed_to(tx, last)?;
    }
    Ok(last)
}

/// Takes entries out of the index that are about to be deleted.
pub(crate) fn forget(tx: &mut Tx<'_>, session: SessionId) -> Result<()> {
    match tx.dialect() {
        Dialect::Sqlite => tx.execute(
            "DELETE FROM transcript_search WHERE rowid IN (
                 SELECT entry_id FROM transcripts WHERE session_id = ?1)",
            bind![session],
        ),
        Dialect::Postgres => tx.execute(
            "DELETE FROM transcript_search WHERE entry_id IN (
                 SELECT entry_id FROM transcripts WHERE session_id = ?1)",
            bind![session],
        ),
    }
    .map(drop)
}
