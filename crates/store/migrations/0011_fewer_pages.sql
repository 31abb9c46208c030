-- What a key was made of stands beside the conversation that it leads to: whoever opens one writes both, and a tree less is
-- changed. A key that leads nowhere keeps what it was made of, for the conversations that it led to before. It counts its
-- conversations, those that were ever made and those that are left, so that nobody has to look for them by their key; and
-- it says whether people led it to one that was made for another key, as few keys are.
CREATE TABLE keys (
    key_id      BLOB    NOT NULL PRIMARY KEY,
    session_id  BLOB,
    session_key TEXT    NOT NULL,
    made        INTEGER NOT NULL,
    kept        INTEGER NOT NULL,
    led         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO keys (key_id, session_id, session_key, made, kept, led)
SELECT o.key_id, k.session_id, o.session_key,
    (SELECT COALESCE(MAX(s.generation) + 1, 0) FROM sessions s WHERE s.key_id = o.key_id),
    (SELECT COUNT(*) FROM sessions s WHERE s.key_id = o.key_id),
    (SELECT COUNT(*) FROM sessions s WHERE s.session_id = k.session_id AND s.key_id <> o.key_id)
FROM session_origins o LEFT JOIN session_keys k ON k.key_id = o.key_id
ORDER BY o.key_id;

DROP TABLE session_keys;
DROP TABLE session_origins;
ALTER TABLE keys RENAME TO session_keys;
CREATE INDEX session_keys_led ON session_keys (session_id) WHERE led = 1;
DROP INDEX sessions_by_key;

-- The answer to the event that opened a conversation has the conversation's own id, so nobody looks for it here, and the
-- same is true of the run of a turn that began with its conversation. Programs open one with almost every question.
DROP INDEX replies_by_session;
CREATE INDEX replies_by_session ON replies (session_id, reply_id) WHERE reply_id <> session_id;
DROP INDEX runs_by_session;
CREATE INDEX runs_by_session ON runs (session_id, run_id) WHERE run_id <> session_id;
DROP INDEX runs_by_event;
CREATE INDEX runs_by_event ON runs (event_id, run_id) WHERE run_id <> event_id;

-- Nobody ever asked for it: what is sent is found by the targets of the parts.
ALTER TABLE replies DROP COLUMN target;
