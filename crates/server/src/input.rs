//! What callers send: bodies, query parameters and ids in paths. What does not fit is answered in words that say what
//! was expected, never with a bare status.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;
use talaria_domain::machine::Machine;

use crate::error::ApiError;
use crate::layers;
use crate::shared::App;

/// A JSON body. No body at all means an empty object.
pub(crate) struct Sent<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Sent<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let bytes = layers::read_body(app, request.into_body()).await?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let unfit = |error: serde_json::Error| ApiError::BadInput {
            param: None,
            message: format!("the body is not what was expected: {error}"),
        };
        // A list of values would be read as the fields of a type in their order: nobody means that.
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if first.is_some_and(|first| *first == b'[') {
            return Err(ApiError::BadInput {
                param: None,
                message: "the body is not what was expected: a list, not an object".to_owned(),
            });
        }
        serde_json::from_slice(text).map(Self).map_err(unfit)
    }
}

/// The headers, taken and not copied: nobody else looks at them after.
pub(crate) struct Headers(pub(crate) HeaderMap);

impl<S: Send + Sync> FromRequestParts<S> for Headers {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(std::mem::take(&mut parts.headers)))
    }
}

/// The one id in the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for Named<T>
where
    T::Err: ToString,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let unread = |refused: axum::extract::rejection::PathRejection| ApiError::NotFound {
            message: refused.body_text(),
        };
        let Path(name) = path.map_err(unread)?;
        let unfit = |error: T::Err| ApiError::NotFound {
            message: error.to_string(),
        };
        name.parse().map(Self).map_err(unfit)
    }
}

/// The query parameters of a list.
pub(crate) struct Filters(BTreeMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for Filters {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<BTreeMap<String, String>>::from_request_parts(parts, state).await;
        let unread = |refused: axum::extract::rejection::QueryRejection| ApiError::BadInput {
            param: None,
            message: refused.body_text(),
        };
        query.map(|Query(given)| Self(given)).map_err(unread)
    }
}

/// How many rows a list gives unless it is told, and at most.
const ROWS: (u32, u32) = (50, 200);

impl Filters {
    /// Refuses what this list does not know: a filter that is silently ignored shows the wrong rows.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ApiError> {
        let paging = ["limit", "after"];
        let is_unknown =
            |name: &&String| !known.contains(&name.as_str()) && !paging.contains(&name.as_str());
        let Some(unknown) = self.0.keys().find(is_unknown) else {
            return Ok(());
        };
        let expected: Vec<&str> = known.iter().chain(&paging).copied().collect();
        let expected = expected.join(", ");
        Err(ApiError::bad(
            unknown,
            format!("expected one of {expected}, found {unknown}"),
        ))
    }

    /// At most so many.
    pub(crate) fn limit(&self) -> Result<u32, ApiError> {
        let (usual, most) = ROWS;
        let limit = self.parsed("limit", |text| text.parse().ok(), "a number from 1 to 200")?;
        match limit.unwrap_or(usual) {
            limit if (1..=most).contains(&limit) => Ok(limit),
            limit => Err(ApiError::bad(
                "limit",
                format!("expected a number from 1 to {most}, found {limit}"),
            )),
        }
    }

    /// Only what comes after this one.
    pub(crate) fn after<T: FromStr>(&self) -> Result<Option<T>, ApiError> {
        self.parsed(
            "after",
            |text| text.parse().ok(),
            "the `next` of an earlier page",
        )
    }

    /// Only what is in this state.
    pub(crate) fn state<M: Machine>(&self) -> Result<Option<M>, ApiError> {
        let states: Vec<&str> = M::STATES.iter().map(|state| state.as_str()).collect();
        self.parsed("state", M::parse, &format!("one of {}", states.join(", ")))
    }

    /// Only what belongs to this one.
    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiError> {
        self.parsed(name, |text| text.parse().ok(), "an id")
    }

    fn parsed<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.0.get(name) else {
            return Ok(None);
        };
        let unfit = || ApiError::bad(name, format!("expected {expected}, found {text:?}"));
        parse(text).map(Some).ok_or_else(unfit)
    }
}

/// A stretch of a list as it is answered.
#[derive(Serialize)]
pub(crate) struct Page<T, C> {
    data: Vec<T>,
    next: Option<C>,
}

impl<T, C> Page<T, C> {
    pub(crate) const fn of(rows: Vec<T>, next: Option<C>) -> Self {
        Self { data: rows, next }
    }

    /// From one row more than was asked for, which says whether there are any.
    pub(crate) fn full(mut rows: Vec<T>, limit: u32, cursor: impl Fn(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| is_more).map(cursor);
        Self::of(rows, next)
    }
}
