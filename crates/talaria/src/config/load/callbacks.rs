//! Pure: where programs may be called back. Without a secret nobody could tell our posts from a stranger's, so that a list
//! needs one; what goes out unencrypted is allowed where it is listed, and loud.

use talaria_platforms::callback::allow::AllowList;
use talaria_platforms::callback::signature::Signer;

use super::Loading;
use crate::config::effective::Callbacks;
use crate::config::file::CallbacksSection;

const ALLOW: &str = "server.callbacks.allow";
const SECRET: &str = "server.callbacks.secret";

impl Loading<'_> {
    pub(super) fn callbacks(&mut self, section: CallbacksSection) -> Option<Callbacks> {
        let is_given = section.secret.is_some();
        let secret = self.secret(SECRET, section.secret);
        if section.allow.is_empty() {
            if is_given {
                let what = "nobody is called back, because allow is empty";
                self.warn(SECRET, what.to_owned());
            }
            return None;
        }
        let allow = self.allow_list(&section.allow);
        if !is_given {
            let what = "missing, and needed with allow: secret = { env = \"NAME\" }, with whsec_ and the answer of `openssl rand -base64 32` in it";
            self.refuse(SECRET, what.to_owned());
        }
        let signer = secret.map(|secret| Signer::with(&secret.value));
        let signer = signer.and_then(|signer| {
            signer
                .map_err(|what| self.refuse(SECRET, what.to_owned()))
                .ok()
        });
        Some(Callbacks {
            allow: allow?,
            signer: signer?,
        })
    }

    fn allow_list(&mut self, entries: &[String]) -> Option<AllowList> {
        let allow = AllowList::read(entries)
            .map_err(|bad| {
                let number = bad.index + 1;
                self.refuse(ALLOW, format!("entry {number}: {}", bad.why));
            })
            .ok()?;
        for index in allow.unencrypted() {
            let number = index + 1;
            let what = format!(
                "entry {number}: what is posted there can be read on the way, because it is not https"
            );
            self.warn(ALLOW, what);
        }
        Some(allow)
    }
}
