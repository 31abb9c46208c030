//! The commands that a platform can offer in a menu of its own: what the gateway understands, with a line for people.
//!
//! Pure: a table.

/// Every command, without the slash, and what it does.
pub const COMMANDS: &[(&str, &str)] = &[
    ("help", "What I understand"),
    ("new", "Start a new conversation"),
    ("resume", "Go on with an earlier conversation"),
    ("branch", "Go on in a copy of this conversation"),
    ("title", "Name this conversation"),
    ("sessions", "Your conversations"),
    ("undo", "Forget the last turn"),
    ("retry", "Do the last turn again"),
    ("stop", "Stop what I am doing"),
    ("queue", "Say this after the current turn"),
    ("steer", "Tell the current turn"),
    ("interrupt", "Stop the current turn for each new message"),
    (
        "background",
        "Do this in the background and post the result here",
    ),
    ("jobs", "What is done in the background"),
    ("approve", "Yes, do what I asked you about"),
    ("deny", "No, do not"),
    ("answer", "The answer to what I asked you"),
    ("status", "What is going on"),
    ("whoami", "Who I think you are"),
    ("trace", "What happened to a message"),
];
