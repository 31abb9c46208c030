-- Where a conversation's chat is that is named after it: profile, platform and account. Its key leads to it without a row.
-- Who opens a conversation with every question made such a row each time, which said nothing else.
ALTER TABLE sessions ADD COLUMN own_chat TEXT;
