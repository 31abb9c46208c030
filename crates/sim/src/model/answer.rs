//! An answer as chat completions write it, whole or as a stream. A stream is one buffer that its pieces are cut from.
//!
//! Pure: what is said in, bytes out.

#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::time::Duration;

use serde::Serialize;

const CREATED: u64 = 1_700_000_000;
const BYTES_PER_TOKEN: usize = 4;
/// What a piece needs around its text.
const DRESS: usize = 192;

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long is waited before each piece.
    pub delay: Duration,
    /// How many pieces a stream has.
    pub pieces: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            pieces: 4,
        }
    }
}

/// What is answered.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spoken<'a> {
    /// Words.
    Text(&'a str),
    /// The start of longer ones.
    Cut(&'a str),
    /// A call of the terminal.
    Call(&'a str),
}

/// What stands in every answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    /// The answer's number on this server.
    pub(super) number: u64,
    /// The model that was asked for.
    pub(super) model: &'a str,
    /// What the question cost.
    pub(super) prompt_tokens: usize,
}

#[derive(Serialize)]
struct Usage {
    #[serde(rename = "prompt_tokens")]
    asked: usize,
    #[serde(rename = "completion_tokens")]
    answered: usize,
    #[serde(rename = "total_tokens")]
    total: usize,
}

impl<'a> Spoken<'a> {
    /// A text, as far as so many tokens go.
    pub(super) fn within(text: &'a str, most: usize) -> Self {
        if tokens(text.len()) <= most {
            return Self::Text(text);
        }
        let end = text.floor_char_boundary(most.saturating_mul(BYTES_PER_TOKEN));
        Self::Cut(text.get(..end).unwrap_or_default())
    }

    fn usage(self, frame: Frame<'_>) -> Usage {
        let (Self::Text(text) | Self::Cut(text) | Self::Call(text)) = self;
        let (asked, answered) = (frame.prompt_tokens, tokens(text.len()));
        Usage {
            asked,
            answered,
            total: asked + answered,
        }
    }

    const fn finish(self) -> &'static str {
        match self {
            Self::Text(_) => "stop",
            Self::Cut(_) => "length",
            Self::Call(_) => "tool_calls",
        }
    }
}

/// About how many tokens so many bytes are.
pub(super) const fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// The answer in one.
pub(super) fn whole(frame: Frame<'_>, spoken: Spoken<'_>) -> Vec<u8> {
    let mut out = Buffer::default();
    out.text(r#"{"id":"chatcmpl-"#);
    out.number(frame.number);
    out.text(r#"","object":"chat.completion","created":"#);
    out.number(CREATED);
    out.text(r#","model":"#);
    out.json(frame.model);
    out.text(r#","choices":[{"index":0,"message":{"role":"assistant","content":"#);
    match spoken {
        Spoken::Text(text) | Spoken::Cut(text) => out.json(text),
        Spoken::Call(command) => {
            out.text("null,");
            out.call(frame, command);
        }
    }
    out.text(r#"},"finish_reason":""#);
    out.text(spoken.finish());
    out.text(r#""}],"usage":"#);
    out.json(&spoken.usage(frame));
    out.text("}");
    out.0
}

/// The answer as a stream of so many pieces, the last of which says why it ended and, if wanted, what it cost.
pub(super) fn stream(frame: Frame<'_>, spoken: Spoken<'_>, pieces: usize, cost: Cost) -> Streamed {
    let mut head = Buffer::default();
    head.text(r#"data: {"id":"chatcmpl-"#);
    head.number(frame.number);
    head.text(r#"","object":"chat.completion.chunk","created":"#);
    head.number(CREATED);
    head.text(r#","model":"#);
    head.json(frame.model);
    head.text(r#","choices":["#);
    let (Spoken::Text(text) | Spoken::Cut(text) | Spoken::Call(text)) = spoken;
    let room = text.len() + (pieces + 4) * (head.0.len() + DRESS);
    let mut out = Buffer(Vec::with_capacity(room));
    let mut ends = Vec::with_capacity(pieces);
    match spoken {
        Spoken::Text(text) | Spoken::Cut(text) => {
            for piece in cut(text, pieces) {
                let role = if ends.is_empty() {
                    r#""role":"assistant","#
                } else {
                    ""
                };
                out.bytes(&head.0);
                out.text(r#"{"index":0,"delta":{"#);
                out.text(role);
                out.text(r#""content":"#);
                out.json(piece);
                out.text("},\"finish_reason\":null}]}\n\n");
                ends.push(out.0.len());
            }
        }
        Spoken::Call(command) => {
            out.bytes(&head.0);
            out.text(r#"{"index":0,"delta":{"role":"assistant","content":null,"#);
            out.call(frame, command);
            out.text("},\"finish_reason\":null}]}\n\n");
            ends.push(out.0.len());
        }
    }
    out.bytes(&head.0);
    out.text(r#"{"index":0,"delta":{},"finish_reason":""#);
    out.text(spoken.finish());
    out.text("\"}]}\n\n");
    if cost == Cost::Told {
        out.bytes(&head.0);
        out.text(r#"],"usage":"#);
        out.json(&spoken.usage(frame));
        out.text("}\n\n");
    }
    out.text("data: [DONE]\n\n");
    if let Some(end) = ends.last_mut() {
        *end = out.0.len();
    }
    let bytes = out.0;
    Streamed { bytes, ends }
}

/// A stream in one buffer.
#[derive(Debug)]
pub(super) struct Streamed {
    /// All of it.
    pub(super) bytes: Vec<u8>,
    /// Where each piece ends.
    pub(super) ends: Vec<usize>,
}

/// Whether a stream ends with what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// It does.
    Told,
    /// It does not.
    Untold,
}

/// A text in at most so many pieces of about the same length, at least one, nothing left out.
fn cut(text: &str, pieces: usize) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(pieces.max(1)).max(1);
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let left = rest.take()?;
        let end = left.ceil_char_boundary(size);
        let (piece, after) = left.split_at_checked(end)?;
        rest = Some(after).filter(|after| !after.is_empty());
        Some(piece)
    })
}

#[derive(Default)]
struct Buffer(Vec<u8>);

impl Buffer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        // Writing to memory cannot fail.
        write!(self.0, "{number}").unwrap_or_default();
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Texts and numbers can always be written.
        serde_json::to_writer(&mut self.0, value).unwrap_or_default();
    }

    /// The calls, with the command in JSON in a text in JSON.
    fn call(&mut self, frame: Frame<'_>, command: &str) {
        let mut arguments = Self::default();
        arguments.text(r#"{"command":"#);
        arguments.json(command);
        arguments.text("}");
        self.text(r#""tool_calls":[{"index":0,"id":"call_"#);
        self.number(frame.number);
        self.text(r#"","type":"function","function":{"name":"terminal","arguments":"#);
        self.json(&*String::from_utf8_lossy(&arguments.0));
        self.text("}}]");
    }
}
