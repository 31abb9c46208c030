//! One conversation, one turn at a time. A lane is a task only while it has something to do. Turns at once are limited,
//! and a lane that wants another turn queues up behind all others: a busy conversation cannot keep the quiet ones
//! waiting.

pub mod busy;
pub mod merge;

use std::sync::Arc;

use talaria_domain::ids::SessionId;
use tokio::sync::Notify;

use crate::shared::Shared;
use crate::turns::{self, Next};

/// Makes sure that somebody looks at a lane.
pub(crate) fn knock(shared: &Arc<Shared>, session: SessionId) {
    if !shared.may_begin() {
        return;
    }
    if let Some(knock) = shared.lanes.knock(session) {
        let lane = serve(Arc::clone(shared), session, knock);
        shared.spawn(lane);
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
                    return;
                }
            }
        }
    }
}

async fn next_turn(shared: &Arc<Shared>, session: SessionId) -> Next {
    // The semaphore is fair: whoever asks first is served first.
    let Ok(_turn) = shared.turns.acquire().await else {
        return Next::Nothing;
    };
    if !shared.may_begin() {
        return Next::Nothing;
    }
    turns::run_next(shared, session).await
}
