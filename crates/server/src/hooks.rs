//! Where platforms call us. Nobody has checked who speaks when a call comes here: its account's own adapter does, by a
//! signature that is not optional, before it reads a word. `Host` and `Origin` say nothing about a program.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use talaria_domain::adapter::{HookAnswer, HookCall, Pending};
use talaria_domain::names::{AccountName, PlatformName};

use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::layers;
use crate::shared::App;

/// The path that all calls of platforms begin with.
pub(crate) const PATH: &str = "/hooks/";

/// Who takes calls of platforms.
pub trait Hooks: Send + Sync {
    /// Hands a call to its account's adapter. None if there is no such account, or nobody calls it.
    fn take(
        &self,
        account: (PlatformName, AccountName),
        call: HookCall,
    ) -> Pending<'_, Option<HookAnswer>>;
}

pub(crate) fn routes() -> Routes {
    Routes::new().post("/hooks/{platform}/{account}", take, || {
        Operation::of("A platform calls. Who calls is known by its signature, which each platform has its own way of.")
            .takes_shape(&json!({}))
            .gives_shape(StatusCode::OK, &json!({}))
            .refuses(&[401, 404, 503])
    })
}

async fn take(
    State(app): State<Arc<App>>,
    Path((platform, account)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let body = layers::read_body(&app, body).await?;
    let call = HookCall {
        headers: texts(&parts.headers),
        body,
    };
    let account = (PlatformName::from(platform), AccountName::from(account));
    match app.shared.hooks.take(account, call).await {
        Some(answer) => Ok(written(answer)),
        None => Err(ApiError::NotFound {
            message: "nobody is called here".to_owned(),
        }),
    }
}

/// The headers that are text: no signature is anything else.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| value.to_str().ok().map(ToOwned::to_owned);
    headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect()
}

fn written(answer: HookAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, answer.media_type)], answer.body).into_response()
}
