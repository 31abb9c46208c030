//! The commands that a platform's own menu shows: what people may type anyway, for those who look before they type.
//!
//! Pure: a list.

/// Every command: its name, and what it does in a few words. The gateway understands the same names as text.
pub const COMMANDS: [(&str, &str); 21] = [
    ("help", "what I understand"),
    ("new", "start a new conversation"),
    ("resume", "go on with an earlier conversation"),
    ("branch", "go on in a copy of this conversation"),
    ("title", "name this conversation"),
    ("sessions", "your conversations"),
    ("undo", "forget the last turn"),
    ("retry", "do the last turn again"),
    ("stop", "stop what I am doing"),
    ("queue", "say this after the current turn"),
    ("steer", "tell the current turn"),
    ("interrupt", "let new messages stop the current turn"),
    ("background", "do this in the background"),
    ("jobs", "what is done in the background"),
    ("schedule", "let something happen at a time"),
    ("approve", "yes, do what I asked you about"),
    ("deny", "no, do not"),
    ("answer", "the answer to what I asked you"),
    ("status", "what is going on"),
    ("whoami", "who I think you are"),
    ("trace", "what happened to a message"),
];
