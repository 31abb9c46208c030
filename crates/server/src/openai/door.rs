//! The door that every way to ask for a turn goes through, in one order: whose turn it is to be, where late results go, who
//! asks, whether they may ask now, and whether they have asked before. Nothing is written down for whoever is turned away.

use talaria_domain::address::Address;

use super::allowance::Place;
use super::once::{self, Claim, Request};
use super::refusal::Refusal;
use super::turn::Asker;
use super::{callback, models};
use crate::access::keys::Caller;
use crate::shared::App;

/// Somebody who was let in.
pub(super) struct Admitted {
    pub(super) asker: Asker,
    /// Where what ends later is told.
    pub(super) callback: Option<Address>,
    /// Whether the turn is asked for again.
    pub(super) claim: Claim,
    /// Given back when the turn needs it no more.
    pub(super) place: Place,
}

/// Lets a caller in who asks for a turn of `model`, or says why not.
pub(super) async fn admit(
    app: &App,
    caller: Caller,
    request: &Request<'_>,
    model: Option<&str>,
) -> Result<Admitted, Refusal> {
    let profile = models::choose(app, request.headers, model)?;
    let callback = callback::of(app, request.headers, request.body)?;
    let asker = Asker::of(caller, request.headers, profile)?;
    let place = app.allowances.enter(&asker.caller, app.now())?;
    let claim = once::claim(app, &asker, request).await?;
    Ok(Admitted {
        asker,
        callback,
        claim,
        place,
    })
}
