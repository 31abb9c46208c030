//! What callers get: JSON, written into one buffer that has room for most answers. The framework's own way asks for room at
//! every comma, which is most of what a short answer costs.

use std::io;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::error::ApiError;

/// How many bytes most answers have at most.
const USUAL: usize = 1024;

/// An answer with this in it.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let mut text = Vec::with_capacity(USUAL);
    if let Err(error) = write(&mut text, value) {
        return ApiError::broken(&error).into_response();
    }
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Writes a value at the end of a text. JSON has no line breaks.
pub(crate) fn write(text: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(Signs(text), value)
}

/// Most of what is written is single signs: quotes, colons, commas. Pushing one is a fraction of appending a slice.
struct Signs<'a>(&'a mut Vec<u8>);

impl io::Write for Signs<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [sign] => self.0.push(*sign),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
