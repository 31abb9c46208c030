//! What gateway and runner say to each other: JSON-RPC 2.0, one object a line. The orders of the gateway, the reports and
//! callbacks of a runner, and the answers to both. `docs/runner-protocol.schema.json` is made from these types.
//!
//! Pure: types, and how a line is read and written.

mod answers;
mod asked;
mod orders;
mod reports;

#[cfg(test)]
mod schema;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use talaria_domain::effects::{Refusal, RefusalCode};

pub(super) use self::answers::{Answer, Item, Offered, PastLine};
pub(super) use self::asked::{Asked, Prompt, StoreName};
pub(super) use self::orders::{
    Attached, Delivery, HISTORY, Happened, Input, Introduction, Order, Place, Resource, RunOrder,
    Spoken, Takes,
};
pub(super) use self::reports::Report;

/// The version of the protocol. A runner that speaks another one is not used.
pub(super) const PROTOCOL: u32 = 1;
/// The version of JSON-RPC, in every line.
const JSON_RPC: &str = "2.0";

/// A line of a runner, before it is known what it means.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    jsonrpc: Option<String>,
    /// A request's, or the one that is answered.
    pub(super) id: Option<Value>,
    /// What is asked or told.
    pub(super) method: Option<String>,
    /// With these parameters.
    #[serde(default)]
    pub(super) params: Value,
    /// What a request of the gateway is answered with.
    pub(super) result: Option<Value>,
    /// Why a request of the gateway is not done.
    pub(super) error: Option<Value>,
}

impl Line {
    /// Whether it is JSON-RPC at all.
    pub(super) fn is_proper(&self) -> bool {
        let is_id = |id: &Value| id.is_string() || id.is_number();
        self.jsonrpc.as_deref() == Some(JSON_RPC) && self.id.as_ref().is_none_or(is_id)
    }
}

/// Why a line is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// JSON-RPC's number.
    number: i32,
    /// For programs and for people.
    pub(super) refusal: Refusal,
}

impl Fault {
    const fn of(number: i32, refusal: Refusal) -> Self {
        Self { number, refusal }
    }

    /// It is not JSON.
    pub(super) fn unreadable() -> Self {
        let reason = "a line has to be one JSON object";
        Self::of(-32_700, Refusal::new(RefusalCode::Invalid, reason))
    }

    /// It is not JSON-RPC.
    pub(super) fn improper() -> Self {
        let reason = "a line has to be JSON-RPC 2.0 with a method, or an answer to a request";
        Self::of(-32_600, Refusal::new(RefusalCode::Invalid, reason))
    }

    /// There is no such method.
    pub(super) fn no_such_method(method: &str) -> Self {
        let reason = format!("there is no method {method:?}");
        Self::of(-32_601, Refusal::new(RefusalCode::NotFound, reason))
    }

    /// The parameters are not what they have to be.
    pub(super) fn wrong_parameters(why: impl Into<String>) -> Self {
        Self::of(-32_602, Refusal::new(RefusalCode::Invalid, why))
    }

    /// The same for every run that is not this connection's to speak for, whether it was named, exists or has ended.
    pub(super) fn no_such_run() -> Self {
        Refusal::new(RefusalCode::NotFound, "there is no such run here").into()
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::of(-32_000, refusal)
    }
}

/// The line that answers a request.
pub(super) fn answer<T: Serialize>(id: Option<&Value>, answer: Result<&T, &Fault>) -> Vec<u8> {
    let line = match answer {
        Ok(result) => json!({"jsonrpc": JSON_RPC, "id": id, "result": result}),
        Err(fault) => {
            let Refusal { code, reason } = &fault.refusal;
            let error = json!({"code": fault.number, "message": reason, "data": {"code": code}});
            json!({"jsonrpc": JSON_RPC, "id": id, "error": error})
        }
    };
    written(&line)
}

/// The line of an order; one with an id wants an answer.
pub(super) fn order(id: Option<u64>, order: &Order) -> Vec<u8> {
    #[derive(Serialize)]
    struct Ordered<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        #[serde(flatten)]
        order: &'a Order,
    }
    written(&Ordered {
        jsonrpc: JSON_RPC,
        id,
        order,
    })
}

fn written(line: &impl Serialize) -> Vec<u8> {
    // These types are plain: there is nothing in them that JSON cannot hold.
    let mut line = serde_json::to_vec(line).unwrap_or_default();
    line.push(b'\n');
    line
}
