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
        "server.cors_origins",
        "pages of others whose scripts may call with a key: exact origins such as https://app.example.org",
    ),
    key(
        "server.body_limit_mb",
        "how much of a request is read, in megabytes",
    ),
    key(
        "server.header_limit_kb",
        "how much the headers of a request may be, in kilobytes",
    ),
    key(
        "server.header_timeout_seconds",
        "how long the headers of a request may take, and how long a connection may be quiet",
    ),
    key(
        "server.body_timeout_seconds",
        "how long the body of a request may take",
    ),
    key(
        "server.max_connections",
        "how many connections there may be at once",
    ),
    key(
        "server.limits.turns_at_once",
        "how many turns of one key may be under way",
    ),
    key(
        "server.limits.turns_in_a_row",
        "how many turns one key may ask for without a pause",
    ),
    key(
        "server.limits.turns_per_second",
        "how many turns one key may ask for after that",
    ),
    key(
        "server.callbacks.allow",
        "where programs may be called back: the beginnings of addresses such as https://example.org/hooks/",
    ),
    key(
        "server.callbacks.secret",
        "what callbacks are signed with, whsec_...: { env = \"NAME\" }, { file = \"path\" } or a text",
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
    key(
        "profile.*.runner",
        "what thinks: native, or the id of a [[runner]]; process is the only one",
    ),
    key(
        "profile.*.tools",
        "the tools it may use; a profile that names none has none",
    ),
    key(
        "profile.*.approve",
        "the tools that need a person's yes before each call; none, if nothing is said",
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
    key(
        "runner[].id",
        "what an agent outside is called: plugin:AUTHOR/PLUGIN/RUNNER",
    ),
    key("runner[].command", "the program that it is"),
    key("runner[].args", "what the program is given"),
    key(
        "runner[].env",
        "the environment variables that it gets beside those that every child gets, by name",
    ),
    key("runner[].cwd", "where it works"),
    key("runner[].version", "its version, for people"),
    key(
        "runner[].capabilities",
        "what it can do: streaming, tool_calling, knowledge, interrupt, steering, interactions",
    ),
    key(
        "runner[].permissions.models",
        "what it may do with models at most: invoke, stream, rerank, count_tokens",
    ),
    key("runner[].permissions.tools", "with tools: detail, call"),
    key(
        "runner[].permissions.knowledge_bases",
        "with knowledge bases: list, retrieve",
    ),
    key("runner[].permissions.files", "with files: read"),
    key(
        "runner[].permissions.storage",
        "in which stores it may keep something: plugin, workspace",
    ),
    key(
        "runner[].permissions.history",
        "with what was said before: page, search",
    ),
    key("runner[].permissions.events", "with events: get"),
    key("runner[].permissions.interactions", "with people: request"),
    key(
        "binding[].id",
        "what the binding is called; what is remembered under it belongs to this name",
    ),
    key(
        "binding[].profile",
        "for one profile; without a profile and a platform it is for everything",
    ),
    key(
        "binding[].platform",
        "for what comes through an account on this platform",
    ),
    key("binding[].account", "the account's name there"),
    key("binding[].chat", "only in this chat"),
    key("binding[].thread", "only in this thread of it"),
    key(
        "binding[].events",
        "for which events: message, internal.* or *",
    ),
    key(
        "binding[].runner",
        "what thinks there: native, or the id of a [[runner]]",
    ),
    key(
        "binding[].config",
        "what the runner is given, word for word",
    ),
    key("binding[].models", "the models that it may use, by name"),
    key(
        "binding[].tools",
        "the tools that it may use, of those that the profile has",
    ),
    key(
        "binding[].knowledge_bases",
        "the knowledge bases that it may use, by name",
    ),
    key("binding[].files", "whether it may read what people attach"),
    key(
        "binding[].storage",
        "the stores that it may use: plugin, workspace",
    ),
    key("binding[].state.enable", "whether it may remember anything"),
    key(
        "binding[].state.scopes",
        "for whom: conversation, actor, subject, runner",
    ),
    key(
        "binding[].delivery.streaming",
        "whether its answers are shown while they grow",
    ),
    key(
        "binding[].delivery.progress",
        "whether they say what is going on until there is an answer to show",
    ),
    key(
        "binding[].delivery.interactions",
        "whether it may ask people",
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
        "account[].app_token",
        "its second credential, where the platform has one for its connection",
    ),
    key(
        "account[].webhook.secret",
        "what the platform proves itself with when it calls us; without a webhook we call it",
    ),
    key(
        "account[].webhook.url",
        "where the platform finds us, if it has to be told",
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
    key(
        "account[].roles.owner",
        "those who run the gateway, by stable user id: they may do everything",
    ),
    key(
        "account[].roles.admin",
        "those who may do everything, and answer what others are asked",
    ),
    key(
        "account[].roles.member",
        "those who may talk and use everyday commands, like those in allow",
    ),
    key(
        "account[].roles.guest",
        "those who may talk, and stop what they asked for",
    ),
    key(
        "account[].groups.mention",
        "whether something has to be said to the bot where several people are: required or optional",
    ),
    key(
        "account[].groups.allow_chats",
        "chats in which everybody may talk, as a guest",
    ),
    key(
        "account[].groups.threads",
        "follow: no mention is needed in a thread where the bot has answered; mention: it is",
    ),
    key(
        "account[].bots",
        "what other programs write: ignore, mentions (it counts where they mention the bot) or all",
    ),
    key("account[].home.chat", "where it speaks when nobody asked"),
    key("account[].home.thread", "in which thread of it"),
    key(
        "account[].marks",
        "whether messages are marked as seen, answered or failed, where the platform can",
    ),
    key(
        "account[].rate.chat",
        "how many messages a second go to one chat; without it, what the platform usually takes",
    ),
    key(
        "account[].rate.account",
        "how many messages a second go to all chats of the account together; without it, what the platform usually takes",
    ),
    key(
        "route[].platform",
        "the platform of the chat that goes to another profile",
    ),
    key("route[].account", "only through this account"),
    key("route[].chat", "the chat"),
    key("route[].thread", "only this thread of it"),
    key("route[].user", "only what this person says, by stable id"),
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
    key(
        "gateway.zone",
        "the time zone of schedules that name none, such as Europe/Berlin; UTC, if nothing is said",
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
