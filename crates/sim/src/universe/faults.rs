//! What goes wrong, and when. A process ends at one of its calls to the ledger, before or after it was done, or at a
//! time; vendors have moods. A process that is gone does nothing any more: its other calls are lost as well, and no
//! vendor hears of it again, until the next one begins.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_store::ledger::{Fate, Fates};
use tokio::sync::Notify;

use super::chance::Chance;
use crate::chat::{Mood, Moods};
use crate::trace::Trace;

/// How often vendors do something else than what was asked: in so many of a hundred requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temper(pub(crate) u64);

/// How often calls to the ledger take their time: so many of a hundred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drag(pub(crate) u64);

/// At which call to the ledger a process ends, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doom {
    /// After so many acts, from which on it counts: what was just written is what is lost most easily.
    pub(crate) acts: u64,
    /// After so many calls that were answered.
    pub(crate) calls: u64,
    pub(crate) fate: Fate,
}

/// All that goes wrong in one universe.
pub(crate) struct Faults {
    state: Mutex<State>,
    fell: Notify,
    trace: Arc<Trace>,
}

struct State {
    chance: Chance,
    temper: Temper,
    drag: Drag,
    doom: Option<Doom>,
    is_gone: bool,
    is_looked_at: bool,
}

impl Faults {
    pub(crate) fn of(chance: Chance, (temper, drag): (Temper, Drag), trace: &Arc<Trace>) -> Self {
        Self {
            state: Mutex::new(State {
                chance,
                temper,
                drag,
                doom: None,
                is_gone: false,
                is_looked_at: false,
            }),
            fell: Notify::new(),
            trace: Arc::clone(trace),
        }
    }

    /// A process begins.
    pub(crate) fn begin(&self, doom: Option<Doom>) {
        let mut state = self.state();
        state.doom = doom;
        state.is_gone = false;
    }

    /// Something happened.
    pub(crate) fn acted(&self) {
        if let Some(doom) = &mut self.state().doom {
            doom.acts = doom.acts.saturating_sub(1);
        }
    }

    /// The process ends here.
    pub(crate) fn end(&self) {
        self.state().is_gone = true;
    }

    /// Nothing goes wrong any more.
    pub(crate) fn calm(&self) {
        let mut state = self.state();
        (state.temper, state.drag) = (Temper(0), Drag(0));
        state.doom = None;
    }

    /// Ends when the process does.
    pub(crate) async fn fallen(&self) {
        loop {
            let fell = self.fell.notified();
            if self.state().is_gone {
                return;
            }
            fell.await;
        }
    }

    /// Whether calls to the ledger are the universe's own, to which nothing happens.
    pub(crate) fn look(&self, is_looked_at: bool) {
        self.state().is_looked_at = is_looked_at;
    }

    fn mood(&self) -> Mood {
        let mut state = self.state();
        if state.is_gone {
            return Mood::Hung;
        }
        let Temper(temper) = state.temper;
        if state.chance.below(100) >= temper {
            return Mood::Fine;
        }
        let chance = &mut state.chance;
        let time = if chance.is_one_in(4) {
            chance.millis(20_000, 45_000)
        } else {
            chance.millis(10, 5_000)
        };
        chance.weigh(&[
            (4, Mood::Flooded(time)),
            (4, Mood::Deaf),
            (4, Mood::Mute),
            (3, Mood::Slow(time)),
            (3, Mood::Lagging(time)),
            (2, Mood::Pedantic),
            (1, Mood::Refusing),
            (1, Mood::Hung),
            (1, Mood::Flooded(Duration::from_mins(3))),
        ])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How the process ends, if it does at this call.
    fn fallen(&mut self) -> Option<Fate> {
        let doom = self.doom.as_mut().filter(|doom| doom.acts == 0)?;
        if doom.calls > 0 {
            doom.calls -= 1;
            return None;
        }
        Some(doom.fate)
    }

    /// How long a call takes that is answered.
    fn dragged(&mut self) -> Fate {
        let (Drag(drag), chance) = (self.drag, &mut self.chance);
        if chance.below(100) >= drag {
            return Fate::Answered;
        }
        let most = chance.weigh(&[(4, 5), (4, 300), (2, 5_000)]);
        if chance.is_one_in(4) {
            return Fate::Undone {
                after: chance.millis(0, most),
                is_done_anew: chance.is_one_in(2),
            };
        }
        Fate::Slow {
            before: chance.millis(0, most),
            after: chance.millis(0, most),
        }
    }
}

impl Fates for Faults {
    fn next(&self) -> Fate {
        let mut state = self.state();
        if state.is_looked_at {
            return Fate::Answered;
        }
        if state.is_gone {
            return Fate::LostBefore;
        }
        let Some(fate) = state.fallen() else {
            return state.dragged();
        };
        state.is_gone = true;
        drop(state);
        self.trace.note(&format!("the process is gone: {fate:?}"));
        self.fell.notify_one();
        fate
    }
}

/// How a vendor feels about what we send.
pub(crate) struct Temperament(pub(crate) Arc<Faults>);

impl Moods for Temperament {
    fn next(&self) -> Mood {
        self.0.mood()
    }
}

/// How a vendor feels about keeping us connected: less often as bad.
pub(crate) struct Connection(pub(crate) Arc<Faults>);

impl Moods for Connection {
    fn next(&self) -> Mood {
        match self.0.mood() {
            // A line that stays open for ever is for the adapter to notice, which this one does not.
            Mood::Hung if !self.0.state().is_gone => Mood::Fine,
            mood => mood,
        }
    }
}
