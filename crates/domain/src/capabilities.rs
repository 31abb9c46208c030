//! What a platform can do, and for how long a conversation can be reached. Promises are made against these
//! and nothing else: whether a late result can be delivered is asked when it is promised, not when it is due.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// One thing about how a platform sends. What it can do beside sending is in [`crate::adapter::Abilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Buttons can be shown.
    Prompts,
    /// A send carries a key that the platform itself deduplicates by.
    IdempotentSend,
    /// It reads the ledger: what is recorded for it is there.
    ReadsLedger,
}

/// What an account on a platform can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// How it sends.
    pub can: BTreeSet<Capability>,
    /// How much text fits into one message.
    pub text_limit: TextLimit,
    /// For how long a conversation there can be reached, unless a conversation has a window of its own.
    pub window: DeliveryWindow,
}

/// How much text fits into one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextLimit {
    /// How many.
    pub max: usize,
    /// Of what.
    pub unit: TextUnit,
}

/// What a platform counts when it counts length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Unicode scalar values.
    Chars,
    /// UTF-16 code units.
    Utf16,
}

impl TextUnit {
    /// How long `text` is in this unit.
    ///
    /// ```
    /// use talaria_domain::capabilities::TextUnit;
    ///
    /// assert_eq!(TextUnit::Bytes.measure("🦀"), 4);
    /// assert_eq!(TextUnit::Utf16.measure("🦀"), 2);
    /// assert_eq!(TextUnit::Chars.measure("🦀"), 1);
    /// ```
    pub fn measure(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::Chars => text.chars().count(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// For how long a conversation can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "window", content = "until", rename_all = "snake_case")]
pub enum DeliveryWindow {
    /// At any time.
    Always,
    /// Up to a time: reply tokens, 24-hour windows.
    Until(Timestamp),
    /// Only while the turn runs: a request that is still open.
    InTurnOnly,
    /// Not at all.
    Never,
}

impl DeliveryWindow {
    /// Whether a result that comes after the turn, at `due`, may be promised.
    ///
    /// ```
    /// use talaria_domain::capabilities::DeliveryWindow;
    /// use talaria_domain::clock::Timestamp;
    ///
    /// let due = Timestamp::from_millis(10);
    /// assert!(DeliveryWindow::Always.may_promise(due));
    /// assert!(DeliveryWindow::Until(due).may_promise(due));
    /// assert!(!DeliveryWindow::Until(Timestamp::ZERO).may_promise(due));
    /// assert!(!DeliveryWindow::InTurnOnly.may_promise(due));
    /// ```
    pub fn may_promise(self, due: Timestamp) -> bool {
        match self {
            Self::Always => true,
            Self::Until(end) => due <= end,
            Self::InTurnOnly | Self::Never => false,
        }
    }
}
