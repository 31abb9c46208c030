//! Tells the book of jobs something until it takes it. The ledger may be away for a while; what ended meanwhile is
//! told when it is back.

use std::time::Duration;

use talaria_domain::adapter::Pending;
use talaria_domain::job::JobError;
use tokio::time;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Tries until it is taken, or refused for good. Every attempt says the same.
pub(super) async fn insist<'a>(
    what: &'static str,
    attempt: impl Fn() -> Pending<'a, Result<(), JobError>>,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt().await {
            Ok(()) => return,
            Err(JobError::Unavailable(why)) => {
                tracing::warn!(what, why, "the book of jobs is away: it is told again");
            }
            Err(error) => {
                tracing::warn!(what, %error, "the book of jobs does not take it");
                return;
            }
        }
        // Not polling: the book is away; each pause is longer than the last.
        // Not polling: the ledger is away, and gets a longer pause each time.
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
