//! What a run sends beside its answer: words to a named place, a file there or into its own conversation. It is recorded
//! under the run's lease, in the outbox like everything else; what cannot be sent is refused in words that say what can
//! be done instead.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::capabilities::{Capability, DeliveryWindow};
use talaria_domain::ids::{EventId, PartId, SessionId};
use talaria_domain::job::Promise;
use talaria_domain::live::Happening;
use talaria_domain::profile::Account;
use talaria_domain::runner::Letter;
use talaria_domain::session_key::{SessionKey, Source};
use talaria_store::sessions::{self, Opening};
use talaria_store::{Result, StoreError, Tx, inbox, jobs, keys, leases};

use super::begin::Begun;
use super::reach::{STOPPED, TurnReach};
use crate::delivery::say::{self, Place};
use crate::files::Files;
use crate::files::out::{self, Copied};
use crate::files::share::Whose;
use crate::jobs::target::{self, Target};
use crate::jobs::{Answer, unreachable_later};
use crate::shared::Shared;

/// What to do where no file can be sent.
const INSTEAD: &str = "put what matters into your answer, or say where the file is";

/// What is recorded: words, or a file with words beside it.
enum Sent {
    Words(String),
    File(PartId, Copied, String),
}

impl TurnReach {
    /// Sends a letter, or says why not.
    pub(super) async fn post(&self, letter: Letter) -> Answer<String> {
        self.begun.written.precedes().await;
        let Letter { target, text, file } = letter;
        let text = text.trim().to_owned();
        if file.is_none() && text.is_empty() {
            return Err("expected some text, found none".to_owned());
        }
        let to = match (&target, &file) {
            (Some(target), _) => self.place_at(self.address_of(&target::parse(target)?)?),
            (None, Some(_)) => self.own_place(),
            (None, None) => {
                let why =
                    "say where, as PLATFORM:CHAT: your answer in this conversation is sent anyway";
                return Err(why.to_owned());
            }
        };
        let sent = match file {
            None => Sent::Words(text),
            Some(file) => self.prepare(&to.address, file, text).await?,
        };
        self.record(to, sent).await
    }

    async fn record(&self, to: ReturnAddress, sent: Sent) -> Answer<String> {
        let (this, begun, sent) = (
            Arc::clone(&self.shared),
            Arc::clone(&self.begun),
            Arc::new(sent),
        );
        let what = Arc::clone(&sent);
        let written = self.shared.ledger.write(move |tx| {
            leases::fence(tx, &begun.lease)?;
            let place = match open(tx, &this, &begun, &to)? {
                Ok(place) => place,
                Err(words) => return Ok(Err(words)),
            };
            let said = match &*what {
                Sent::Words(text) => say::notice(tx, &this, &place, text)?,
                Sent::File(part, copied, caption) => {
                    let file = (&copied.attachment, caption.as_str());
                    say::file(tx, &this, &place, (*part, begun.run), file)?
                }
            };
            Ok(Ok((place.session(), said)))
        });
        let refused = match written.await {
            Ok(Ok((session, said))) => {
                let words = match &said {
                    Happening::Said { reply, .. } => format!("recorded as reply {reply}"),
                    _ => "recorded".to_owned(),
                };
                self.shared.watchers.tell(session, said);
                return Ok(words);
            }
            Ok(Err(words)) => words,
            Err(StoreError::Conflict(_)) => STOPPED.to_owned(),
            // It may have been recorded: then its copy is needed.
            Err(error) => return Err(error.to_string()),
        };
        if let Sent::File(_, copied, _) = &*sent {
            copied.discard().await;
        }
        Err(refused)
    }

    /// Looks at a file and makes the copy that will be sent, or says why it cannot be.
    async fn prepare(&self, to: &Address, file: PathBuf, caption: String) -> Answer<Sent> {
        let settings = &self.shared.settings;
        let Some(files) = &settings.files else {
            return Err(format!(
                "this gateway keeps no files, so that none can be sent: {INSTEAD}"
            ));
        };
        let account = settings.account(to);
        let media = account.and_then(|account| account.adapter.abilities().media);
        let (Some(account), Some(media)) = (account, media) else {
            let platform = to.platform.as_str();
            return Err(format!("no file can be sent on {platform:?}: {INSTEAD}"));
        };
        let capabilities = account.adapter.capabilities();
        if capabilities.can.contains(&Capability::ReadsLedger) {
            return Err(format!("text is all that is shown there: {INSTEAD}"));
        }
        let pieces = (settings.split)(&caption, capabilities.text_limit);
        if pieces.len() > 1 {
            let most = capabilities.text_limit.max;
            return Err(format!(
                "the text beside a file is too long: at most {most} characters fit, say the rest in your answer"
            ));
        }
        let found = out::look(files, file.clone(), media.most_bytes()).await?;
        if let Whose::Events(event) = found.whose {
            self.check_own(event, &file).await?;
        }
        self.copy(files, found, caption).await
    }

