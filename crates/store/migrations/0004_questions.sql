-- What runs ask people, and what became of it. Of the token that a button carries only the hash is here.
CREATE TABLE questions (
    question_id  BLOB    NOT NULL PRIMARY KEY,
    session_id   BLOB    NOT NULL,
    run_id       BLOB    NOT NULL,
    event_id     BLOB    NOT NULL,
    reply_id     BLOB    NOT NULL,
    target       BLOB    NOT NULL,
    token_hash   BLOB    NOT NULL UNIQUE,
    code         TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    approvers    TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    answer       TEXT,
    answered_by  BLOB,
    answer_event BLOB,
    asked_at     INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    ended_at     INTEGER
) STRICT;

CREATE INDEX questions_open ON questions (session_id, question_id) WHERE ended_at IS NULL;
CREATE INDEX questions_by_target ON questions (target, question_id);
CREATE INDEX questions_by_run ON questions (run_id, question_id);
CREATE INDEX questions_by_reply ON questions (reply_id);
CREATE INDEX questions_ended ON questions (ended_at) WHERE ended_at IS NOT NULL;
