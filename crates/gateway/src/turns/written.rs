//! Whether the beginning of a turn is committed. A turn that begins where its event is taken in may think before that is
//! known; until then nobody outside notices anything of it, and if its beginning was undone nobody ever does.
//!
//! A beginning may also be held: then it is not even on its way to the ledger. It is let go as soon as somebody waits for
//! it, so that whatever has to come after it waits here first; or with what the run yields first, which is written down
//! together with it; or the turn ends before that, and is written down as a whole.

use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::run::RunEvent;
use tokio::sync::{Notify, SetOnce};

use super::whole::Whole;

/// Whether a beginning is committed, once that is known.
#[derive(Debug, Default)]
pub(crate) struct Written {
    known: SetOnce<Beginning>,
    /// There is one if the beginning was held at first.
    hold: Option<Hold>,
}

/// What became of a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// It is committed.
    Stands,
    /// There never was one.
    IsUndone,
}

/// What holds a beginning back.
#[derive(Debug, Default)]
struct Hold {
    /// Somebody waits for it, or there is more of the turn.
    enough: Notify,
    grip: Mutex<Grip>,
}

#[derive(Debug, Default)]
enum Grip {
    #[default]
    Held,
    /// There is more of the turn meanwhile.
    Grown(Extent),
    /// It is on its way.
    LetGo,
}

/// What there is of a turn when it is written down.
#[derive(Debug)]
pub(crate) enum Extent {
    /// Its beginning, and what its run yielded first.
    Beginning(Vec<RunEvent>),
    /// All of it.
    Whole(Box<Whole>),
}

impl Written {
    /// One that is held.
    pub(crate) fn held() -> Self {
        Self {
            hold: Some(Hold::default()),
            ..Self::default()
        }
    }

    /// It is known. What was known before stays.
    pub(crate) fn tell(&self, beginning: Beginning) {
        drop(self.known.set(beginning));
    }

    /// Waits until it is known; it is held no longer.
    pub(crate) async fn known(&self) -> Beginning {
        if let Some(hold) = &self.hold {
            hold.enough.notify_one();
        }
        *self.known.wait().await
    }

    /// What the turn writes comes after its beginning in the ledger's queue: waits until that is so.
    pub(crate) async fn precedes(&self) {
        if self.hold.is_some() {
            self.known().await;
        }
    }

    /// Ends when it turns out that there never was a beginning; otherwise never.
    pub(crate) async fn undone(&self) {
        if *self.known.wait().await == Beginning::Stands {
            std::future::pending::<()>().await;
        }
    }

    /// Holds it until `enough` at most, then lets go; gives what there is of the turn by then.
    pub(crate) async fn let_go(&self, enough: impl Future<Output = ()>) -> Extent {
        let Some(hold) = &self.hold else {
            return Extent::Beginning(Vec::new());
        };
        tokio::select! {
            biased;
            () = hold.enough.notified() => {}
            () = enough => {}
        }
        match std::mem::replace(&mut *hold.grip(), Grip::LetGo) {
            Grip::Grown(extent) => extent,
            Grip::Held | Grip::LetGo => Extent::Beginning(Vec::new()),
        }
    }

    /// Whether it was held at first.
    pub(crate) const fn was_held(&self) -> bool {
        self.hold.is_some()
    }

    /// Whether it is held at this moment.
    pub(crate) fn is_held(&self) -> bool {
        let grip = self.hold.as_ref().map(Hold::grip);
        grip.is_some_and(|grip| matches!(*grip, Grip::Held))
    }

    /// The run yields these: says whether they will be written down together with the beginning.
    pub(crate) fn begins_with(&self, events: &[RunEvent]) -> bool {
        self.grows_to(|| Extent::Beginning(events.to_vec()))
    }

    /// The turn has ended: says whether its end will be written down together with its beginning.
    pub(crate) fn ends_as(&self, whole: Box<Whole>) -> bool {
        self.grows_to(|| Extent::Whole(whole))
    }

    fn grows_to(&self, extent: impl FnOnce() -> Extent) -> bool {
        let Some(hold) = &self.hold else {
            return false;
        };
        let mut grip = hold.grip();
        if !matches!(*grip, Grip::Held) {
            return false;
        }
        *grip = Grip::Grown(extent());
        drop(grip);
        hold.enough.notify_one();
        true
    }
}

impl Hold {
    fn grip(&self) -> MutexGuard<'_, Grip> {
        // Nothing panics while it holds this lock.
        self.grip.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
