//! Whether the beginning of a turn is committed. A turn that begins where its event is taken in may think before that is
//! known; until then nobody outside notices anything of it, and if its beginning was undone nobody ever does.

use tokio::sync::SetOnce;

/// Whether a beginning is committed, once that is known.
#[derive(Debug, Default)]
pub(crate) struct Written(SetOnce<Beginning>);

/// What became of a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// It is committed.
    Stands,
    /// There never was one.
    IsUndone,
}

impl Written {
    /// It is known. What was known before stays.
    pub(crate) fn tell(&self, beginning: Beginning) {
        drop(self.0.set(beginning));
    }

    /// Waits until it is known.
    pub(crate) async fn known(&self) -> Beginning {
        *self.0.wait().await
    }

    /// Ends when it turns out that there never was a beginning; otherwise never.
    pub(crate) async fn undone(&self) {
        if self.known().await == Beginning::Stands {
            std::future::pending::<()>().await;
        }
    }
}
