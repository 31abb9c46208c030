//! What is a command. Pure: a text in, a decision out.
//!
//! `/stop`, `/stop@bot` and `@bot /stop` are the same command, in any case. A path or a fraction is not a command, and
//! neither is something that was said to another bot.

use talaria_domain::address::ChatKind;
use talaria_domain::event::{Content, Mention};

/// Every command: its name and what it does, for `/help`.
pub const COMMANDS: [(&str, &str); 21] = [
    ("help", "what I understand"),
    ("new", "start a new conversation"),
    ("resume", "[ID] go on with an earlier conversation"),
    ("branch", "[TITLE] go on in a copy of this conversation"),
    ("title", "[TEXT] name this conversation"),
    ("sessions", "your conversations"),
    ("undo", "forget the last turn"),
    ("retry", "do the last turn again"),
    ("stop", "stop what I am doing"),
    (
        "queue",
        "[TEXT] say this after the current turn; alone: always do so here",
    ),
    (
        "steer",
        "[TEXT] tell the current turn; alone: always do so here",
    ),
    (
        "interrupt",
        "always stop the current turn for a new message here",
    ),
    (
        "background",
        "[TEXT] do this in the background; the result is posted here",
    ),
    ("jobs", "what is done in the background"),
    (
        "schedule",
        "[add WHEN say|ask TEXT] let something happen at a time; alone: what is planned here",
    ),
    ("approve", "[CODE] yes, do what I asked you about"),
    ("deny", "[CODE] no, do not"),
    ("answer", "[CODE] the answer to what I asked you"),
    ("status", "what is going on"),
    ("whoami", "who I think you are"),
    ("trace", "[ID] what happened to a message"),
];

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// A command.
    Command {
        /// Its name, in lower case.
        name: String,
        /// The rest of the line.
        arguments: String,
    },
    /// Something to think about.
    Text,
}

/// What was said in a chat of this kind.
pub fn parse(content: &Content, chat: ChatKind) -> Parsed {
    let is_for_us = chat == ChatKind::Direct || content.mention != Mention::Absent;
    let text = content.text.trim();
    let text = strip_mention(text, is_for_us);
    let Some(rest) = text.strip_prefix('/') else {
        return Parsed::Text;
    };
    let (word, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, bot) = word
        .split_once('@')
        .map_or((word, None), |(name, bot)| (name, Some(bot)));
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word || (bot.is_some() && !is_for_us) {
        return Parsed::Text;
    }
    let name = name.to_ascii_lowercase();
    let is_known = COMMANDS.iter().any(|(known, _)| *known == name);
    // A lone word that is not known is a mistake to be told about; with more behind it, it may be prose.
    if !is_known && !arguments.is_empty() {
        return Parsed::Text;
    }
    Parsed::Command {
        name,
        arguments: arguments.trim().to_owned(),
    }
}

/// Without a mention in front of a slash.
fn strip_mention(text: &str, is_for_us: bool) -> &str {
    let after = text
        .strip_prefix('@')
        .and_then(|rest| rest.split_once(char::is_whitespace))
        .map(|(_, rest)| rest.trim_start())
        .filter(|rest| rest.starts_with('/') && is_for_us);
    after.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    //! A table of what people type.

    use super::*;

    fn said(text: &str, mention: Mention) -> Content {
        Content {
            text: text.to_owned(),
            mention,
            ..Content::default()
        }
    }

    fn command(name: &str, arguments: &str) -> Parsed {
        Parsed::Command {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn commands_in_direct_chats() {
        let table = [
            ("/stop", command("stop", "")),
            ("/STOP", command("stop", "")),
            ("  /stop  ", command("stop", "")),
            ("/stop@bot", command("stop", "")),
            ("@bot /stop", command("stop", "")),
            ("@bot   /stop", command("stop", "")),
            ("/title a good name", command("title", "a good name")),
            (
                "/queue\nline one\nline two",
                command("queue", "line one\nline two"),
            ),
            ("/nonsense", command("nonsense", "")),
            ("/nonsense is what this is", Parsed::Text),
            ("/usr/bin/env is missing", Parsed::Text),
            ("/usr/bin", Parsed::Text),
            ("/", Parsed::Text),
            ("/ stop", Parsed::Text),
            ("stop", Parsed::Text),
            ("please /stop", Parsed::Text),
            ("@bot stop", Parsed::Text),
            ("", Parsed::Text),
            ("/стоп", Parsed::Text),
        ];
        for (text, expected) in table {
            assert_eq!(
                parse(&said(text, Mention::Absent), ChatKind::Direct),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn in_groups_what_is_said_to_another_bot_is_not_for_us() {
        let table = [
            ("/stop", Mention::Absent, command("stop", "")),
            ("/stop@other", Mention::Absent, Parsed::Text),
            ("/stop@us", Mention::Direct, command("stop", "")),
            ("@other /stop", Mention::Absent, Parsed::Text),
            ("@us /stop", Mention::Direct, command("stop", "")),
        ];
        for (text, mention, expected) in table {
            assert_eq!(
                parse(&said(text, mention), ChatKind::Group),
                expected,
                "{text:?}"
            );
        }
    }
}
