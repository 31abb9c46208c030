//! `GET /`: the page, and the way in. Everything the page needs is in the one document; nothing is loaded from elsewhere,
//! and only what carries this answer's nonce is run or styled.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;

use crate::access::entropy::token;
use crate::access::guard::has_cookie;
use crate::access::{cookie, login};
use crate::error::ApiError;
use crate::shared::App;

/// Stands for the nonce in the documents.
const NONCE: &str = "{{nonce}}";

/// The page as one document, without what only its readers in the source need: indentation and comments.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    squeeze(include_str!("web/page.html"))
        .replace("{{style}}", &squeeze(include_str!("web/page.css")))
        .replace("{{script}}", &squeeze(include_str!("web/page.js")))
});

fn squeeze(source: &str) -> String {
    let is_comment = |line: &&str| line.starts_with("//") || line.starts_with("/**");
    let lines = source
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| !is_comment(line)).collect();
    lines.join("\n")
}

/// Says how to get in.
const DOOR: &str = include_str!("web/door.html");

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(page))
}

#[derive(Deserialize)]
struct Entry {
    login: Option<String>,
}

async fn page(
    State(app): State<Arc<App>>,
    Query(entry): Query<Entry>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_in = has_cookie(&app, &headers);
    match entry.login {
        Some(login) => enter(&app, &login, is_in).await,
        None if is_in => document(StatusCode::OK, &PAGE),
        None => document(StatusCode::UNAUTHORIZED, DOOR),
    }
}

/// Uses a one-time login up. The link does not stay in the address bar.
async fn enter(app: &App, login: &str, is_in: bool) -> Result<Response, ApiError> {
    let now = app.now();
    if login::redeem(&app.shared.ledger, login, now).await? {
        let nonce = token::<16>().map_err(|error| ApiError::broken(&error))?;
        let cookie = cookie::set(&app.known.cookie, now, &nonce, app.hosts.is_secure());
        return Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response());
    }
    if is_in {
        return Ok(Redirect::to("/").into_response());
    }
    document(StatusCode::UNAUTHORIZED, DOOR)
}

fn document(status: StatusCode, text: &str) -> Result<Response, ApiError> {
    let nonce = token::<16>().map_err(|error| ApiError::broken(&error))?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let page = Html(text.replace(NONCE, &nonce));
    Ok((status, [(header::CONTENT_SECURITY_POLICY, policy)], page).into_response())
}

#[cfg(test)]
mod tests;
