//! Why a program was not answered: the one shape of every refusal, with the codes that programs decide by. Once a turn
//! has begun its failure is not for a client to repeat by itself: tools may have run.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use talaria_domain::run::FailureCode;
use talaria_store::StoreError;

use super::turn::standing::{End, Over};
use crate::error::ApiError;

#[cfg(test)]
mod tests;

/// OpenAI's clients ask it before they try again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// How soon to come back to a conversation in which too many wait.
const QUEUE_PAUSE: u64 = 5;

/// Why a program was not answered as it asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// As everywhere.
    #[error(transparent)]
    Usual(#[from] ApiError),
    /// No profile is called so.
    #[error("there is no model {model:?} here: GET /v1/models lists them")]
    UnknownModel { model: String },
    /// Understood, and not done here.
    #[error("{message}")]
    Unsupported { param: String, message: String },
    /// Nobody is called back there.
    #[error("{message}")]
    NotCalledBack { message: String },
    /// The same may work after a while.
    #[error("{message}")]
    Later {
        status: StatusCode,
        code: &'static str,
        message: String,
        seconds: u64,
    },
    /// The turn ended without an answer.
    #[error("{message}")]
    Unanswered {
        class: Class,
        message: String,
        /// When to come back, if that is known.
        seconds: Option<u64>,
    },
}

/// What an end without an answer is to programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    status: StatusCode,
    /// Its type, which says who has to do something about it.
    kind: &'static str,
    code: &'static str,
    /// What is told instead of the reason: what a model's server says is for the operator.
    words: Option<&'static str>,
}

const CANCELLED: Class = Class::ours(StatusCode::CONFLICT, "run_cancelled");
const INTERRUPTED: Class = Class::ours(StatusCode::SERVICE_UNAVAILABLE, "run_interrupted");

impl Class {
    /// The reason is ours, and is told.
    const fn ours(status: StatusCode, code: &'static str) -> Self {
        let kind = match status {
            StatusCode::BAD_REQUEST => "invalid_request_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            _ => "api_error",
        };
        Self {
            status,
            kind,
            code,
            words: None,
        }
    }

    /// The reason may have words of a model's server in it.
    const fn theirs(status: StatusCode, code: &'static str, words: &'static str) -> Self {
        let words = Some(words);
        Self {
            words,
            ..Self::ours(status, code)
        }
    }

    /// The one table of failures.
    const fn of(code: FailureCode) -> Self {
        use StatusCode as S;
        match code {
            FailureCode::ModelUnreachable => Self::theirs(
                S::BAD_GATEWAY,
                "model_unreachable",
                "the model could not be reached, or broke while it answered",
            ),
            FailureCode::ModelOverloaded => Self::theirs(
                S::TOO_MANY_REQUESTS,
                "model_overloaded",
                "the model has too much to do: ask again later",
            ),
            FailureCode::ModelRefused => Self::theirs(
                S::BAD_GATEWAY,
                "model_refused",
                "the model refused what it was asked; the gateway's operator finds its words in the run's trace",
            ),
            FailureCode::ModelAuth => Self::theirs(
                S::BAD_GATEWAY,
                "model_auth",
                "the model does not accept the gateway's key: its operator has to set another one",
            ),
            FailureCode::ModelUnreadable => Self::theirs(
                S::BAD_GATEWAY,
                "model_unreadable",
                "the model sent something that is not an answer",
            ),
            FailureCode::ModelMisconfigured => Self::theirs(
                S::BAD_GATEWAY,
                "model_misconfigured",
                "the model cannot be asked: the gateway's operator has to correct its settings",
            ),
            FailureCode::ContextTooLong => Self::theirs(
                S::BAD_REQUEST,
                "context_length_exceeded",
                "the conversation is too long for the model: send less of it",
            ),
            FailureCode::Timeout => {
                Self::theirs(S::GATEWAY_TIMEOUT, "timeout", "the turn took too long")
            }
            FailureCode::Unsupported => Self::ours(S::BAD_REQUEST, "unsupported_parameter"),
            FailureCode::OutputLimit => Self::ours(S::BAD_REQUEST, "output_limit_reached"),
            FailureCode::Withheld => Self::ours(S::BAD_REQUEST, "content_filter"),
            FailureCode::NoProgress => Self::ours(S::GATEWAY_TIMEOUT, "no_progress"),
            FailureCode::ToolLoop => Self::ours(S::INTERNAL_SERVER_ERROR, "tool_loop"),
            FailureCode::AttemptsExhausted => {
                Self::ours(S::INTERNAL_SERVER_ERROR, "attempts_exhausted")
            }
            FailureCode::Internal => Self::ours(S::INTERNAL_SERVER_ERROR, "internal"),
            FailureCode::Other => Self::ours(S::BAD_GATEWAY, "run_failed"),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Usual(error.into())
    }
}

impl Refusal {
    pub(super) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Self::Unsupported {
            param: param.to_owned(),
            message: message.into(),
        }
    }

