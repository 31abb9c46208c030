//! Surfaces of our own: the terminal, the web page, programs that call us. They read the ledger and watch sessions, so
//! that what is recorded for them is there; their events come in through the server, which has checked who speaks.

use std::sync::Arc;

use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Identity, Intake, Outgoing, Pending,
};
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow, TextLimit, TextUnit};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::names::ProfileName;
use talaria_domain::profile::Account;

/// Our own surfaces, and for how long a conversation there can be reached: a page and a terminal find what was said when
/// they come back, a program is gone when its request is answered.
pub const SURFACES: [(&str, DeliveryWindow); 3] = [
    ("web", DeliveryWindow::Always),
    ("terminal", DeliveryWindow::Always),
    ("api", DeliveryWindow::InTurnOnly),
];

/// One of our own surfaces.
pub struct Local {
    account: Account,
    window: DeliveryWindow,
    clock: Arc<dyn Clock>,
}

impl Local {
    /// The surface called `platform`, where this profile answers.
    pub fn of(
        (platform, window): (&str, DeliveryWindow),
        profile: &ProfileName,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        Self {
            window,
            account: Account {
                platform: platform.into(),
                name: "default".into(),
                profile: profile.clone(),
            },
            clock: Arc::clone(clock),
        }
    }
}

impl Adapter for Local {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            can: [Capability::IdempotentSend, Capability::ReadsLedger].into(),
            text_limit: TextLimit {
                max: usize::MAX,
                unit: TextUnit::Bytes,
            },
            window: self.window,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        let identity = Identity {
            id: self.account.platform.as_str().into(),
            name: self.account.platform.to_string(),
        };
        match intake.connected(&self.account, &identity) {
            Ok(()) => Box::pin(std::future::pending()),
            Err(ended) => Box::pin(std::future::ready(ended)),
        }
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        let receipt = Receipt {
            message: outgoing.part.id.to_string().into(),
            at: self.clock.now(),
        };
        Box::pin(std::future::ready(Outcome::Delivered {
            receipts: vec![receipt],
        }))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }
}
