-- Full-text search over transcripts: derived, rebuilt at will. Holds terms only, never the text again.
-- Texts are cut into terms before they come here; this tokenizer leaves every letter beyond ASCII as it is.
CREATE VIRTUAL TABLE transcript_search USING fts5 (
    owner, terms, content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- Entries after this one are not in the index yet. FTS5 writes a segment for every savepoint it is used in, and every
-- closure is one: entries go into the index many at a time, and a search looks through the few that are left.
CREATE TABLE search_progress (
    indexed_to INTEGER NOT NULL
) STRICT;

INSERT INTO search_progress (indexed_to) VALUES (0);
