//! Why a program was not answered: the one shape of every refusal, with the codes that programs decide by. Once a turn
//! has begun its failure is not for a client to repeat by itself: tools may have run.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use talaria_store::StoreError;

use super::turn::standing::{End, Over};
use crate::error::ApiError;

/// OpenAI's clients ask it before they try again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

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
        status: StatusCode,
        code: &'static str,
        message: String,
    },
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

    /// Why a turn that is over gave no answer; none if it did.
    pub(super) fn of(over: &Over) -> Option<Self> {
        let (status, code) = match over.end {
            End::Completed => return None,
            End::Failed => (StatusCode::BAD_GATEWAY, "run_failed"),
            End::Cancelled => (StatusCode::CONFLICT, "run_cancelled"),
            End::Interrupted => (StatusCode::SERVICE_UNAVAILABLE, "run_interrupted"),
        };
        Some(Self::Unanswered {
            status,
            code,
            message: over.reason.clone(),
        })
    }

    /// The gateway goes away before the turn has ended.
    pub(super) fn stopping() -> Self {
        Self::Unanswered {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code: "run_interrupted",
            message: "the gateway stopped before the turn ended".to_owned(),
        }
    }

    const fn status(&self) -> StatusCode {
        match self {
            // Its own response says it.
            Self::Usual(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::UnknownModel { .. } => StatusCode::NOT_FOUND,
            Self::Unsupported { .. } => StatusCode::BAD_REQUEST,
            Self::Later { status, .. } | Self::Unanswered { status, .. } => *status,
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
            Self::Later { status, code, .. } => {
                let is_rate = status.as_u16() == StatusCode::TOO_MANY_REQUESTS.as_u16();
                let class = if is_rate {
                    "rate_limit_error"
                } else {
                    "invalid_request_error"
                };
                (class, None, *code)
            }
            Self::Unanswered { code, .. } => ("api_error", None, *code),
        };
        json!({ "error": { "message": self.to_string(), "type": class, "param": param, "code": code } })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = self.body();
        let status = self.status();
        let hint = match self {
            Self::Usual(usual) => return usual.into_response(),
            Self::Later { seconds, .. } => Some((header::RETRY_AFTER, HeaderValue::from(seconds))),
            Self::Unanswered { .. } => Some((SHOULD_RETRY, HeaderValue::from_static("false"))),
            Self::UnknownModel { .. } | Self::Unsupported { .. } => None,
        };
        let mut response = (status, Json(body)).into_response();
        response.headers_mut().extend(hint);
        response
    }
}
