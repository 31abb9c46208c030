//! Somebody who waits for an answer on an open connection: the turn is handed in and followed, and if they go away before
//! it has ended it is cancelled after a grace.

use std::sync::Arc;

use talaria_domain::event::Content;

use super::allowance::Place;
use super::once::{self, Claim};
use super::refusal::Refusal;
use super::turn::follow::{self, Follower, Step};
use super::turn::leave::Attendance;
use super::turn::standing::Standing;
use super::turn::{Asker, Order, Taken, Turn};
use crate::shared::App;

/// Somebody who waits for an answer.
pub(super) struct Waiting {
    follower: Follower,
    attendance: Option<Attendance>,
    _place: Option<Place>,
}

impl Waiting {
    /// Hands the turn in, or finds it if it is asked for again.
    pub(super) async fn begin(
        app: &Arc<App>,
        asker: &Asker,
        (claim, place): (Claim, Place),
        content: Content,
    ) -> Result<(Turn, Self), Refusal> {
        let (turn, attendance, follower) = match claim {
            Claim::First(fresh) => {
                let order = Order::prepare(app, asker, fresh).await?;
                let mut attendance = Attendance::of(app, &order);
                let expected = order.expected_at(asker);
                let watch = app.shared.live.watch(expected);
                match order.hand_in(app, &asker.caller, content).await {
                    Ok(Taken::Now(turn)) => {
                        let follower = if turn.session == expected {
                            Follower::from_the_start(app, fresh.event, watch)
                        } else {
                            Follower::of(app, &turn)
                        };
                        (*turn, Some(attendance), follower)
                    }
                    refused => {
                        // It is somebody else's, or nobody's.
                        attendance.end();
                        return Err(refused.err().unwrap_or_else(once::under_way));
                    }
                }
            }
            Claim::Again(turn) => {
                ensure_over(app, &turn).await?;
                let follower = Follower::of(app, &turn);
                (*turn, None, follower)
            }
        };
        let waiting = Self {
            follower,
            attendance,
            _place: Some(place),
        };
        Ok((turn, waiting))
    }

    /// Only reads: the turn is somebody else's to wait for.
    pub(super) fn follow(app: &Arc<App>, turn: &Turn) -> Self {
        Self {
            follower: Follower::of(app, turn),
            attendance: None,
            _place: None,
        }
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> Result<Step, Refusal> {
        let step = self.follower.next().await?;
        // If the gateway stops, the turn is its own to end.
        if matches!(step, Step::Over(_) | Step::Left) {
            self.attendance.iter_mut().for_each(Attendance::end);
        }
        Ok(step)
    }
}

/// What was asked before is answered from the ledger once it is there.
async fn ensure_over(app: &App, turn: &Turn) -> Result<(), Refusal> {
    let event = turn.event;
    let look = move |tx: &mut talaria_store::Tx<'_>| follow::look(tx, event);
    match app.shared.ledger.read(look).await?.standing {
        Standing::Over(_) => Ok(()),
        _ => Err(once::under_way()),
    }
}
