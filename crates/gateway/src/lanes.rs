//! One conversation, one turn at a time. A lane is a task only while it has something to do. Turns at once are limited,
//! and a lane that wants another turn queues up behind all others: a busy conversation cannot keep the quiet ones
//! waiting. What comes to a lane that is free while nobody waits begins where it is taken in.

pub mod busy;
pub mod merge;

use std::sync::Arc;

use talaria_domain::ids::SessionId;
use tokio::sync::Notify;

use crate::shared::{Seat, Shared};
use crate::turns::{self, Next};

/// Makes sure that somebody looks at a lane.
pub(crate) fn knock(shared: &Arc<Shared>, session: SessionId) {
    if !shared.may_begin() || shared.running.knock(session) {
        return;
    }
    if let Some(knock) = shared.lanes.knock(session) {
        let lane = serve(Arc::clone(shared), session, knock);
        shared.spawn(lane);
    }
}

/// A turn that began where its event was taken in has ended.
pub(crate) fn leave(shared: &Arc<Shared>, session: SessionId, seat: Seat, next: &Next) {
    drop(seat);
    // Somebody may have come before the turn could be knocked at.
    if matches!(next, Next::Again) || shared.lanes.is_served(session) {
        knock(shared, session);
    }
}

async fn serve(shared: Arc<Shared>, session: SessionId, knock: Arc<Notify>) {
    loop {
        shared.lanes.look(session);
        match next_turn(&shared, session).await {
            Next::Again => {}
            Next::Later(time) => shared.wait_until(time, &knock).await,
            Next::Nothing => {
                if shared.lanes.leave(session) {
                    shared.errands.remove(session);
                    return;
                }
            }
        }
    }
}

async fn next_turn(shared: &Arc<Shared>, session: SessionId) -> Next {
    // What a turn waits for must not wait for that turn's place.
    let _seat = if shared.errands.has(session) {
        None
    } else {
        let Some(seat) = Seat::wait_for(shared).await else {
            return Next::Nothing;
        };
        Some(seat)
    };
    if !shared.may_begin() {
        return Next::Nothing;
    }
    turns::run_next(shared, session).await
}
