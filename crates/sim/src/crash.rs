//! The real binary with its real store, a vendor for every platform with real HTTP, a load in direct chats and threads,
//! and kill -9 at random, again and again; then everything is counted. Now and then an answer is lost on its way, or the
//! word that it arrived. Every message is answered exactly once, in its own thread, where the platform takes keys or
//! edits; where it takes neither, nothing is there twice, and each message without an answer has a dead letter of its
//! own.

mod gateway;
mod letters;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use talaria_domain::secret::ExposeSecret as _;
use talaria_platforms::Credential;

use self::gateway::Gateway;
use self::letters::{Letter, Marked};
use crate::certify::Candidate;
use crate::model;
use crate::universe::chance::Chance;
use crate::vendor::venue::Venue;
use crate::vendor::{Fault, Mishap, On};

/// How to crash.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The gateway's binary.
    #[arg(long)]
    gateway: PathBuf,
    /// How often it is killed.
    #[arg(long, default_value_t = 50)]
    rounds: u32,
    /// Where choices come from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this platform.
    #[arg(long)]
    platform: Option<String>,
}

/// People on each platform.
const PEOPLE: u64 = 12;
/// One message in so many comes with a fault.
const FAULTS: u64 = 8;
/// The longest that everything may take to come to its end.
const PATIENCE: Duration = Duration::from_mins(3);

/// A platform, and what was written there: by what word, and where.
struct Party {
    candidate: Candidate,
    venue: Box<dyn Venue>,
    written: BTreeMap<String, Place>,
}

/// Where something was written, and is to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    chat: String,
    thread: Option<String>,
}

/// What was counted.
#[derive(Debug, Default)]
struct Count {
    once: usize,
    missing: Vec<String>,
    twice: Vec<String>,
    astray: Vec<String>,
}

impl Arguments {
    /// Crashes and counts.
    pub async fn crash(self, mut out: impl Write) -> anyhow::Result<()> {
        // One provider for every connection of the process; that it is there already is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
        let model = model::Server::start("127.0.0.1:0", model::Pace::default()).await?;
        let mut parties = self.parties().await?;
        let home = tempfile::tempdir_in("/var/tmp")?;
        std::fs::write(
            home.path().join("talaria.toml"),
            configuration(&model.url(), &parties),
        )?;
        let mut chance = Chance::from_seed(self.seed);
        for round in 1..=self.rounds {
            let gateway = Gateway::start(&self.gateway, home.path()).await?;
            talk(&mut parties, &mut chance, round).await;
            gateway.kill()?;
            if round % 10 == 0 {
                writeln!(out, "killed {round} times")?;
            }
        }
        let gateway = Gateway::start(&self.gateway, home.path()).await?;
        settle(&gateway, &parties).await?;
        let letters = gateway.letters().await?;
        let result = judge(&mut out, &parties, &letters);
        gateway.stop()?;
        if result.is_err() {
            let kept = home.keep();
            writeln!(out, "the store is kept in {}", kept.display())?;
        }
        result
    }

    /// A vendor for each platform.
    async fn parties(&self) -> anyhow::Result<Vec<Party>> {
        let mut parties = Vec::new();
        for candidate in crate::candidates() {
            let wanted = self.platform.as_deref();
            if wanted.is_none_or(|wanted| wanted == candidate.platform) {
                parties.push(Party {
                    candidate,
                    venue: (candidate.start)(0).await?,
                    written: BTreeMap::new(),
                });
            }
        }
        ensure!(
            !parties.is_empty(),
            "there is no platform {:?}",
            self.platform
        );
        Ok(parties)
    }
}

fn configuration(model: &str, parties: &[Party]) -> String {
    let mut text = format!(
        "[store]\nurl = \"sqlite\"\ndurability = \"process\"\n\
         [model.main]\nprovider = \"openai\"\nbase_url = \"{model}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\ninstructions = \"\"\ntools = []\n"
    );
    for party in parties {
        text.push_str(&account(&party.candidate, &*party.venue));
    }
    text
}

/// What an operator would write to get there, with everybody let in.
pub fn account(candidate: &Candidate, venue: &dyn Venue) -> String {
    let url = format!("http://{}", venue.address());
    written(&named(candidate), (candidate.credential)(&url, true))
}

/// The same for any credential, under this name.
pub fn written(name: &str, credential: Credential) -> String {
    let account = &credential.account;
    let mut lines = vec![
        "[[account]]".to_owned(),
        format!("platform = {:?}", account.platform.as_str()),
        format!("name = {name:?}"),
        format!("profile = {:?}", account.profile.as_str()),
        "allow = [\"*\"]".to_owned(),
    ];
    let url = credential.api_base.as_ref();
    lines.extend(url.map(|url| format!("api_base = {:?}", url.as_str().trim_end_matches('/'))));
    let secrets = [
        ("token", credential.token),
        ("app_token", credential.app_token),
    ];
    for (name, secret) in secrets {
        lines.extend(secret.map(|secret| format!("{name} = {:?}", secret.expose_secret())));
    }
    lines.join("\n") + "\n"
}

