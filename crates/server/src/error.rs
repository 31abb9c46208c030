//! The one shape of every refusal: `{"error":{"message","type","param","code"}}` with a fitting status. What went wrong
//! inside is logged here, once, and never told to the caller.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use talaria_store::StoreError;

/// Why a request was not answered as it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// Something else has to be sent.
    #[error("{message}")]
    BadInput {
        param: Option<String>,
        message: String,
    },
    /// Nobody we know.
    #[error("a valid key is needed: send it as `Authorization: Bearer KEY`")]
    Unauthorized,
    /// Somebody we know, who may not.
    #[error("{message}")]
    Forbidden { message: String },
    /// There is no such thing, or not for this caller.
    #[error("{message}")]
    NotFound { message: String },
    /// There is one, and it does something else.
    #[error("this path does not take this method")]
    MethodNotAllowed,
    /// Somebody else was there first, or it is too late.
    #[error("{message}")]
    Conflict { message: String },
    /// More than we read.
    #[error("the request is larger than {most} bytes")]
    TooLarge { most: usize },
    /// More than belongs there.
    #[error("the headers of the request are too large")]
    HeadersTooLarge,
    /// Longer than we wait.
    #[error("the request took too long to arrive")]
    TooSlow,
    /// Not now: the same may work later.
    #[error("the gateway cannot do this right now, try again")]
    Unavailable { cause: String },
    /// A defect of ours.
    #[error("this broke inside the gateway; its log says how, under this request's id")]
    Broken { cause: String },
}

impl ApiError {
    pub(crate) fn bad(param: &str, message: impl Into<String>) -> Self {
        Self::BadInput {
            param: Some(param.to_owned()),
            message: message.into(),
        }
    }

    pub(crate) fn broken(cause: &impl ToString) -> Self {
        let cause = cause.to_string();
        Self::Broken { cause }
    }

    const fn status(&self) -> StatusCode {
        match self {
            Self::BadInput { .. } => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } => StatusCode::FORBIDDEN,
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Its type, which says who has to do something about it, and its code.
    const fn class(&self) -> (&'static str, &'static str) {
        match self {
            Self::BadInput { .. } => ("invalid_request_error", "bad_input"),
            Self::Unauthorized => ("authentication_error", "unauthorized"),
            Self::Forbidden { .. } => ("permission_error", "forbidden"),
            Self::NotFound { .. } => ("invalid_request_error", "not_found"),
            Self::MethodNotAllowed => ("invalid_request_error", "method_not_allowed"),
            Self::Conflict { .. } => ("invalid_request_error", "conflict"),
            Self::TooLarge { .. } | Self::HeadersTooLarge => ("invalid_request_error", "too_large"),
            Self::TooSlow => ("invalid_request_error", "too_slow"),
            Self::Unavailable { .. } => ("api_error", "unavailable"),
            Self::Broken { .. } => ("api_error", "broken"),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { .. } => Self::NotFound { message: text },
            StoreError::Conflict(_) => Self::Conflict { message: text },
            StoreError::Retry { .. }
            | StoreError::Uncertain { .. }
            | StoreError::Refuse(_)
            | StoreError::Closed => Self::Unavailable { cause: text },
            StoreError::Unreadable { .. } | StoreError::Broken { .. } => {
                Self::Broken { cause: text }
            }
        }
    }
}

#[derive(Serialize)]
struct Shape {
    error: Refusal,
}

#[derive(Serialize)]
struct Refusal {
    message: String,
    #[serde(rename = "type")]
    class: &'static str,
    param: Option<String>,
    code: &'static str,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Unavailable { cause } | Self::Broken { cause } = &self {
            tracing::warn!(%cause, "request failed");
        }
        let (status, message, (class, code)) = (self.status(), self.to_string(), self.class());
        let param = match self {
            Self::BadInput { param, .. } => param,
            _ => None,
        };
        let error = Refusal {
            message,
            class,
            param,
            code,
        };
        let mut response = (status, Json(Shape { error })).into_response();
        if status == StatusCode::REQUEST_TIMEOUT {
            // What is left of it may still come: nothing else can be asked on this connection.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
