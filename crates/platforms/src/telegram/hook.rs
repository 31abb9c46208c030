//! The platform calls us. Whoever calls proves with the secret of "setWebhook" that it is the platform; only then is the
//! body looked at. "Got it" is answered after intake said so: anything else makes the platform call again.

use serde_json::Value;
use subtle::ConstantTimeEq as _;
use talaria_domain::adapter::{Hook, HookAnswer, HookCall, Intake, Pending};
use talaria_domain::secret::{ExposeSecret as _, SecretString};

use super::{Telegram, connection};

/// The header that has the secret.
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// A body that came from the platform.
struct Verified<'a>(&'a [u8]);

impl<'a> Verified<'a> {
    /// The body of a call, if the call proves itself. There is no other way to a body.
    fn check(call: &'a HookCall, secret: &SecretString) -> Option<Self> {
        let (ours, theirs) = (
            secret.expose_secret().as_bytes(),
            call.header(HEADER)?.as_bytes(),
        );
        let is_same = !ours.is_empty() && bool::from(ours.ct_eq(theirs));
        is_same.then_some(Self(&call.body))
    }
}

impl Telegram {
    async fn called(&self, call: &HookCall, intake: &dyn Intake) -> HookAnswer {
        let hooked = self.hooked.as_ref();
        let Some(Verified(body)) = hooked.and_then(|hooked| Verified::check(call, &hooked.secret))
        else {
            return answer(401);
        };
        // Before we know who we are, nobody can say whom a message is for.
        let Some(me) = self.known().me.clone() else {
            return answer(503);
        };
        let Ok(update) = serde_json::from_slice::<Value>(body) else {
            tracing::warn!(account = %self.account.name, "a call that is not JSON is passed over");
            return answer(200);
        };
        match connection::take(self, intake, (&me, update)).await {
            Ok(()) => answer(200),
            Err(refused) => {
                tracing::warn!(account = %self.account.name, why = refused.reason, "not accepted");
                answer(503)
            }
        }
    }
}

const fn answer(status: u16) -> HookAnswer {
    HookAnswer {
        status,
        media_type: "text/plain",
        body: String::new(),
    }
}

impl Hook for Telegram {
    fn take<'a>(&'a self, call: &'a HookCall, intake: &'a dyn Intake) -> Pending<'a, HookAnswer> {
        Box::pin(self.called(call, intake))
    }
}
