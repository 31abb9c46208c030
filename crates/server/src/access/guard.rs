//! Stands before a handler: finds out who asks, and whether they may.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::cookie;
use super::keys::{Caller, Scope, holder};
use crate::error::ApiError;
use crate::shared::App;

/// A handler that is called only for whoever has the scope. Not a layer around its route: that would be a copy of the
/// route for every request.
#[derive(Clone)]
pub(crate) struct Guarded<H> {
    pub(crate) scope: Scope,
    pub(crate) handler: H,
}

impl<H, T> Handler<T, Arc<App>> for Guarded<H>
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: Arc<App>) -> Self::Future {
        Box::pin(async move { self.guard(request, app).await.into_response() })
    }
}

impl<H> Guarded<H> {
    async fn guard<T>(self, mut request: Request, app: Arc<App>) -> Result<Response, ApiError>
    where
        H: Handler<T, Arc<App>>,
    {
        let caller = admit(&app, request.headers(), self.scope).await?;
        let gone = caller.gone.clone();
        request.extensions_mut().insert(caller);
        let handling = self.handler.call(request, app);
        let Some(gone) = gone else {
            return Ok(handling.await);
        };
        // What is done is answered first: a key may take itself back.
        let response = tokio::select! {
            biased;
            response = handling => response,
            () = gone.cancelled() => return Err(ApiError::Unauthorized),
        };
        Ok(if is_stream(&response) {
            response.map(|body| until(gone, body))
        } else {
            response
        })
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// A stream that ends when the key that opened it is taken back.
fn until(gone: CancellationToken, body: Body) -> Body {
    let stream = body.into_data_stream();
    Body::from_stream(stream.take_until(gone.cancelled_owned()))
}

/// Who asks, if they have the scope.
pub(crate) async fn admit(
    app: &App,
    headers: &HeaderMap,
    scope: Scope,
) -> Result<Caller, ApiError> {
    let caller = who(app, headers).await?.ok_or(ApiError::Unauthorized)?;
    if caller.may(scope) {
        return Ok(caller);
    }
    let message = "this key is for conversations only".to_owned();
    Err(ApiError::Forbidden { message })
}

/// Who asks. A key that is wrong is not made good by a cookie.
async fn who(app: &App, headers: &HeaderMap) -> Result<Option<Caller>, ApiError> {
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let Some(key) = authorization.to_str().ok().and_then(bearer) else {
            return Ok(None);
        };
        let known = (&app.shared.ledger, &app.ring);
        return Ok(holder(&app.known, known, key, app.now()).await?);
    }
    Ok(has_cookie(app, headers).then(|| app.known.operator.clone()))
}

fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, key) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// Whether a browser is logged in.
pub(crate) fn has_cookie(app: &App, headers: &HeaderMap) -> bool {
    let mut cookies = headers.get_all(header::COOKIE).iter();
    let now = app.now();
    cookies.any(|cookie| {
        let text = cookie.to_str().unwrap_or_default();
        cookie::is_valid(&app.known.cookie, now, text)
    })
}

/// Taken from what the guard found out: a route that forgot its guard has no caller and answers nobody.
impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.remove::<Self>();
        caller.ok_or(ApiError::Unauthorized)
    }
}
