-- What was promised about the end of a job.
ALTER TABLE jobs ADD COLUMN promise TEXT NOT NULL DEFAULT 'nothing';

-- What is told about its end, and when its conversation took that by itself.
ALTER TABLE jobs ADD COLUMN told TEXT;
ALTER TABLE jobs ADD COLUMN consumed_at INTEGER;

-- The process, of those on this store, that does it.
ALTER TABLE jobs ADD COLUMN node TEXT NOT NULL DEFAULT '';

-- Whose it is: a person's conversation, or one in which an agent does a job.
ALTER TABLE sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'conversation';

CREATE INDEX jobs_by_session ON jobs (session_id, job_id);
