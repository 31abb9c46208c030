//! What people can type on every surface, as platforms with a menu of commands show it. What a command does is decided
//! in intake; here are only the names and one line about each.

/// The commands: the name without the slash, and what it does.
pub const COMMANDS: &[(&str, &str)] = &[
    ("help", "What you can say here"),
    ("new", "Start a new conversation"),
    ("resume", "Go back to an earlier conversation"),
    ("branch", "Go on from here in a copy"),
    ("title", "Give the conversation a name"),
    ("sessions", "Your conversations"),
    ("undo", "Take the last exchange back"),
    ("retry", "Answer the last message again"),
    ("compress", "Make the conversation shorter"),
    ("stop", "Stop what is running"),
    ("queue", "Say it after the current answer"),
    ("steer", "Say it into the current answer"),
    ("background", "Do it beside the conversation"),
    ("status", "What is going on"),
    ("jobs", "What runs in the background"),
    ("handoff", "Go on in another place"),
    ("approve", "Yes"),
    ("deny", "No"),
    ("model", "The model that answers"),
    ("whoami", "Who you are here"),
    ("sethome", "Make this the place for news"),
    ("kanban", "The board"),
    ("schedule", "What happens at its time"),
    ("trace", "The life of a message"),
];
