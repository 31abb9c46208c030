-- When a value was first remembered. What is there already has been there since it was last set, as far as anybody knows.
ALTER TABLE state ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

UPDATE state SET created_at = updated_at;
