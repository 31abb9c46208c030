//! When nobody waits for a turn any more. A turn that waits is taken out of its queue; one that runs is stopped by the
//! command that a person would use, so that the model's call ends with it.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::Accepted;
use talaria_domain::event::{Content, Event, Mention};
use talaria_domain::ids::EventId;
use talaria_domain::machine::InboxState;
use talaria_store::{StoreError, Tx, inbox};
use tokio::runtime::Handle;

use super::{Order, Turn};
use crate::error::ApiError;
use crate::shared::App;

/// How long a turn goes on after its caller went away.
const GRACE: Duration = Duration::from_secs(3);

/// Somebody waits for a turn. If they go before it has ended, it is cancelled after the grace.
pub(crate) struct Attendance {
    app: Arc<App>,
    order: Arc<Order>,
    runtime: Handle,
    is_over: bool,
}

impl Attendance {
    /// From before it is handed in: whoever goes in that moment has gone, too.
    pub(in crate::openai) fn of(app: &Arc<App>, order: &Arc<Order>) -> Self {
        Self {
            app: Arc::clone(app),
            order: Arc::clone(order),
            runtime: Handle::current(),
            is_over: false,
        }
    }

    /// The turn has ended, or goes on without anybody.
    pub(crate) const fn end(&mut self) {
        self.is_over = true;
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let leaving = leave(Arc::clone(&self.app), Arc::clone(&self.order));
        self.app.tasks.spawn_on(leaving, &self.runtime);
    }
}

async fn leave(app: Arc<App>, order: Arc<Order>) {
    tokio::select! {
        biased;
        // Once it stops there is no time to lose.
        () = app.stop.cancelled() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
    if let Err(error) = stop(&app, &order).await {
        tracing::warn!(event = %order.event, %error, "a turn that nobody waits for could not be cancelled");
    }
}

/// Cancels a turn. One that has ended stays as it is.
pub(in crate::openai) async fn cancel(app: &App, turn: &Turn) -> Result<(), ApiError> {
    stop(app, &turn.order).await
}

async fn stop(app: &App, order: &Order) -> Result<(), ApiError> {
    let (event, now) = (order.event, app.now());
    let work = move |tx: &mut Tx<'_>| {
        let row = match inbox::get(tx, event) {
            // It was never taken in.
            Err(StoreError::NotFound { .. }) => return Ok(false),
            found => found?,
        };
        let is_fresh = row.state == InboxState::Queued && row.attempts == 0;
        if is_fresh {
            inbox::discard(tx, event, "cancelled before its turn came", now)?;
        }
        Ok(!is_fresh && matches!(row.state, InboxState::Queued | InboxState::Claimed))
    };
    let is_begun = app.shared.ledger.write(work).await?;
    if !is_begun {
        return Ok(());
    }
    match app.shared.intake.accept(command(app, order)).await {
        Ok(
            Accepted::Recorded { .. } | Accepted::CrowdedOut { .. } | Accepted::Duplicate { .. },
        ) => Ok(()),
        Ok(Accepted::Refused { reason }) => Err(ApiError::Unavailable { cause: reason }),
        Err(refused) => Err(ApiError::Unavailable {
            cause: refused.reason,
        }),
    }
}

/// The command, once for each turn.
fn command(app: &App, order: &Order) -> Event {
    let now = app.now();
    let content = Content {
        // By its name: if it ends in this moment, the next one goes on.
        text: format!("/stop {}", order.event),
        mention: Mention::Direct,
        ..Content::default()
    };
    let id = EventId::next(&*app.shared.ids, now);
    let dedupe = order.dedupe(&format!("stop {}", order.event));
    Event {
        received_at: now,
        ..order.event(id, dedupe, content)
    }
}
