//! Pages of others that the operator lets in: what their browser has to be told, so that their scripts may ask and read.
//! They use a key like any program; what a browser keeps for our own page is not theirs, and is taken off at the door.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

const METHODS: &str = "GET, POST, PATCH, DELETE";

/// What programs usually say about themselves.
const USUAL: &str = "authorization, content-type, idempotency-key, last-event-id, x-request-id, \
                     x-talaria-callback-url, x-talaria-profile, x-talaria-session-id";

/// What of an answer's headers a script may read.
const READABLE: &str = "retry-after, x-request-id, x-should-retry, x-talaria-session-id";

/// For how many seconds a browser need not ask again.
const REMEMBERED: &str = "600";

/// Somebody else's page that is let in.
pub(crate) struct Guest {
    origin: Option<HeaderValue>,
}

impl Guest {
    /// The page that a request comes from; its cookies do not count.
    pub(crate) fn of(request: &mut Request) -> Self {
        let headers = request.headers_mut();
        headers.remove(header::COOKIE);
        let origin = headers.get(header::ORIGIN).cloned();
        Self { origin }
    }

    /// Lets its scripts read an answer.
    pub(crate) fn allow(self, response: &mut Response) {
        let told = response.headers_mut();
        if let Some(origin) = self.origin {
            told.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        tell(told, header::ACCESS_CONTROL_EXPOSE_HEADERS, READABLE);
        tell(told, header::VARY, "origin");
    }
}

/// The answer to a browser that asks whether it may ask.
pub(crate) fn asks_first(request: &Request) -> Option<Response> {
    let headers = request.headers();
    let is_question = request.method() == Method::OPTIONS
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    is_question.then(|| {
        let mut response = StatusCode::NO_CONTENT.into_response();
        // Whatever it wants to say: its key decides, not its headers.
        let wanted = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        let wanted = wanted.unwrap_or(HeaderValue::from_static(USUAL));
        let told = response.headers_mut();
        tell(told, header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        tell(told, header::ACCESS_CONTROL_MAX_AGE, REMEMBERED);
        told.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
        response
    })
}

fn tell(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
