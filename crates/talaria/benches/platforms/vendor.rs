//! A simulated vendor as a process of its own, with the people who write there: this binary once more. It is told what to
//! do line by line, and answers each with a line.

use std::process::Stdio;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use talaria_platforms::{Connection, Credential, Workshop};
use talaria_sim::certify::Candidate;
use talaria_sim::crash;
use talaria_sim::vendor::venue::Venue;
use talaria_sim::vendor::{Fault, Mishap, On};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::direct::client;
use crate::people::{Heard, People};

/// What this binary is asked with to be a vendor: the candidate's title and how many bots there are follow.
pub(crate) const ROLE: &str = "--be-the-vendor";

/// Nobody is found there.
const NOWHERE: &str = "http://no-such-host.invalid";

/// More than any of them publishes.
const WIDE: &str = "rate = { chat = 1000, account = 1000 }\n";

/// What is known of a vendor.
#[derive(Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// What the operator would write about each bot.
    pub(crate) accounts: Vec<String>,
    /// The same about one whose token is not accepted.
    pub(crate) revoked: String,
    /// The same about one that looks for its vendor where nobody is.
    pub(crate) nowhere: String,
    /// How long a message waits for more of the same sender.
    pub(crate) window: Duration,
    /// The time between two messages of one account, as the platform publishes it; zero where it publishes none.
    pub(crate) every: Duration,
}

impl Greeting {
    /// What the operator would write about this bot so that the gateway is measured and not what is published.
    pub(crate) fn widened(&self, bot: usize) -> String {
        let wide = if self.every.is_zero() { "" } else { WIDE };
        format!("{}{wide}", self.accounts[bot])
    }
}

/// What a vendor is told to do.
#[derive(Serialize, Deserialize)]
enum Order {
    /// So many people talk for so long.
    Talk(usize, Duration),
    /// Nothing is said any more to whoever connects.
    Mute,
}

/// A vendor under way. It ends with this.
pub(crate) struct Vendor {
    pub(crate) candidate: Candidate,
    pub(crate) greeting: Greeting,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Vendor {
    /// One that knows so many bots.
    pub(crate) async fn start(candidate: Candidate, bots: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([ROLE, &candidate.title(), &bots.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            candidate,
            greeting: answer(&mut answers).await,
            orders: child.stdin.take().unwrap(),
            answers,
            _child: child,
        }
    }

    /// So many people talk for a while. Everything they said is answered when this ends.
    pub(crate) async fn talk(&mut self, people: usize, time: Duration) -> Vec<Heard> {
        self.tell(&Order::Talk(people, time)).await
    }

    /// Counts once more: what was said since is seen as well.
    pub(crate) async fn recount(&mut self) {
        self.talk(0, Duration::ZERO).await;
    }

    /// Nothing is said any more to whoever connects.
    pub(crate) async fn fall_mute(&mut self) {
        self.tell::<()>(&Order::Mute).await;
    }

    async fn tell<T: DeserializeOwned>(&mut self, order: &Order) -> T {
        let line = serde_json::to_string(order).unwrap() + "\n";
        self.orders.write_all(line.as_bytes()).await.unwrap();
        answer(&mut self.answers).await
    }
}

async fn answer<T: DeserializeOwned>(answers: &mut Lines<BufReader<ChildStdout>>) -> T {
    let line = answers.next_line().await.unwrap();
    serde_json::from_str(&line.expect("the vendor ended")).unwrap()
}

/// Serves until nobody needs it any more.
pub(crate) async fn serve(title: &str, bots: usize) {
    let mut all = talaria_sim::candidates().into_iter();
    let candidate = all.find(|it| it.title() == title).unwrap();
    let venue = match candidate.several {
        Some(several) => (several.start)(bots).await.unwrap(),
        None => (candidate.start)(0).await.unwrap(),
    };
    let people = People::at(venue.stage(), candidate.places.direct);
    let mut listening = tokio::task::JoinSet::new();
    listening.spawn(std::sync::Arc::clone(&people).listen());
    say(&greeting(&candidate, &*venue, bots)).await;
    let mut orders = BufReader::new(tokio::io::stdin()).lines();
    while let Some(order) = orders.next_line().await.unwrap() {
        match serde_json::from_str(&order).unwrap() {
            Order::Talk(count, time) => {
                let heard = people.talk(count, time).await;
                people.count();
                say(&heard).await;
            }
            Order::Mute => {
                mute(&*venue);
                say(&()).await;
            }
        }
    }
}

fn greeting(candidate: &Candidate, venue: &dyn Venue, bots: usize) -> Greeting {
    let url = format!("http://{}", venue.address());
    let bot = |url: &str, number: usize| match candidate.several {
        Some(several) => (several.credential)(url, number),
        None => (candidate.credential)(url, true),
    };
    let platform = candidate.platform;
    let account = |number: usize| crash::written(&format!("{platform}{number}"), bot(&url, number));
    let revoked = (candidate.credential)(&url, false);
    let usual = connection(bot(&url, 1));
    Greeting {
        accounts: (1..=bots).map(account).collect(),
        revoked: crash::written(&format!("revoked-{platform}"), revoked),
        nowhere: crash::written(&format!("nowhere-{platform}"), bot(NOWHERE, bots + 1)),
        window: usual.merge_window,
        every: usual.account.every,
    }
}

/// An adapter as it usually is.
fn connection(credential: Credential) -> Connection {
    use talaria_domain::clock::SystemClock;
    use talaria_domain::ids::RandomIds;
    let workshop = Workshop {
        client: client(),
        clock: std::sync::Arc::new(SystemClock),
        ids: std::sync::Arc::new(RandomIds::default()),
    };
    talaria_platforms::connect(credential, &workshop).unwrap_or_else(|why| panic!("{why}"))
}

fn mute(venue: &dyn Venue) {
    for on in [On::Connect, On::Updates] {
        venue.stage().order(Fault {
            on,
            mishap: Mishap::Hang,
            retry_after: None,
            times: u32::MAX,
        });
    }
}

async fn say(answer: &impl Serialize) {
    let line = serde_json::to_string(answer).unwrap() + "\n";
    let mut out = tokio::io::stdout();
    out.write_all(line.as_bytes()).await.unwrap();
    out.flush().await.unwrap();
}
