-- Full-text search over transcripts: derived, rebuilt at will. Holds terms only, never the text again.
-- Texts are cut into terms before they come here; this tokenizer leaves every letter beyond ASCII as it is.
CREATE VIRTUAL TABLE transcript_search USING fts5 (
    owner, terms, content = '', contentless_delete = 1, tokenize = 'ascii'
);
