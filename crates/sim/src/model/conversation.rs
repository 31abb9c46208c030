//! What a model is asked, as far as it matters here: the last thing a user said, and what a tool said since. Borrowed from
//! the request wherever JSON lets it; the rest of the conversation is read past.
//!
//! Pure: JSON in, the question out.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

/// A request.
#[derive(Debug, Deserialize)]
pub(super) struct Request<'a> {
    #[serde(borrow, default)]
    pub(super) model: Name<'a>,
    #[serde(borrow)]
    pub(super) messages: Question<'a>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    max_tokens: Option<usize>,
    #[serde(default)]
    max_completion_tokens: Option<usize>,
}

impl Request<'_> {
    /// Whether a stream is to end with what it cost.
    pub(super) fn wants_usage(&self) -> bool {
        let options = self.stream_options.as_ref();
        options.is_some_and(|options| options.include_usage)
    }

    /// The most that may be answered, in tokens.
    pub(super) fn most(&self) -> usize {
        let most = self.max_completion_tokens.or(self.max_tokens);
        most.unwrap_or(usize::MAX)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StreamOptions {
    include_usage: bool,
}

/// The name of a model.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Name<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl Default for Name<'_> {
    fn default() -> Self {
        Self(Cow::Borrowed("sim"))
    }
}

/// What is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Question<'a> {
    /// What a user said last.
    pub(super) said: Cow<'a, str>,
    /// What a tool said since.
    pub(super) result: Option<Cow<'a, str>>,
    /// How much was said in all, in bytes.
    pub(super) bytes: usize,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Content<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Question<'a> {
    fn deserialize<D: Deserializer<'de>>(messages: D) -> Result<Self, D::Error> {
        messages.deserialize_seq(Messages)
    }
}

struct Messages;

impl<'de> Visitor<'de> for Messages {
    type Value = Question<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<Question<'de>, A::Error> {
        let mut question = Question::default();
        while let Some(Message { role, content }) = messages.next_element()? {
            let Content(content) = content;
            question.bytes += content.len();
            match &*role {
                "user" => {
                    question.said = content;
                    question.result = None;
                }
                "tool" => question.result = Some(content),
                _ => {}
            }
        }
        Ok(question)
    }
}

/// Words: one text, texts in parts, or null.
#[derive(Debug, Default, PartialEq, Eq)]
struct Content<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(content: D) -> Result<Self, D::Error> {
        content.deserialize_any(Words)
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Content<'de>, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Part<'_>>()? {
            text.push_str(&part.text);
        }
        Ok(Content(Cow::Owned(text)))
    }
}
