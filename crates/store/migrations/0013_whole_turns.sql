-- A turn that was over before anything of it was written down has one row: its event's. What its run was admitted with,
-- what it came to and what it answered stand there; run and answer have the event's own id, and no rows of their own.
-- Programs ask for nearly all of their turns in this way.
ALTER TABLE inbox ADD COLUMN runner TEXT;
ALTER TABLE inbox ADD COLUMN profile TEXT;
ALTER TABLE inbox ADD COLUMN authority TEXT;
ALTER TABLE inbox ADD COLUMN outcome TEXT;
ALTER TABLE inbox ADD COLUMN answer TEXT;
