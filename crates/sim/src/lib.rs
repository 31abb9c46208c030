//! The simulated world, for tests and benchmarks: people who say things ([`people`]), a chat platform they say them on
//! ([`chat`]), a runner that does what it is told ([`script`]), a machine that
//! its processes run on ([`machine`]), a clock that follows the runtime ([`time`]), a
//! load that tells what was acknowledged ([`writers`]), whole worlds made from a seed ([`universe`]) with a trace of what
//! happened in them ([`trace`]), vendors that speak their wire protocols ([`vendor`], [`Platform`]), a model
//! whose answers are scripted ([`model`]), and real servers to lose ([`servers`]).

pub mod certify;
pub mod chat;
pub mod crash;
pub mod discord;
pub mod machine;
pub mod model;
pub mod people;
pub mod relay;
pub mod script;
pub mod servers;
pub mod slack;
pub mod telegram;
pub mod time;
pub mod trace;
pub mod universe;
pub mod vendor;
pub mod writers;

/// The platforms whose vendors `talaria-sim` can be; one line each.
#[derive(Debug, clap::Subcommand)]
pub enum Platform {
    /// Discord: gateway and HTTP API, version 10. Example: `talaria-sim discord --listen 127.0.0.1:4812 --token T`
    Discord(discord::Arguments),
    /// A bridge that speaks the protocol of docs/relay.md. Example: `talaria-sim relay --listen 127.0.0.1:4801`
    Relay(relay::Arguments),
    /// The Bot API for any number of bots. Example: `talaria-sim telegram --listen 127.0.0.1:4803 --token 1:secret`
    Telegram(telegram::Arguments),
    /// Slack: Web API, Socket Mode, Events API. Example: `talaria-sim slack --listen 127.0.0.1:4805`
    Slack(slack::Arguments),
}

impl Platform {
    /// Serves until the process ends.
    pub async fn serve(self) -> std::io::Result<()> {
        match self {
            Self::Discord(arguments) => arguments.serve().await,
            Self::Relay(arguments) => arguments.serve().await,
            Self::Telegram(arguments) => arguments.serve().await,
            Self::Slack(arguments) => arguments.serve().await,
        }
    }
}

/// The adapters that are certified and crashed; one line each.
pub fn candidates() -> Vec<certify::Candidate> {
    let mut all = relay::candidate::CANDIDATES.to_vec();
    all.push(telegram::candidate::CANDIDATE);
    all.push(discord::candidate::CANDIDATE);
    all.push(slack::candidate::CANDIDATE);
    all
}