    /// The operator does not allow this callback.
    pub(super) fn callback(why: &str) -> Self {
        let message = why.to_owned();
        Self::NotCalledBack { message }
    }

    /// Why a turn that is over gave no answer; none if it did.
    pub(super) fn of(over: &Over) -> Option<Self> {
        let class = match over.end {
            End::Completed(_) => return None,
            End::Failed(code) => Class::of(code),
            End::Cancelled => CANCELLED,
            End::Interrupted => INTERRUPTED,
        };
        Some(Self::Unanswered {
            class,
            message: class.words.unwrap_or(&over.reason).to_owned(),
            seconds: over.retry_after_seconds,
        })
    }

    /// Too many wait in the conversation already.
    pub(super) fn queue_full() -> Self {
        Self::Later {
            status: StatusCode::TOO_MANY_REQUESTS,
            code: "queue_full",
            message: "too many turns of this conversation are waiting: ask again later".to_owned(),
            seconds: QUEUE_PAUSE,
        }
    }

    /// The gateway goes away before the turn has ended.
    pub(super) fn stopping() -> Self {
        Self::Unanswered {
            class: INTERRUPTED,
            message: "the gateway stopped before the turn ended".to_owned(),
            seconds: None,
        }
    }

    const fn status(&self) -> StatusCode {
        match self {
            // Its own response says it.
            Self::Usual(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::UnknownModel { .. } => StatusCode::NOT_FOUND,
            Self::Unsupported { .. } | Self::NotCalledBack { .. } => StatusCode::BAD_REQUEST,
            Self::Later { status, .. } => *status,
            Self::Unanswered { class, .. } => class.status,
        }
    }

    /// Its body, for those who are told in the middle of a stream, too.
    pub(super) fn body(&self) -> Value {
        let (class, param, code) = match self {
            // Only what broke inside is met in a stream.
            Self::Usual(_) => ("api_error", None, "broken"),
            Self::UnknownModel { .. } => {
                ("invalid_request_error", Some("model"), "model_not_found")
            }
            Self::Unsupported { param, .. } => (
                "invalid_request_error",
                Some(param.as_str()),
                "unsupported_parameter",
            ),
            Self::NotCalledBack { .. } => (
                "invalid_request_error",
                Some(super::callback::PARAM),
                "callback_not_allowed",
            ),
            Self::Later { status, code, .. } => {
                let is_rate = status.as_u16() == StatusCode::TOO_MANY_REQUESTS.as_u16();
                let class = if is_rate {
                    "rate_limit_error"
                } else {
                    "invalid_request_error"
                };
                (class, None, *code)
            }
            Self::Unanswered { class, .. } => (class.kind, None, class.code),
        };
        json!({ "error": { "message": self.to_string(), "type": class, "param": param, "code": code } })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = self.body();
        let status = self.status();
        let (seconds, has_begun) = match self {
            Self::Usual(usual) => return usual.into_response(),
            Self::Later { seconds, .. } => (Some(seconds), false),
            Self::Unanswered { seconds, .. } => (seconds, true),
            Self::UnknownModel { .. } | Self::Unsupported { .. } | Self::NotCalledBack { .. } => {
                (None, false)
            }
        };
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.extend(seconds.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))));
        headers.extend(has_begun.then(|| (SHOULD_RETRY, HeaderValue::from_static("false"))));
        response
    }
}
