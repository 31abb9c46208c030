//! Asks the host, right before a model is asked or a tool starts, whether the run may do that: what was taken away from
//! it since it was admitted counts from the next effect on, whatever the turn began with.

use talaria_domain::authority::ResourceKind;
use talaria_domain::descriptor::{ModelOperation, ToolOperation};
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::runner::{Host, Turn};

/// What a run is told that was admitted without a model.
const NO_MODEL: &str = "this run may not use any model: its binding names none";

/// Whether the model may be asked. A profile has one model, and its authority is what knows the name of it.
pub(super) fn may_ask(turn: &Turn, host: &dyn Host) -> Result<(), Refusal> {
    let operation = ModelOperation::Stream.as_str();
    let granted = turn.authority.authority().grants.get(&ResourceKind::Model);
    let mut refusal = Refusal::new(RefusalCode::NotAllowed, NO_MODEL);
    for name in granted.into_iter().flat_map(|models| models.keys()) {
        match host.effects().check(ResourceKind::Model, name, operation) {
            Ok(_) => return Ok(()),
            Err(refused) => refusal = refused,
        }
    }
    Err(refusal)
}

/// Whether a tool may be started.
pub(super) fn may_call(host: &dyn Host, tool: &str) -> Result<(), Refusal> {
    let operation = ToolOperation::Call.as_str();
    let checked = host.effects().check(ResourceKind::Tool, tool, operation);
    checked.map(drop)
}
