//! What went wrong with one attempt, classified once: by status, by the server's own error object, or by what the
//! reader found.
//!
//! Pure: status and words in, fault out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;

/// What went wrong with one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It may work the next time.
    Passing {
        /// What happened.
        why: String,
        /// When the server says to come back.
        after: Option<Duration>,
    },
    /// The same, because the server has too much to do.
    Busy {
        /// What happened.
        why: String,
        /// When the server says to come back.
        after: Option<Duration>,
    },
    /// The server was silent for so long that asking again would try everybody's patience.
    Silent {
        /// For how long.
        patience: Duration,
    },
    /// Not what this way of talking looks like.
    Unreadable(String),
    /// The request itself is refused.
    Refused(String),
    /// The key is.
    Unauthorized(String),
    /// Nobody was asked: what the operator wrote cannot be used.
    Misconfigured(String),
    /// The model's window is exceeded.
    TooLong(String),
}

impl Fault {
    /// Something that passes.
    pub(super) fn passing(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Passing { why, after: None }
    }

    /// What the server means with an answer that is not a success.
    pub(super) fn of_status(status: u16, body: &str, after: Option<Duration>) -> Self {
        let complaint = Complaint::read(body);
        let why = match complaint.words.as_str() {
            "" => format!("status {status}"),
            words => format!("status {status}: {words}"),
        };
        match status {
            // The words are left out: servers quote the key in them.
            401 => Self::Unauthorized("status 401".to_owned()),
            403 => Self::Unauthorized(why),
            300..=399 => Self::Refused(format!("status {status}, it points to another address")),
            413 => Self::TooLong(why),
            _ if complaint.is_too_long() => Self::TooLong(why),
            _ if complaint.is_out_of_credit() => Self::Refused(why),
            429 | 529 => Self::Busy { why, after },
            408 | 409 | 425 | 500.. => Self::Passing { why, after },
            _ => Self::Refused(why),
        }
    }

    /// What the server means with an error object in the middle of a stream, or in an answer with status 200.
    pub(super) fn of_error(error: &Value) -> Self {
        let complaint = Complaint::of(error);
        let why = complaint.words.clone();
        let status = match complaint.kind.as_str() {
            "authentication_error" => Some(401),
            "permission_error" => Some(403),
            "not_found_error" => Some(404),
            "request_too_large" => Some(413),
            "invalid_request_error" => Some(400),
            "rate_limit_error" | "overloaded_error" => Some(429),
            _ => complaint.status,
        };
        match status {
            Some(401) => Self::Unauthorized("it says so in its answer".to_owned()),
            Some(403) => Self::Unauthorized(why),
            Some(413) => Self::TooLong(why),
            _ if complaint.is_too_long() => Self::TooLong(why),
            _ if complaint.is_out_of_credit() => Self::Refused(why),
            Some(429 | 529) => Self::Busy { why, after: None },
            Some(408 | 409 | 425) => Self::passing(why),
            Some(400..500) => Self::Refused(why),
            _ => Self::passing(why),
        }
    }
}

/// A server's error object in its many shapes.
struct Complaint {
    words: String,
    /// `type` and `code`, whichever names it.
    kind: String,
    code: String,
    status: Option<u16>,
}

impl Complaint {
    fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(value.get("error").unwrap_or(&value)),
            Err(_) => Self::of(&Value::from(first_words(body))),
        }
    }

    fn of(error: &Value) -> Self {
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let words = error
            .as_str()
            .or_else(|| text("message"))
            .or_else(|| text("detail"));
        let detail = error.pointer("/details/error_code").and_then(Value::as_str);
        let status = error.get("code").and_then(Value::as_u64);
        Self {
            words: words.unwrap_or_default().trim().to_owned(),
            kind: text("type").unwrap_or_default().to_owned(),
            code: text("code").or(detail).unwrap_or_default().to_owned(),
            status: status.and_then(|status| u16::try_from(status).ok()),
        }
    }

    /// Servers have a code for it, or only words.
    fn is_too_long(&self) -> bool {
        const WORDS: [&str; 6] = [
            "maximum context length",
            "context length exceeded",
            "prompt is too long",
            "exceed context limit",
            "exceeds the available context size",
            "exceed_context_size",
        ];
        let words = self.words.to_lowercase();
        self.code == "context_length_exceeded"
            || self.kind == "exceed_context_size_error"
            || WORDS.iter().any(|known| words.contains(known))
    }

    /// These come as 429 and do not pass by waiting.
    fn is_out_of_credit(&self) -> bool {
        ["insufficient_quota", "enforced_spend_limit_reached"]
            .iter()
            .any(|known| self.code == *known || self.kind == *known)
    }
}

/// The start of a body that is not JSON, unless it is a page for a browser.
fn first_words(body: &str) -> &str {
    let body = body.trim();
    if body.starts_with('<') { "" } else { body }
}
