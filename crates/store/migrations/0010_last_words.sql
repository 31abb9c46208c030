-- What a run said last, where that is the last thing it did: its journal has a number for it and no row.
ALTER TABLE runs ADD COLUMN last_words TEXT;
