//! An event of which the ledger need not know at once: it opens a conversation, and whoever asks waits on an open line.
//! Its turn begins in memory. It is written down when it has lasted for a moment, when it says its first words, or when it
//! does something that has to come after its beginning; one that is over before that is written down as a whole. Nobody
//! is told anything before it is committed, so that whoever asks and hears nothing knows that nothing was taken in.

use std::sync::Arc;

use talaria_store::StoreError;

use super::Admitted;
use super::enter::{Door, Entry, Known};
use crate::lanes;
use crate::shared::Seat;
use crate::turns;
use crate::turns::begin::{self, Begun};
use crate::turns::whole;
use crate::turns::written::Extent;

/// A turn that is not written down yet.
pub(super) struct Held {
    begun: Box<Begun>,
    seat: Seat,
}

/// Begins the turn in memory, if that can be done; otherwise the seat is given back.
pub(super) fn begin(entry: &Entry, seat: Seat) -> Result<Held, Seat> {
    match begin::held::begin(seat.shared(), &entry.arrival) {
        Some(begun) => Ok(Held { begun, seat }),
        None => Err(seat),
    }
}

impl Held {
    /// Runs the turn to its end, and writes it down.
    pub(super) async fn run(self, door: Door, entry: Box<Entry>) {
        let Self { begun, seat } = self;
        let shared = Arc::clone(&door.shared);
        let (begun, history) = begun.share();
        let session = begun.session();
        let unheard = shared.courtesy.begin();
        let beginning = async {
            let _unheard = unheard;
            let _known = Known(&begun);
            let extent = begun.written.let_go(shared.moments.pass()).await;
            match write_down(&door, entry, &begun, extent).await {
                Ok(()) => {
                    door.accept(Admitted::of(Ok(session)));
                    turns::stand(&shared, &begun);
                }
                Err(error) => door.refuse(&error),
            }
        };
        let turn = turns::take_turn(&shared, &begun, history);
        let ((), next) = tokio::join!(biased; beginning, turn);
        lanes::leave(&shared, session, seat, &next);
    }
}

async fn write_down(
    door: &Door,
    entry: Box<Entry>,
    begun: &Arc<Begun>,
    extent: Extent,
) -> Result<(), StoreError> {
    let (shared, begun) = (Arc::clone(&door.shared), Arc::clone(begun));
    let ledger = &door.shared.ledger;
    let write = ledger.write(move |tx| {
        let turn = (&entry.arrival, &*begun);
        match &extent {
            Extent::Beginning(events) => begin::held::write_down(tx, &shared, turn, events),
            Extent::Whole(whole) => whole::write(tx, &shared, turn, whole),
        }
    });
    write.await
}
