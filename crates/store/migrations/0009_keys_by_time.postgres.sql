-- Keys of chats that we named ourselves begin with the time at which we did, as their ids are made now: such chats are new
-- all the time, and so their rows lie side by side. What we named has an id of ours as its name.
CREATE TEMPORARY TABLE renamed ON COMMIT DROP AS
SELECT key_id, DECODE(SUBSTR(REPLACE(chat, '-', ''), 1, 12), 'hex') || SUBSTR(key_id, 7) AS new_id
FROM (
    SELECT key_id, CAST(session_key AS JSON) ->> 'chat' AS chat FROM session_origins
    WHERE CAST(session_key AS JSON) ->> 'chat_kind' = 'direct'
) AS direct
WHERE chat ~* '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$';

UPDATE sessions SET key_id = r.new_id FROM renamed r WHERE r.key_id = sessions.key_id;
UPDATE session_keys SET key_id = r.new_id FROM renamed r WHERE r.key_id = session_keys.key_id;
UPDATE schedules SET key_id = r.new_id FROM renamed r WHERE r.key_id = schedules.key_id;
UPDATE session_origins SET key_id = r.new_id FROM renamed r WHERE r.key_id = session_origins.key_id;