    async fn copy(&self, files: &Files, found: out::Sendable, caption: String) -> Answer<Sent> {
        let part = PartId::next(&*self.shared.ids, self.shared.now());
        let copied = found.copy(files, part).await?;
        Ok(Sent::File(part, copied, caption))
    }

    /// What was sent into another conversation is not there, in the same words.
    async fn check_own(&self, event: EventId, asked: &Path) -> Answer<()> {
        let begun = Arc::clone(&self.begun);
        let is_own = self
            .shared
            .ledger
            .read(move |tx| is_own(tx, &begun, event))
            .await;
        match is_own {
            Ok(true) => Ok(()),
            Ok(false) => Err(out::nothing(asked)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Where a target is, through an account of the run's own profile.
    fn address_of(&self, target: &Target) -> Answer<Address> {
        let own = &self.begun.place.0;
        let (platform, profile) = (target.platform.as_str(), own.profile.as_str());
        let accounts = self.shared.settings.accounts.iter();
        let usable: Vec<&Account> = accounts
            .map(|account| account.adapter.account())
            .filter(|account| account.platform == target.platform && account.profile == own.profile)
            .collect();
        let is_own = |account: &&&Account| {
            (&account.platform, &account.name) == (&own.address.platform, &own.address.account)
        };
        let account = match usable.as_slice() {
            [] => {
                return Err(format!(
                    "the profile {profile:?} has no account on {platform:?}"
                ));
            }
            [only] => only,
            several => several.iter().find(is_own).ok_or_else(|| {
                format!("the profile {profile:?} has more than one account on {platform:?}")
            })?,
        };
        Ok(Address {
            platform: target.platform.clone(),
            account: account.name.clone(),
            chat_kind: ChatKind::Direct,
            chat: target.chat.clone(),
            thread: target.thread.clone(),
            reply_to: None,
        })
    }

    /// The run's own place is known better than by its name.
    fn place_at(&self, address: Address) -> ReturnAddress {
        let own = self.own_place();
        if own.address.target() == address.target() {
            return own;
        }
        ReturnAddress { address, ..own }
    }

    /// Where the run answers, without being an answer to a message.
    fn own_place(&self) -> ReturnAddress {
        let mut own = (*self.begun.place.0).clone();
        own.address.reply_to = None;
        own
    }
}

/// Whether an event is of the run's conversation, or of the one that it does a task for.
fn is_own(tx: &mut Tx<'_>, begun: &Begun, event: EventId) -> Result<bool> {
    let session = match inbox::get(tx, event) {
        Ok(row) => row.session,
        Err(StoreError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let asking = match &begun.errand {
        Some(errand) => jobs::find(tx, errand.job)?.map(|job| job.return_to.session),
        None => None,
    };
    Ok(session == begun.session() || Some(session) == asking)
}

/// The conversation at a place; made where a platform has the chat and we have not met it.
fn open(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    to: &ReturnAddress,
) -> Result<Answer<Place>> {
    let address = &to.address;
    let found = shared.settings.account(address);
    let capabilities = found.map(|account| account.adapter.capabilities());
    let is_here = address.target() == begun.place.0.address.target();
    let window = capabilities
        .as_ref()
        .map_or(DeliveryWindow::Never, |it| it.window);
    if !is_here && !window.may_promise(shared.now()) {
        return Ok(Err(unreachable_later(Promise::Notice)));
    }
    if is_here && begun.errand.is_none() {
        return Ok(Ok(Place::of(to.clone())));
    }
    let sharing = begun.profile.profile.sharing;
    let key = SessionKey::derive(&to.profile, &Source::of(address, &to.requester), sharing);
    let reads = capabilities.is_some_and(|it| it.can.contains(&Capability::ReadsLedger));
    if reads && keys::current(tx, key.id())?.is_none() {
        let (platform, chat) = (address.platform.as_str(), address.chat.as_str());
        return Ok(Err(format!(
            "there is no conversation {chat:?} on {platform:?}"
        )));
    }
    let (owner, now) = (key.owner(&to.requester), shared.now());
    let opening = Opening::of(key, owner, SessionId::next(&*shared.ids, now), now);
    let session = sessions::resolve(tx, &opening)?;
    Ok(Ok(Place::of(ReturnAddress {
        session,
        ..to.clone()
    })))
}
