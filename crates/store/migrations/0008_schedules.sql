-- When something is to happen. `key_id` is the chat that it happens in, `next_at` is there while it is active.
CREATE TABLE schedules (
    schedule_id BLOB    NOT NULL PRIMARY KEY,
    key_id      BLOB    NOT NULL,
    owner       BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    rule        TEXT    NOT NULL,
    zone        TEXT    NOT NULL,
    what        TEXT    NOT NULL,
    words       TEXT    NOT NULL,
    return_to   TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    next_at     INTEGER,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

CREATE INDEX schedules_next ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedules_open ON schedules (owner, schedule_id) WHERE ended_at IS NULL;
CREATE INDEX schedules_ended ON schedules (ended_at) WHERE ended_at IS NOT NULL;

-- One row for each time, whichever node was first: what makes it itself is the schedule and the time.
CREATE TABLE occurrences (
    schedule_id BLOB    NOT NULL,
    due_at      INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    event_id    BLOB,
    reply_id    BLOB,
    reason      TEXT,
    at          INTEGER NOT NULL,
    UNIQUE (schedule_id, due_at)
) STRICT;

CREATE INDEX occurrences_by_reply ON occurrences (reply_id) WHERE reply_id IS NOT NULL;
CREATE INDEX occurrences_by_time ON occurrences (at);
