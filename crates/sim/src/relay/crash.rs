//! The real binary with its real store, three bridges with real HTTP, a load, and kill -9 at random, again and again; then
//! everything is counted. Now and then an answer is lost on its way, or the word that it arrived. Every message is answered
//! exactly once where the platform takes keys or edits; where it takes neither, nothing is there twice, and each message
//! without an answer has a dead letter of its own.

mod gateway;
mod letters;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use self::gateway::Gateway;
use self::letters::{Letter, Marked};
use super::{Fault, Mishap, Offer, On, Server, Terms, Written};
use crate::model;
use crate::universe::chance::Chance;

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
}

const OFFERS: [(&str, Offer); 3] = [
    ("keys", Offer::Keys),
    ("edits", Offer::Edits),
    ("plain", Offer::Plain),
];
/// People on each bridge.
const PEOPLE: u64 = 12;
/// One message in so many comes with a fault.
const FAULTS: u64 = 8;
/// The longest that everything may take to come to its end.
const PATIENCE: Duration = Duration::from_mins(3);

/// A bridge, and what was written on it: who, by what.
struct Bridge {
    name: &'static str,
    offer: Offer,
    server: Server,
    written: BTreeMap<String, String>,
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
        let mut bridges = Vec::new();
        for (name, offer) in OFFERS {
            let server = super::start("127.0.0.1:0", Terms::offering(offer)).await?;
            bridges.push(Bridge {
                name,
                offer,
                server,
                written: BTreeMap::new(),
            });
        }
        let home = tempfile::tempdir_in("/var/tmp")?;
        std::fs::write(
            home.path().join("talaria.toml"),
            configuration(&model.url(), &bridges),
        )?;
        let mut chance = Chance::from_seed(self.seed);
        for round in 1..=self.rounds {
            let gateway = Gateway::start(&self.gateway, home.path()).await?;
            talk(&mut bridges, &mut chance, round).await;
            gateway.kill()?;
            if round % 10 == 0 {
                writeln!(out, "killed {round} times")?;
            }
        }
        let gateway = Gateway::start(&self.gateway, home.path()).await?;
        settle(&gateway, &bridges).await?;
        let letters = gateway.letters().await?;
        let result = judge(&mut out, &bridges, &letters);
        gateway.stop()?;
        if result.is_err() {
            let kept = home.keep();
            writeln!(out, "the store is kept in {}", kept.display())?;
        }
        result
    }
}

fn configuration(model: &str, bridges: &[Bridge]) -> String {
    let mut text = format!(
        "[store]\nurl = \"sqlite\"\ndurability = \"process\"\n\
         [model.main]\nprovider = \"openai\"\nbase_url = \"{model}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\ninstructions = \"\"\ntools = []\n"
    );
    for bridge in bridges {
        let url = bridge.server.url();
        // Writing to a string cannot fail.
        write!(
            text,
            "[[account]]\nplatform = \"relay\"\nname = \"{}\"\nprofile = \"assistant\"\n\
             api_base = \"{url}\"\ntoken = \"simulated\"\nallow = [\"*\"]\n",
            bridge.name
        )
        .unwrap_or_default();
    }
    text
}

/// People write, for a moment that may be too short for any answer.
async fn talk(bridges: &mut [Bridge], chance: &mut Chance, round: u32) {
    for number in 0..chance.below(20) {
        let bridge = &mut bridges[usize::try_from(chance.below(3)).unwrap_or(0)];
        let who = format!("{}-{}", bridge.name, chance.below(PEOPLE));
        let word = format!("w{round}x{number}");
        if chance.is_one_in(FAULTS) {
            bridge.server.vendor().order(loss(chance));
        }
        bridge.server.vendor().write(&Written::direct(&who, &word));
        bridge.written.insert(word, format!("chat of {who}"));
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
async fn settle(gateway: &Gateway, bridges: &[Bridge]) -> anyhow::Result<()> {
    let settled = async {
        loop {
            let backlog: usize = bridges
                .iter()
                .map(|bridge| bridge.server.vendor().backlog())
                .sum();
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

fn judge(mut out: impl Write, bridges: &[Bridge], letters: &[Letter]) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for bridge in bridges {
        let count = count(bridge);
        let missing = count.missing.iter().filter(|word| {
            let (account, chat) = (bridge.name, &bridge.written[*word]);
            bridge.offer != Offer::Plain
                || !letters::is_told(
                    letters,
                    Marked {
                        account,
                        chat,
                        word,
                    },
                )
        });
        let untold = missing.count();
        writeln!(
            out,
            "{:<6} {} written, {} answered once, {} not to be seen ({untold} of them untold), {} twice, {} astray",
            bridge.name,
            bridge.written.len(),
            count.once,
            count.missing.len(),
            count.twice.len(),
            count.astray.len()
        )?;
        if untold > 0 || !count.twice.is_empty() || !count.astray.is_empty() {
            faults.push(format!("{}: {count:?}", bridge.name));
            describe(&mut out, bridge, &count)?;
        }
    }
    writeln!(out, "dead letters: {}", letters.len())?;
    ensure!(faults.is_empty(), "promises were broken: {faults:?}");
    Ok(())
}

/// What people see where something is wrong.
fn describe(mut out: impl Write, bridge: &Bridge, count: &Count) -> anyhow::Result<()> {
    let wrong = [&count.missing, &count.twice, &count.astray];
    for word in wrong.into_iter().flatten() {
        let chat = &bridge.written[word];
        writeln!(out, "{word} in {chat:?}:")?;
        for message in bridge.server.vendor().chat(chat).messages {
            let (id, text, edits) = (message.message_id, message.text, message.edits);
            writeln!(out, "  {id} ours={} edits={edits}: {text:?}", message.ours)?;
        }
    }
    Ok(())
}

fn count(bridge: &Bridge) -> Count {
    let mut seen: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let chats = bridge.server.vendor().chats();
    for chat in &chats {
        for message in chat.messages.iter().filter(|message| message.ours) {
            for word in message.text.split_whitespace() {
                if let Some((word, _)) = bridge.written.get_key_value(word) {
                    seen.entry(word).or_default().push(chat.chat.clone());
                }
            }
        }
    }
    let mut count = Count::default();
    for (word, chat) in &bridge.written {
        let places = seen.get(word.as_str()).map_or(&[][..], Vec::as_slice);
        match places {
            [] => count.missing.push(word.clone()),
            [place] if place == chat => count.once += 1,
            [_] => count.astray.push(word.clone()),
            _ => count.twice.push(word.clone()),
        }
    }
    count
}
