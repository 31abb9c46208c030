-- Full-text search over transcripts: derived, rebuilt at will. Holds terms only, never the text again.
CREATE TABLE transcript_search (
    entry_id BIGINT   NOT NULL PRIMARY KEY,
    owner    BYTEA    NOT NULL,
    terms    TSVECTOR NOT NULL
);

CREATE INDEX transcript_search_by_terms ON transcript_search USING GIN (terms);
CREATE INDEX transcript_search_by_owner ON transcript_search (owner);
