//! The statements of accepting an event, as the bare loop runs them. A test of the store holds them to the store's own.

pub(crate) const DEDUPE: &str =
    "INSERT INTO dedupe (dedupe_key, event_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
pub(crate) const LED: &str = "SELECT k.session_id, s.key_id, s.owner, s.last_seq
         FROM session_keys k LEFT JOIN sessions s ON s.session_id = k.session_id
         WHERE k.key_id = ?1 AND k.session_id IS NOT NULL";
pub(crate) const INSERT: &str =
    "INSERT INTO inbox (event_id, dedupe_key, session_id, state, kind, event, message, attempts, epoch,
             not_before, received_at)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, 0, 0, ?8, ?7) RETURNING seq";

/// These are the store's own texts, or the comparison means nothing.
pub(crate) fn check() {
    let sources = [
        (DEDUPE, include_str!("../../src/dedupe.rs")),
        (LED, include_str!("../../src/sessions.rs")),
        (INSERT, include_str!("../../src/inbox.rs")),
    ];
    for (text, source) in sources {
        assert!(
            source.contains(text),
            "the store does not say this any more: {text}"
        );
    }
}
