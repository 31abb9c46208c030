//! The way of one event into the ledger, in a task of its own: whoever handed it in may go away, and what was recorded is
//! taken care of all the same. If its turn begins with it, the turn runs in the same task, and thinks while its beginning
//! is still on its way to the disk. Nobody is told anything before that is committed.

use std::sync::Arc;

use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::event::EventKind;
use talaria_domain::ids::EventId;
use talaria_domain::profile::BusyPolicy;
use talaria_store::inbox::Arrival;
use talaria_store::{Ahead, Commit, Committed, StoreError};
use tokio::sync::oneshot;

use super::{Admitted, admit, held, not_accepted};
use crate::control;
use crate::lanes;
use crate::lifecycle::wakes;
use crate::settings::ProfileSettings;
use crate::shared::{Seat, Shared};
use crate::turns;
use crate::turns::begin::Begun;
use crate::turns::written::Beginning;

/// An event that may come in.
pub(super) struct Entry {
    pub(super) arrival: Arrival,
    pub(super) profile: Arc<ProfileSettings>,
    /// What its sender wants to happen if a turn runs.
    pub(super) wish: Option<BusyPolicy>,
}

type Answer = Result<Accepted, NotAccepted>;

/// Takes an event in; answers after the commit.
pub(super) async fn enter(shared: &Arc<Shared>, entry: Box<Entry>) -> Answer {
    let told = hand_over(shared, entry);
    told.await.unwrap_or_else(|_| {
        let reason = "the gateway stops".to_owned();
        Err(NotAccepted { reason })
    })
}

/// Starts the task; gives where its answer will be.
fn hand_over(shared: &Arc<Shared>, entry: Box<Entry>) -> oneshot::Receiver<Answer> {
    let (tell, told) = oneshot::channel();
    let event = entry.arrival.event();
    let door = Door {
        shared: Arc::clone(shared),
        event: event.id,
        is_command: matches!(event.kind, EventKind::Command { .. }),
        tell,
    };
    let seat = Some(shared)
        .filter(|shared| shared.may_begin() && entry.arrival.is_due())
        .and_then(Seat::take);
    match seat.map(|seat| held::begin(&entry, seat)) {
        Some(Ok(held)) => shared.spawn(held.run(door, entry)),
        Some(Err(seat)) => shared.spawn(door.take_in(entry, Some(seat))),
        None => shared.spawn(door.take_in(entry, None)),
    }
    told
}

/// Where one event comes in.
pub(super) struct Door {
    pub(super) shared: Arc<Shared>,
    event: EventId,
    is_command: bool,
    tell: oneshot::Sender<Answer>,
}

impl Door {
    async fn take_in(self, entry: Box<Entry>, seat: Option<Seat>) {
        let shared = Arc::clone(&self.shared);
        let (this, is_seated) = (Arc::clone(&shared), seat.is_some());
        let ahead = shared.ledger.write_ahead(move |tx| {
            let Entry {
                arrival,
                profile,
                wish,
            } = &*entry;
            admit(tx, &this, (profile, *wish), (arrival, is_seated))
        });
        let Ahead { mut value, commit } = match ahead.await {
            Ok(ahead) => ahead,
            Err(error) => return self.refuse(&error),
        };
        match (value.begun.take(), seat) {
            (Some(begun), Some(seat)) => self.begin(value, begun, commit, seat).await,
            (_, seat) => match commit.await {
                Ok(Committed::AsTold) => self.accept(value),
                Ok(Committed::Anew(value)) => self.go_on(value, seat).await,
                Err(error) => self.refuse(&error),
            },
        }
    }

    /// Runs the turn that has begun, while its beginning is being committed.
    async fn begin(
        self,
        admitted: Admitted,
        begun: Box<Begun>,
        commit: Commit<Admitted>,
        seat: Seat,
    ) {
        let shared = Arc::clone(&self.shared);
        let (begun, history) = begun.share();
        let session = begun.session();
        let beginning = async {
            let _known = Known(&begun);
            match commit.await {
                Ok(Committed::AsTold) => {
                    self.accept(admitted);
                    turns::stand(&shared, &begun);
                    None
                }
                otherwise => Some((self, otherwise)),
            }
        };
        let turn = turns::take_turn(&shared, &begun, history);
        let (otherwise, next) = tokio::join!(biased; beginning, turn);
        let Some((this, otherwise)) = otherwise else {
            return lanes::leave(&shared, session, seat, &next);
        };
        // Whoever came meanwhile has knocked at a turn that never was.
        lanes::knock(&shared, session);
        match otherwise {
            Ok(Committed::Anew(admitted)) => this.go_on(admitted, Some(seat)).await,
            Ok(Committed::AsTold) => {}
            Err(error) => this.refuse(&error),
        }
    }

    /// What was decided is committed; so is the beginning of the turn, if there is one.
    async fn go_on(self, mut admitted: Admitted, seat: Option<Seat>) {
        let shared = Arc::clone(&self.shared);
        let begun = admitted.begun.take();
        self.accept(admitted);
        let (Some(begun), Some(seat)) = (begun, seat) else {
            return;
        };
        let (begun, history) = begun.share();
        turns::stand(&shared, &begun);
        let next = turns::take_turn(&shared, &begun, history).await;
        lanes::leave(&shared, begun.session(), seat, &next);
    }

    /// It is in: does what follows from that, and tells whoever handed it in, if they are still there.
    pub(super) fn accept(self, admitted: Admitted) {
        let (shared, event) = (&self.shared, self.event);
        let answer = match admitted.to {
            Err(first) => Accepted::Duplicate { first },
            Ok(session) => {
                for stopped in admitted.stopped {
                    shared.running.stop(stopped);
                }
                for happening in admitted.happenings {
                    shared.watchers.tell(session, happening);
                }
                if self.is_command {
                    control::start(shared, event);
                }
                if admitted.is_crowded_out {
                    Accepted::CrowdedOut { event, session }
                } else {
                    Accepted::Recorded { event, session }
                }
            }
        };
        drop(self.tell.send(Ok(answer)));
    }

    /// It is not in, as far as anybody knows.
    pub(super) fn refuse(self, error: &StoreError) {
        let shared = &self.shared;
        if let StoreError::Uncertain { .. } = error {
            // It may be in, and its turn begun without anybody to run it.
            shared.spawn(wakes::look_at_everything(Arc::clone(shared)));
        }
        drop(self.tell.send(Err(not_accepted(error))));
    }
}

/// However waiting for the commit ends, it is known afterwards whether the turn has begun.
pub(super) struct Known<'a>(pub(super) &'a Begun);

impl Drop for Known<'_> {
    fn drop(&mut self) {
        self.0.written.tell(Beginning::IsUndone);
    }
}