fn named(candidate: &Candidate) -> String {
    format!("{}{}", candidate.platform, candidate.name)
}

/// People write, for a moment that may be too short for any answer.
async fn talk(parties: &mut [Party], chance: &mut Chance, round: u32) {
    for number in 0..chance.below(20) {
        let count = parties.len() as u64;
        let Some(party) = parties.get_mut(usize::try_from(chance.below(count)).unwrap_or(0)) else {
            return;
        };
        let word = format!("w{round}x{number}");
        let who = chance.below(PEOPLE) + 1;
        if chance.is_one_in(FAULTS) {
            party.venue.stage().order(loss(chance));
        }
        let places = party.candidate.places;
        let written = match places.thread {
            Some(thread) if chance.is_one_in(2) => thread(who, &word),
            _ => (places.direct)(who, &word),
        };
        party.venue.stage().write(&written);
        let place = Place {
            chat: written.chat,
            thread: written.thread,
        };
        party.written.insert(word, place);
        tokio::time::sleep(Duration::from_millis(chance.below(15))).await;
    }
    tokio::time::sleep(Duration::from_millis(chance.below(250))).await;
}

/// An answer does not arrive, or it is not heard that it did.
fn loss(chance: &mut Chance) -> Fault {
    Fault {
        on: On::Send,
        mishap: chance
            .pick(&[&Mishap::Close, &Mishap::DropAfterAccept])
            .clone(),
        retry_after: None,
        times: 1,
    }
}

/// Waits until nothing is under way any more.
async fn settle(gateway: &Gateway, parties: &[Party]) -> anyhow::Result<()> {
    let settled = async {
        loop {
            let backlog = |party: &Party| party.venue.stage().look().backlog;
            let backlog: usize = parties.iter().map(backlog).sum();
            if backlog == 0 && gateway.is_idle().await? {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled)
        .await
        .context("messages are still under way")?
}

fn judge(mut out: impl Write, parties: &[Party], letters: &[Letter]) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for party in parties {
        let (count, account) = (count(party), named(&party.candidate));
        let is_told = |word: &String| {
            let chat = &party.written[word].chat;
            let account = &account;
            letters::is_told(
                letters,
                Marked {
                    account,
                    chat,
                    word,
                },
            )
        };
        let missing = count.missing.iter();
        let untold = missing
            .filter(|word| !party.candidate.doubts || !is_told(word))
            .count();
        writeln!(
            out,
            "{account:<12} {} written, {} answered once, {} not to be seen ({untold} of them untold), {} twice, {} astray",
            party.written.len(),
            count.once,
            count.missing.len(),
            count.twice.len(),
            count.astray.len()
        )?;
        if untold > 0 || !count.twice.is_empty() || !count.astray.is_empty() {
            faults.push(format!("{account}: {count:?}"));
            describe(&mut out, party, &count)?;
        }
    }
    writeln!(out, "dead letters: {}", letters.len())?;
    ensure!(faults.is_empty(), "promises were broken: {faults:?}");
    Ok(())
}

/// What people see where something is wrong.
fn describe(mut out: impl Write, party: &Party, count: &Count) -> anyhow::Result<()> {
    let wrong = [&count.missing, &count.twice, &count.astray];
    let sight = party.venue.stage().look();
    for word in wrong.into_iter().flatten() {
        let place = &party.written[word];
        writeln!(out, "{word} in {place:?}:")?;
        let chats = sight.chats.iter().filter(|chat| chat.chat == place.chat);
        for message in chats.flat_map(|chat| &chat.messages) {
            let (id, text, edits) = (&message.message_id, &message.text, message.edits);
            let (ours, thread) = (message.ours, &message.thread);
            writeln!(
                out,
                "  {id} ours={ours} thread={thread:?} edits={edits}: {text:?}"
            )?;
        }
    }
    Ok(())
}

fn count(party: &Party) -> Count {
    let mut seen: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    let sight = party.venue.stage().look();
    for (chat, message) in sight.ours() {
        let place = Place {
            chat: chat.chat.clone(),
            thread: message.thread.clone(),
        };
        for word in message.text.split_whitespace() {
            if let Some((word, _)) = party.written.get_key_value(word) {
                seen.entry(word).or_default().push(place.clone());
            }
        }
    }
    let mut count = Count::default();
    for (word, written) in &party.written {
        let places = seen.get(word.as_str()).map_or(&[][..], Vec::as_slice);
        match places {
            [] => count.missing.push(word.clone()),
            [place] if place == written => count.once += 1,
            [_] => count.astray.push(word.clone()),
            _ => count.twice.push(word.clone()),
        }
    }
    count
}
