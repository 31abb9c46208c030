-- Every turn writes to each of these, and nobody needs them: what has ended is found by its id, which sorts by time, and
-- a run that has not ended belongs to an event that is claimed.
DROP INDEX inbox_ended;
DROP INDEX runs_ended;
DROP INDEX runs_open;
DROP INDEX replies_ended;

-- Only the leases that somebody has: it stays small however many conversations are stored.
DROP INDEX leases_by_expiry;
CREATE INDEX leases_held ON leases (expires_at) WHERE expires_at > 0;
