//! What the listener holds everybody to: how much is read and for how long, how many may come, whose pages may call. The
//! operator sets it; without a word these defaults hold.

use std::time::Duration;

/// What the listener holds everybody to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Pages of others whose scripts may call, by their exact origin, such as `https://app.example.org`.
    pub cors_origins: Vec<String>,
    /// How many bytes of a request's body are read.
    pub body_limit: usize,
    /// How many bytes the headers of a request may have.
    pub header_limit: usize,
    /// How long the headers of a request may take, and how long a connection may be quiet between two requests.
    pub header_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How many connections there may be at once.
    pub connections: usize,
    /// What one key may ask for.
    pub turns: TurnLimits,
}

/// How many turns one key may ask for. The operator's own keys are not held to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// So many may be under way.
    pub at_once: usize,
    /// So many may be asked for without a pause.
    pub in_a_row: u32,
    /// After that, so many in a second.
    pub per_second: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            cors_origins: Vec::new(),
            body_limit: 10 * 1024 * 1024,
            header_limit: 64 * 1024,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_mins(2),
            connections: 10_000,
            turns: TurnLimits::default(),
        }
    }
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            at_once: 128,
            in_a_row: 120,
            per_second: 20,
        }
    }
}
