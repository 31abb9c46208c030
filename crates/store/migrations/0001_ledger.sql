-- The ledger. Written in the common SQL of both engines; `src/dialect.rs` holds the few differences.
-- Times are integer milliseconds, ids sixteen bytes that sort by time, digests thirty-two bytes, JSON is text.

-- Small rows live in their key's tree (WITHOUT ROWID); rows that hold JSON or text do not, or the tree would be made of
-- them.

-- The conversation that a key leads to at present. Looked up for every message, so it holds nothing else.
CREATE TABLE session_keys (
    key_id     BLOB NOT NULL PRIMARY KEY,
    session_id BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What a key was made of, for people.
CREATE TABLE session_origins (
    key_id      BLOB NOT NULL PRIMARY KEY,
    session_key TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    session_id BLOB    NOT NULL PRIMARY KEY,
    key_id     BLOB    NOT NULL,
    owner      BLOB    NOT NULL,
    state      TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL,
    parent     BLOB,
    title      TEXT,
    end_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID /* room to change */;

-- Not by time of change: that would move an index entry with every message.
CREATE INDEX sessions_by_owner ON sessions (owner, session_id);
CREATE INDEX sessions_by_key ON sessions (key_id, generation);

-- Lives as long as its event does: while the event is here, it is recognised when it is delivered again.
CREATE TABLE dedupe (
    dedupe_key BLOB NOT NULL PRIMARY KEY,
    event_id   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbered store-wide, in order of arrival: a counter of its own in each session would make every message change a page
-- that it shares with nobody, and the more sessions are stored the more that costs.
CREATE TABLE inbox (
    seq         INTEGER PRIMARY KEY,
    event_id    BLOB    NOT NULL UNIQUE,
    dedupe_key  BLOB    NOT NULL,
    session_id  BLOB    NOT NULL,
    state       TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    event       TEXT    NOT NULL,
    message     TEXT,
    attempts    INTEGER NOT NULL,
    epoch       INTEGER NOT NULL,
    run_id      BLOB,
    merged_into BLOB,
    reason      TEXT,
    busy        TEXT,
    not_before  INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

-- Only what is open: it stays small however much was ever answered.
CREATE INDEX inbox_open ON inbox (session_id, seq) WHERE state IN ('queued', 'claimed');
CREATE INDEX inbox_merged ON inbox (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX inbox_ended ON inbox (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE leases (
    name       TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    epoch      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX leases_by_expiry ON leases (expires_at);

CREATE TABLE runs (
    run_id       BLOB    NOT NULL PRIMARY KEY,
    session_id   BLOB    NOT NULL,
    event_id     BLOB    NOT NULL,
    runner       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    authority    TEXT    NOT NULL,
    return_to    TEXT    NOT NULL,
    outcome      TEXT,
    next_seq     INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    active_at    INTEGER NOT NULL,
    ended_at     INTEGER
) STRICT;

CREATE INDEX runs_open ON runs (active_at) WHERE ended_at IS NULL;
CREATE INDEX runs_by_event ON runs (event_id);
CREATE INDEX runs_by_session ON runs (session_id, run_id);
CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE run_events (
    run_id BLOB    NOT NULL,
    seq    INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    event  TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TABLE transcripts (
    entry_id   INTEGER PRIMARY KEY,
    session_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    owner      BLOB    NOT NULL,
    role       TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    entry      TEXT    NOT NULL,
    run_id     BLOB,
    visibility TEXT    NOT NULL,
    at         INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX transcripts_by_session ON transcripts (session_id, seq);

CREATE TABLE replies (
    reply_id   BLOB    NOT NULL PRIMARY KEY,
    session_id BLOB    NOT NULL,
    run_id     BLOB,
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    target     BLOB    NOT NULL,
    return_to  TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

CREATE INDEX replies_by_session ON replies (session_id, reply_id);
CREATE INDEX replies_ended ON replies (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE parts (
    part_id    BLOB    NOT NULL PRIMARY KEY,
    reply_id   BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL,
    target     BLOB    NOT NULL,
    priority   INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    sent       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX parts_by_reply ON parts (reply_id, ordinal);
CREATE INDEX parts_open ON parts (target, priority, part_id) WHERE state IN ('queued', 'retry', 'sending', 'doubted');

CREATE TABLE receipts (
    part_id BLOB    NOT NULL,
    ordinal INTEGER NOT NULL,
    message TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (part_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    part_id BLOB    NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (part_id, attempt)
) STRICT;

CREATE TABLE dead_letters (
    dead_id    BLOB    NOT NULL PRIMARY KEY,
    thing      TEXT    NOT NULL,
    thing_id   BLOB    NOT NULL,
    session_id BLOB    NOT NULL,
    state      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

CREATE INDEX dead_letters_open ON dead_letters (dead_id) WHERE ended_at IS NULL;

CREATE TABLE state (
    scope_key  BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (scope_key, name)
) STRICT;

CREATE TABLE jobs (
    job_id     BLOB    NOT NULL PRIMARY KEY,
    session_id BLOB    NOT NULL,
    run_id     BLOB,
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    return_to  TEXT    NOT NULL,
    work       TEXT    NOT NULL,
    handle     TEXT,
    result     TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

CREATE INDEX jobs_open ON jobs (session_id, job_id) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
