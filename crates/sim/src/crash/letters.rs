//! Pure: what the gateway lists as given up, and whether a message that nobody answered is among it. A letter speaks for
//! a message only if it is about that very message: its words, in its chat, on its account.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// A dead letter, as far as a person who misses an answer asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Letter {
    account: String,
    chat: String,
    text: String,
}

/// A message, by what is unique in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked<'a> {
    /// The account that it was written to.
    pub(super) account: &'a str,
    /// The chat.
    pub(super) chat: &'a str,
    /// Its word.
    pub(super) word: &'a str,
}

impl Letter {
    /// The letter about this event or part, from the trace of it.
    pub(super) fn about(thing: &str, trace: &Value) -> Option<Self> {
        let event = &trace["event"];
        if event["id"] == thing {
            return Self::to(&event["address"], &event["content"]["text"]);
        }
        let replies = trace["replies"].as_array()?;
        replies.iter().find_map(|reply| {
            let mut parts = reply["parts"].as_array()?.iter();
            let part = parts.find(|part| part["id"] == thing)?;
            Self::to(&reply["to"], &part["body"]["markdown"])
        })
    }

    fn to(address: &Value, text: &Value) -> Option<Self> {
        Some(Self {
            account: address["account"].as_str()?.to_owned(),
            chat: address["chat"].as_str()?.to_owned(),
            text: text.as_str()?.to_owned(),
        })
    }

    fn speaks_for(&self, marked: Marked<'_>) -> bool {
        self.account == marked.account
            && self.chat == marked.chat
            && self.text.split_whitespace().any(|word| word == marked.word)
    }
}

/// Whether it is told of a message why it has no answer.
pub(super) fn is_told(letters: &[Letter], marked: Marked<'_>) -> bool {
    letters.iter().any(|letter| letter.speaks_for(marked))
}
