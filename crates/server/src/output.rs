//! What callers get: JSON, written into one buffer that has room for most answers. The framework's own way asks for room at
//! every comma, which is most of what a short answer costs.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::error::ApiError;

/// How many bytes most answers have at most.
const USUAL: usize = 1024;

/// An answer with this in it.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let text = match talaria_domain::json::bytes(value, USUAL) {
        Ok(text) => text,
        Err(error) => return ApiError::broken(&error).into_response(),
    };
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
