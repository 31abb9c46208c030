//! What an operator can take away from a run that is under way. Which runs there are, and who does something for them, is
//! the gateway's knowledge, so the gateway takes it away; this is what it is asked with.

use talaria_domain::adapter::Pending;
use talaria_domain::authority::Revocation;
use talaria_domain::ids::RunId;
use talaria_store::Result;

/// Who takes rights away.
pub trait Rights: Send + Sync {
    /// Takes something away from a run and from whatever runs for it, for good. Gives which runs these are. When this is
    /// answered, it counts.
    fn revoke(&self, run: RunId, what: Revocation) -> Pending<'_, Result<Vec<RunId>>>;
}
