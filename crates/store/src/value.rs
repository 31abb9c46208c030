//! What goes into a statement and what comes out of a row: null, integers, text and bytes, and nothing else.
//! Ids, digests, times, states and JSON are read and written here, so that no table module handles raw bytes.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use talaria_domain::address::TargetKey;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Digest;
use talaria_domain::event::DedupeKey;
use talaria_domain::ids::{
    DeadId, EventId, JobId, PartId, QuestionId, ReplyId, RunId, ScheduleId, SessionId,
};
use talaria_domain::json;
use talaria_domain::machine::Machine;
use talaria_domain::names::{ChatId, MessageId, NodeName, RunnerId};
use talaria_domain::principal::PrincipalKey;
use talaria_domain::question::TokenHash;
use talaria_domain::scope::ScopeKey;
use talaria_domain::session_key::SessionKeyId;

use crate::error::{Result, StoreError};

/// A value on its way into or out of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A number, a time.
    Int(i64),
    /// Text, JSON, a state's name.
    Text(&'a str),
    /// An id, a digest.
    Bytes(&'a [u8]),
}

/// The text as both engines can store it: PostgreSQL has no NUL, so neither of them gets one.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    if is_storable(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\0', "\u{fffd}"))
}

/// Whether a column tells this text to the letter. JSON tells any.
pub(crate) fn is_storable(text: &str) -> bool {
    memchr::memchr(0, text.as_bytes()).is_none()
}

/// What can be put into a statement.
pub trait Bind {
    /// As the engine takes it.
    fn bind(&self) -> Value<'_>;
}

/// What can be read from a row.
pub trait Column: Sized {
    /// What it is called when a stored value does not fit.
    const EXPECTED: &'static str;

    /// From what the engine gives; none if it does not fit.
    fn from_value(value: Value<'_>) -> Option<Self>;
}

/// Values for a statement: `bind![id, now, "text"]`.
#[macro_export]
macro_rules! bind {
    ($($value:expr),* $(,)?) => { &[$($crate::value::Bind::bind(&$value)),*] };
}

/// JSON as text.
pub fn to_json<T: Serialize>(value: &T) -> Result<String> {
    // Most of what is kept is smaller than this: then it is written without being moved.
    let json = json::bytes(value, 768).map_err(|error| StoreError::broken(&error))?;
    String::from_utf8(json).map_err(|error| StoreError::broken(&error))
}

/// Text as JSON.
pub fn from_json<T: DeserializeOwned>(thing: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::unreadable(thing, &error))
}

/// A state by its stored name.
pub fn parse_state<M: Machine>(name: &str) -> Result<M> {
    M::parse(name)
        .ok_or_else(|| StoreError::unreadable(M::THING, &format!("unknown state {name:?}")))
}

impl<T: Bind + ?Sized> Bind for &T {
    fn bind(&self) -> Value<'_> {
        (**self).bind()
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Bind::bind)
    }
}

impl<T: Column> Column for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: Value<'_>) -> Option<Self> {
        if value == Value::Null {
            Some(None)
        } else {
            T::from_value(value).map(Some)
        }
    }
}

impl Bind for str {
    fn bind(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for String {
    fn bind(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Column for String {
    const EXPECTED: &'static str = "text";

    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Text(text) = value {
            Some(text.to_owned())
        } else {
            None
        }
    }
}

impl Bind for i64 {
    fn bind(&self) -> Value<'_> {
        Value::Int(*self)
    }
}

impl Column for i64 {
    const EXPECTED: &'static str = "a number";

    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Int(number) = value {
            Some(number)
        } else {
            None
        }
    }
}

impl Bind for u32 {
    fn bind(&self) -> Value<'_> {
        Value::Int(i64::from(*self))
    }
}

impl Column for u32 {
    const EXPECTED: &'static str = "a small number";

    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).and_then(|number| Self::try_from(number).ok())
    }
}

impl Bind for Timestamp {
    fn bind(&self) -> Value<'_> {
        Value::Int(self.as_millis())
    }
}

impl Column for Timestamp {
    const EXPECTED: &'static str = "a time";

    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(Self::from_millis)
    }
}

macro_rules! sixteen_bytes {
    ($($name:ident),*) => {$(
        impl Bind for $name {
            fn bind(&self) -> Value<'_> {
                Value::Bytes(self.as_bytes())
            }
        }

        impl Column for $name {
            const EXPECTED: &'static str = "an id of sixteen bytes";

            fn from_value(value: Value<'_>) -> Option<Self> {
                if let Value::Bytes(bytes) = value { bytes.try_into().ok().map(Self::from_bytes) } else { None }
            }
        }
    )*};
}

sixteen_bytes!(
    EventId, SessionId, RunId, ReplyId, PartId, JobId, QuestionId, DeadId, ScheduleId
);

macro_rules! digests {
    ($($name:ident),*) => {$(
        impl Bind for $name {
            fn bind(&self) -> Value<'_> {
                Value::Bytes(self.0.as_bytes())
            }
        }

        impl Column for $name {
            const EXPECTED: &'static str = "a digest of thirty-two bytes";

            fn from_value(value: Value<'_>) -> Option<Self> {
                let Value::Bytes(bytes) = value else { return None };
                bytes.try_into().ok().map(|bytes| Self(Digest::from_bytes(bytes)))
            }
        }
    )*};
}

digests!(
    SessionKeyId,
    PrincipalKey,
    TargetKey,
    DedupeKey,
    ScopeKey,
    TokenHash
);

macro_rules! texts {
    ($($name:ident),*) => {$(
        impl Bind for $name {
            fn bind(&self) -> Value<'_> {
                Value::Text(self.as_str())
            }
        }

        impl Column for $name {
            const EXPECTED: &'static str = "text";

            fn from_value(value: Value<'_>) -> Option<Self> {
                String::from_value(value).map(Self::from)
            }
        }
    )*};
}

texts!(ChatId, MessageId, NodeName, RunnerId);
