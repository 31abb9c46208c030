-- Keys of chats that we named ourselves begin with the time at which we did, as their ids are made now: such chats are new
-- all the time, and so their rows lie side by side. What we named has an id of ours as its name.
CREATE TABLE renamed (
    key_id BLOB NOT NULL PRIMARY KEY,
    new_id BLOB NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO renamed (key_id, new_id)
SELECT key_id, CAST(UNHEX(SUBSTR(REPLACE(chat, '-', ''), 1, 12)) || SUBSTR(key_id, 7) AS BLOB)
FROM (
    SELECT key_id, JSON_EXTRACT(session_key, '$.chat') AS chat FROM session_origins
    WHERE JSON_EXTRACT(session_key, '$.chat_kind') = 'direct'
)
WHERE chat GLOB '????????-????-7???-????-????????????' AND UNHEX(REPLACE(chat, '-', '')) IS NOT NULL;

UPDATE sessions SET key_id = (SELECT new_id FROM renamed r WHERE r.key_id = sessions.key_id)
WHERE key_id IN (SELECT key_id FROM renamed);
UPDATE session_keys SET key_id = (SELECT new_id FROM renamed r WHERE r.key_id = session_keys.key_id)
WHERE key_id IN (SELECT key_id FROM renamed);
UPDATE schedules SET key_id = (SELECT new_id FROM renamed r WHERE r.key_id = schedules.key_id)
WHERE key_id IN (SELECT key_id FROM renamed);

-- A small row in its key's tree.
CREATE TABLE origins (
    key_id      BLOB NOT NULL PRIMARY KEY,
    session_key TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO origins (key_id, session_key)
SELECT COALESCE(r.new_id, o.key_id), o.session_key FROM session_origins o LEFT JOIN renamed r ON r.key_id = o.key_id
ORDER BY 1;

DROP TABLE session_origins;
ALTER TABLE origins RENAME TO session_origins;
DROP TABLE renamed;
