-- What is remembered for a while only: when it may be forgotten. None means never by itself.
ALTER TABLE state ADD COLUMN expires_at INTEGER;

CREATE INDEX state_passing ON state (expires_at) WHERE expires_at IS NOT NULL;
