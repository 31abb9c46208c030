//! Pure: every key of `talaria.toml` and what it means. `*` stands for a name that the operator chooses, `[]` for each
//! table of a list. What is not here is an unknown key; what is here can be explained.

/// A key of the file.
pub(crate) struct Key {
    /// Where it stands.
    pub(crate) pattern: &'static str,
    /// What it does, in one sentence.
    pub(crate) meaning: &'static str,
}

const fn key(pattern: &'static str, meaning: &'static str) -> Key {
    Key { pattern, meaning }
}

/// All of them, in the order in which they are shown.
pub(crate) const KEYS: &[Key] = &[
    key(
        "server.listen",
        "the address that everything is served on; off loopback it needs public_url",
    ),
    key(
        "server.public_url",
        "how the gateway is reached from outside",
    ),
    key(
        "store.url",
        "sqlite, sqlite:PATH or postgres://user@host/database",
    ),
    key(
        "store.durability",
        "power: a commit survives a power cut; process: it survives kill -9",
    ),
    key(
        "model.*.provider",
        "openai (any compatible server), anthropic or demo",
    ),
    key("model.*.base_url", "where the model is served"),
    key("model.*.model", "the model's name there"),
    key(
        "model.*.api_key",
        "its key: { env = \"NAME\" }, { file = \"path\" } or a text",
    ),
    key("model.*.window", "how much it can be shown, in tokens"),
    key(
        "profile.*.model",
        "the model that thinks; the first of the file, or demo",
    ),
    key(
        "profile.*.instructions",
        "what the agent is told about itself",
    ),
    key("profile.*.runner", "what thinks: native, process or acp"),
    key(
        "profile.*.tools",
        "the tools it may use; a profile that names none has none",
    ),
    key(
        "profile.*.busy",
        "a message that comes while a turn runs: queue, steer or interrupt",
    ),
    key(
        "profile.*.state.enable",
        "whether its runner may remember anything",
    ),
    key(
        "profile.*.state.scopes",
        "for whom: conversation, actor, subject, runner",
    ),
    key(
        "profile.*.session.group_per_user",
        "in groups, everybody has a conversation of their own",
    ),
    key(
        "profile.*.session.thread_per_user",
        "in threads of groups, too",
    ),
    key(
        "profile.*.session.reset.mode",
        "when a conversation starts afresh: none, idle, daily or both",
    ),
    key(
        "profile.*.session.reset.idle_minutes",
        "idle: after this long without a message",
    ),
    key(
        "profile.*.session.reset.at_hour",
        "daily: at this hour, from 0 to 23",
    ),
    key("account[].platform", "the chat service"),
    key(
        "account[].name",
        "the account's name, unique on its platform",
    ),
    key(
        "account[].profile",
        "whose account it is; the default profile's",
    ),
    key(
        "account[].token",
        "its credential: { env = \"NAME\" }, { file = \"path\" } or a text",
    ),
    key(
        "account[].api_base",
        "where the platform's API is, if not at its usual place",
    ),
    key(
        "account[].allow",
        "who may talk: stable user ids; \"*\" is everybody",
    ),
    key("account[].strangers", "everybody else: pair or ignore"),
    key("account[].home.chat", "where it speaks when nobody asked"),
    key("account[].home.thread", "in which thread of it"),
    key(
        "route[].platform",
        "the platform of the chat that goes to another profile",
    ),
    key("route[].chat", "the chat"),
    key("route[].thread", "only this thread of it"),
    key("route[].profile", "the profile that answers there"),
    key(
        "compat.hermes_env",
        "children also see their session as HERMES_SESSION_...",
    ),
    key("gateway.max_turns", "how many turns may run at once"),
    key(
        "gateway.turn_timeout_minutes",
        "a turn is ended after this long",
    ),
    key(
        "gateway.no_progress_minutes",
        "a turn is ended when it did nothing for this long",
    ),
    key(
        "gateway.queue_limit",
        "how many messages may wait in one conversation",
    ),
    key(
        "gateway.attempts",
        "how often a message or a part is tried before it is a dead letter",
    ),
    key(
        "gateway.drain_seconds",
        "how long running turns have to end when the gateway stops",
    ),
];

/// What is set from outside the file alone.
pub(crate) const OUTSIDE: &[Key] = &[
    key("home", "the data directory, $TALARIA_HOME"),
    key(
        "file",
        "the configuration file, $TALARIA_CONFIG; without one the defaults hold",
    ),
    key(
        "api_key",
        "one more key with the operator's rights, $TALARIA_API_KEY",
    ),
    key("log", "what is logged, $TALARIA_LOG"),
    key(
        "default_profile",
        "who answers where nothing else is said: the first profile of the file",
    ),
];

/// What may stand below a table: the next steps of all keys that begin so.
pub(crate) fn below(pattern: &str) -> Vec<&'static str> {
    let mut steps: Vec<&str> = KEYS
        .iter()
        .filter_map(|key| rest(key.pattern, pattern))
        .filter_map(|rest| rest.split('.').next())
        .collect();
    steps.dedup();
    steps
}

/// The key that a written one, such as `model.main.provider`, is an instance of.
pub(crate) fn of(written: &str) -> Option<&'static Key> {
    let steps = split(written);
    KEYS.iter().chain(OUTSIDE).find(|key| {
        let pattern: Vec<&str> = key.pattern.split('.').collect();
        let fits = |(step, pattern): (&String, &&str)| {
            *pattern == "*" || generic(step) == *pattern || step == pattern
        };
        pattern.len() == steps.len() && steps.iter().zip(&pattern).all(fits)
    })
}

/// `prefix.step`, with the step in quotes where it is no bare key.
pub(crate) fn join(prefix: &str, step: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let step = if !step.is_empty() && step.chars().all(is_bare) {
        step.to_owned()
    } else {
        format!("{step:?}")
    };
    if prefix.is_empty() {
        step
    } else {
        format!("{prefix}.{step}")
    }
}

fn rest<'k>(key: &'k str, pattern: &str) -> Option<&'k str> {
    if pattern.is_empty() {
        return Some(key);
    }
    key.strip_prefix(pattern)?.strip_prefix('.')
}

/// `account[3]` as the pattern writes it.
fn generic(step: &str) -> String {
    match step.split_once('[') {
        Some((list, index)) if index.ends_with(']') => format!("{list}[]"),
        _ => step.to_owned(),
    }
}

/// The steps of a dotted key; dots in quotes do not count.
fn split(written: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut is_quoted = false;
    for letter in written.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => steps.push(String::new()),
            _ => {
                if let Some(step) = steps.last_mut() {
                    step.push(letter);
                }
            }
        }
    }
    steps
}
