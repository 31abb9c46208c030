//! The simulated Slack from the command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use clap::Args;

use super::hooks::{self, Target};
use super::{Bot, Terms};

/// How the simulated Slack is started.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:4805")]
    listen: SocketAddr,
    /// The token of a bot; once for each. Without any there is one bot, and every token is its token.
    #[arg(long)]
    token: Vec<String>,
    /// The app-level token of a bot, in the same order.
    #[arg(long)]
    app_token: Vec<String>,
    /// Where the first bot is called instead of being told over a socket.
    #[arg(long, requires = "secret")]
    hook: Option<String>,
    /// What those calls are signed with.
    #[arg(long)]
    secret: Option<String>,
}

impl Arguments {
    /// Tells where it listens, and serves until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        let app_tokens = self
            .app_token
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let bots = self.token.iter().zip(app_tokens).zip(1..);
        let bots = bots.map(|((token, app_token), number)| {
            let bot = Bot::numbered(number).let_in_by(token);
            match app_token {
                Some(app_token) => bot.connected_by(app_token),
                None => bot,
            }
        });
        let terms = Terms::serving(bots.collect());
        let first = terms.bots().first().map(|bot| bot.user.clone());
        let server = super::start(self.listen, terms).await?;
        writeln!(io::stdout(), "{}", server.url())?;
        let Some(url) = self.hook else {
            return server.ended().await;
        };
        let target = Target {
            bot: first.unwrap_or_default(),
            url,
            secret: self.secret.unwrap_or_default(),
        };
        let vendor = std::sync::Arc::clone(server.vendor());
        tokio::select! {
            biased;
            ended = server.ended() => ended,
            never = hooks::call(&vendor, &target) => match never {},
        }
    }
}
