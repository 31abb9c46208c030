//! Whether what is stored holds together: the engine's own check, and ours, which finds halves of things that were
//! written in one transaction. Findings are for people; an empty list is a healthy ledger.

use crate::dialect::Dialect;
use crate::error::Result;
use crate::tx::Tx;

/// Each counts what must not be.
const CHECKS: [(&str, &str); 18] = [
    (
        "events without a session",
        "SELECT COUNT(*) FROM inbox i WHERE NOT EXISTS (
             SELECT 1 FROM sessions s WHERE s.session_id = i.session_id)",
    ),
    (
        "events that were acknowledged and are not there",
        "SELECT COUNT(*) FROM dedupe d WHERE NOT EXISTS (
             SELECT 1 FROM inbox i WHERE i.event_id = d.event_id)",
    ),
    (
        "events that nobody would recognise when they are delivered again",
        // A key that begins like its event's id is the event's own: nobody delivers that again.
        "SELECT COUNT(*) FROM inbox i WHERE SUBSTR(i.dedupe_key, 1, 16) <> i.event_id AND NOT EXISTS (
             SELECT 1 FROM dedupe d WHERE d.dedupe_key = i.dedupe_key AND d.event_id = i.event_id)",
    ),
    (
        "entries past their session's last number",
        "SELECT COUNT(*) FROM transcripts t JOIN sessions s ON s.session_id = t.session_id WHERE t.seq > s.last_seq",
    ),
    (
        "dead events without a letter",
        "SELECT COUNT(*) FROM inbox i WHERE i.state = 'dead' AND NOT EXISTS (
             SELECT 1 FROM dead_letters d WHERE d.thing_id = i.event_id AND d.ended_at IS NULL)",
    ),
    (
        "keys that lead nowhere",
        "SELECT COUNT(*) FROM session_keys k WHERE k.session_id IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM sessions s WHERE s.session_id = k.session_id)",
    ),
    (
        "keys that do not know how many sessions they have",
        "SELECT COUNT(*) FROM session_keys k
         LEFT JOIN (SELECT key_id, COUNT(*) AS there FROM sessions GROUP BY key_id) s ON s.key_id = k.key_id
         WHERE k.kept <> COALESCE(s.there, 0) OR k.made < k.kept",
    ),
    (
        "keys that do not know whose session they lead to",
        "SELECT COUNT(*) FROM session_keys k JOIN sessions s ON s.session_id = k.session_id
         WHERE (k.led = 1) = (s.key_id = k.key_id)",
    ),
    (
        "sessions without a key",
        "SELECT COUNT(*) FROM sessions s WHERE s.own_chat IS NULL AND NOT EXISTS (
             SELECT 1 FROM session_keys k WHERE k.key_id = s.key_id)",
    ),
    (
        "parts without a reply",
        "SELECT COUNT(*) FROM parts p WHERE NOT EXISTS (
             SELECT 1 FROM replies r WHERE r.reply_id = p.reply_id)",
    ),
    (
        "delivered parts without a receipt",
        "SELECT COUNT(*) FROM parts p WHERE state = 'delivered' AND NOT EXISTS (
             SELECT 1 FROM receipts r WHERE r.part_id = p.part_id)",
    ),
    (
        "run events without a run",
        "SELECT COUNT(*) FROM run_events e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.run_id = e.run_id)",
    ),
    (
        "whole turns that are not over, or have a run of their own besides",
        "SELECT COUNT(*) FROM inbox i WHERE i.outcome IS NOT NULL AND (i.state <> 'completed' OR EXISTS (
             SELECT 1 FROM runs r WHERE r.run_id = i.event_id))",
    ),
    (
        "open questions that no run waits for",
        "SELECT COUNT(*) FROM questions q WHERE q.ended_at IS NULL AND NOT EXISTS (
             SELECT 1 FROM runs r WHERE r.run_id = q.run_id AND r.state = 'waiting')",
    ),
    (
        "occurrences without a schedule",
        "SELECT COUNT(*) FROM occurrences o WHERE NOT EXISTS (
             SELECT 1 FROM schedules s WHERE s.schedule_id = o.schedule_id)",
    ),
    (
        "occurrences that came to nothing",
        "SELECT COUNT(*) FROM occurrences o WHERE o.state = 'due'
             OR (o.state = 'served' AND o.event_id IS NULL AND o.reply_id IS NULL)",
    ),
    (
        "schedules whose state and next time do not fit",
        "SELECT COUNT(*) FROM schedules s WHERE (s.state = 'active') <> (s.next_at IS NOT NULL)",
    ),
    (
        "entries without a session",
        "SELECT COUNT(*) FROM transcripts t WHERE NOT EXISTS (
             SELECT 1 FROM sessions s WHERE s.session_id = t.session_id)",
    ),
];

/// What is wrong with the ledger, in words.
pub fn check(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    if tx.dialect() == Dialect::Sqlite {
        let engine: Vec<String> = tx.rows("PRAGMA integrity_check(20)", &[], |row| row.get(0))?;
        findings.extend(engine.into_iter().filter(|line| line != "ok"));
    }
    for (what, sql) in CHECKS {
        let count: i64 = tx.row(sql, &[], |row| row.get(0))?.unwrap_or(0);
        if count > 0 {
            findings.push(format!("{count} {what}"));
        }
    }
    Ok(findings)
}
