//! Where a program hears of what ends after its turn: `callback_url` in the body, or the header of that name. Whether it may
//! be called is the operator's decision and is made before the turn is handed in.

use axum::http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};
use talaria_domain::address::Address;

use super::completions::asked;
use super::refusal::Refusal;
use crate::error::ApiError;
use crate::shared::App;

/// What it is called in the body.
pub(super) const PARAM: &str = "callback_url";
/// What it is called among the headers.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-talaria-callback-url");

/// Where this program wants to be called back, if it does and may.
pub(super) fn of(
    app: &App,
    headers: &HeaderMap,
    body: &Map<String, Value>,
) -> Result<Option<Address>, Refusal> {
    let Some(url) = named(headers, body)? else {
        return Ok(None);
    };
    let Some(place_of) = &app.shared.callback else {
        let why =
            "this gateway calls nobody back: the operator allows addresses in [server.callbacks]";
        return Err(Refusal::callback(why));
    };
    let place = place_of(&url).map_err(|why| Refusal::callback(&format!("{PARAM}: {why}")))?;
    Ok(Some(place))
}

fn named(headers: &HeaderMap, body: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let written = asked::text(body, PARAM)?;
    let Some(header) = headers.get(&HEADER) else {
        return Ok(written);
    };
    let header = String::from_utf8_lossy(header.as_bytes()).into_owned();
    if written.is_some_and(|written| written != header) {
        let why = "expected one address, found another one in X-Talaria-Callback-Url";
        return Err(ApiError::bad(PARAM, why).into());
    }
    Ok(Some(header))
}

#[cfg(test)]
mod tests;
