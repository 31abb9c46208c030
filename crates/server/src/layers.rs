//! What every request and every answer goes through, from the outside in: an id, headers that bind the browser, a net
//! for panics, where the request comes from, and how much of it is read.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures::{FutureExt as _, StreamExt as _};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tracing::Instrument as _;

use crate::access::host::Visit;
use crate::cors;
use crate::error::ApiError;
use crate::hooks;
use crate::shared::App;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A body that is too large is read on so many times as far and so long, so that a caller who is still writing hears why.
const THROWN_AWAY: (usize, Duration) = (4, Duration::from_secs(5));

/// Binds the browser: nothing from elsewhere, in no frame, no guessing of types, no traces in caches.
pub(crate) const BINDING: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
];

/// How many headers most answers have at most.
const HEADERS: usize = 12;

/// The way in: all of it around the routes. As a layer of theirs it would be a box and a copy of the route for every
/// request.
#[derive(Clone)]
pub(crate) struct Front {
    app: Arc<App>,
    routes: TowerToHyperService<Router>,
    /// What every answer begins with.
    binding: Arc<HeaderMap>,
}

impl Front {
    pub(crate) fn of(app: Arc<App>, routes: Router) -> Self {
        let mut binding = HeaderMap::with_capacity(HEADERS);
        binding.extend(BINDING.map(|(name, value)| (name, HeaderValue::from_static(value))));
        Self {
            app,
            routes: TowerToHyperService::new(routes),
            binding: Arc::new(binding),
        }
    }

    /// Answers a request, whatever it is.
    pub(crate) async fn answer(self, request: Request) -> Response {
        let id = request_id(&self.app, request.headers());
        let text = id.as_ref().and_then(|id| id.to_str().ok());
        // Without its query: a one-time login is in one.
        let (method, path) = (request.method(), request.uri().path());
        let span = tracing::info_span!("request", id = text, %method, path);
        let mut response = self.let_in(request).instrument(span).await;
        let mut headers = HeaderMap::clone(&self.binding);
        // What the answer itself says goes before what is said of all.
        headers.extend(std::mem::take(response.headers_mut()));
        if let Some(id) = id {
            headers.insert(REQUEST_ID, id);
        }
        *response.headers_mut() = headers;
        response
    }

    async fn let_in(&self, mut request: Request) -> Response {
        let visit = if request.uri().path().starts_with(hooks::PATH) {
            Ok(Visit::Own)
        } else {
            check_host(&self.app, request.headers())
        };
        let guest = match visit {
            Ok(Visit::Own) => None,
            Ok(Visit::Invited) => Some(cors::Guest::of(&mut request)),
            Err(refused) => return refused.into_response(),
        };
        let asked_first = guest.as_ref().and_then(|_| cors::asks_first(&request));
        let mut response = match asked_first {
            Some(response) => response,
            None => self.attend(request).await,
        };
        if let Some(guest) = guest {
            guest.allow(&mut response);
        }
        response
    }

    async fn attend(&self, request: Request) -> Response {
        let headers = request.headers();
        if length(headers) > self.app.terms.header_limit {
            return ApiError::HeadersTooLarge.into_response();
        }
        let most = self.app.terms.body_limit;
        if is_too_long(headers, most) {
            throw_away(&mut request.into_body().into_data_stream(), most).await;
            return ApiError::TooLarge { most }.into_response();
        }
        let response = catch_panic(self.routes.call(request)).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
}

/// How many bytes the headers have.
fn length(headers: &HeaderMap) -> usize {
    let lengths = headers.iter();
    lengths
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum()
}

/// The request's id: its own if it has one that can be taken, else a new one.
fn request_id(app: &App, headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(&REQUEST_ID).filter(|id| is_sane(id));
    given.cloned().or_else(|| {
        let made = app.shared.ids.next(app.now()).to_string();
        HeaderValue::from_str(&made).ok()
    })
}

fn is_sane(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
}

/// A handler that panics fails its own request and nothing else.
async fn catch_panic(handling: impl Future<Output = Result<Response, Infallible>>) -> Response {
    // What a handler leaves behind is its request; everything it shares is behind locks that survive a panic.
    let answer = AssertUnwindSafe(handling).catch_unwind().await;
    answer.map_or_else(|panic| describe_panic(&*panic), |Ok(response)| response)
}

fn describe_panic(panic: &(dyn Any + Send)) -> Response {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned());
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    let words = words.unwrap_or_else(|| "something without words".to_owned());
    ApiError::broken(&format!("a handler panicked: {words}")).into_response()
}

/// Refuses what a page of somebody else made a browser send.
fn check_host(app: &App, headers: &HeaderMap) -> Result<Visit, ApiError> {
    let origin = headers
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or("null"));
    let refused = |reason: &str| ApiError::Forbidden {
        message: reason.to_owned(),
    };
    app.hosts.decide(the_host(headers), origin).map_err(refused)
}

/// The one `Host`; none if there are several, which means none in particular.
fn the_host(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let first = hosts.next()?;
    hosts
        .next()
        .is_none()
        .then(|| first.to_str().ok())
        .flatten()
}

/// Whether a body says that it is too large, before any handler sees it.
fn is_too_long(headers: &HeaderMap, most: usize) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    length.is_some_and(|length| length > most)
}

/// All of a body that is not too large, and does not take too long.
pub(crate) async fn read_body(app: &App, body: Body) -> Result<Vec<u8>, ApiError> {
    let reading = read_up_to(app.terms.body_limit, body);
    let read = tokio::time::timeout(app.terms.body_time, reading).await;
    read.unwrap_or(Err(ApiError::TooSlow))
}

async fn read_up_to(most: usize, body: Body) -> Result<Vec<u8>, ApiError> {
    let mut stream = body.into_data_stream();
    let mut read = Vec::new();
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(|_| ApiError::BadInput {
            param: None,
            message: "the body could not be read to its end".to_owned(),
        })?;
        if read.len() + bytes.len() > most {
            throw_away(&mut stream, most).await;
            return Err(ApiError::TooLarge { most });
        }
        read.extend_from_slice(&bytes);
    }
    Ok(read)
}

async fn throw_away(stream: &mut BodyDataStream, most: usize) {
    let (times, longest) = THROWN_AWAY;
    let reading = async {
        let mut left = most.saturating_mul(times);
        while let Some(Ok(bytes)) = stream.next().await {
            let Some(less) = left.checked_sub(bytes.len()) else {
                return;
            };
            left = less;
        }
    };
    // It took too long: whoever sends that slowly hears of it when the connection closes.
    tokio::time::timeout(longest, reading)
        .await
        .unwrap_or_default();
}
