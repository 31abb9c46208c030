-- Full-text search over transcripts: derived, rebuilt at will. Holds terms only, never the text again.
CREATE VIRTUAL TABLE transcript_search USING fts5 (
    owner, terms, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0"
);
