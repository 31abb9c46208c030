//! People at a vendor, each in a chat of their own: they write, wait until the answer is shown there, and write again.
//! Every message carries a number, so that answers can be counted: one for each, in the chat that asked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use talaria_sim::vendor::Written;
use talaria_sim::vendor::venue::Scene;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::direct::{QUESTION, TURNS};

/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// An answer that was seen.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// How long after the people began to talk.
    pub(crate) after: Duration,
    /// How long after its question.
    pub(crate) wait: Duration,
}

/// Everybody who writes at a vendor.
pub(crate) struct People {
    scene: Arc<dyn Scene>,
    direct: fn(u64, &str) -> Written,
    /// How many chats there are.
    chats: AtomicU64,
    asked: Mutex<Asked>,
}

/// What was asked.
#[derive(Default)]
struct Asked {
    /// In which chat each question was asked, by its number.
    chats: Vec<String>,
    /// Who waits for the answer to which.
    waiting: BTreeMap<usize, oneshot::Sender<Instant>>,
}

impl People {
    pub(crate) fn at(scene: Arc<dyn Scene>, direct: fn(u64, &str) -> Written) -> Arc<Self> {
        Arc::new(Self {
            scene,
            direct,
            chats: AtomicU64::new(0),
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap()
    }

    /// Looks at what is shown, and tells those who wait for it. Never ends.
    pub(crate) async fn listen(self: Arc<Self>) {
        let mut after = 0;
        loop {
            let said = self.scene.hear(after).await;
            let now = Instant::now();
            after += said.len();
            let mut asked = self.asked();
            for number in said.iter().filter_map(|shown| number(&shown.text)) {
                if let Some(waiting) = asked.waiting.remove(&number) {
                    waiting.send(now).unwrap();
                }
            }
        }
    }

    /// So many people talk for a while, each as long in one chat as those who ask the model directly, then in the next.
    pub(crate) async fn talk(self: &Arc<Self>, people: usize, time: Duration) -> Vec<Heard> {
        let start = Instant::now();
        let talking = (0..people).map(|_| Arc::clone(self).go_on((start, start + time)));
        let talking: JoinSet<Vec<Heard>> = talking.collect();
        talking.join_all().await.into_iter().flatten().collect()
    }

    async fn go_on(self: Arc<Self>, (start, end): (Instant, Instant)) -> Vec<Heard> {
        let mut heard = Vec::new();
        loop {
            let chat = self.chats.fetch_add(1, Ordering::Relaxed);
            for _ in 0..TURNS {
                let now = Instant::now();
                if now > end {
                    return heard;
                }
                let seen = self.ask(chat).await;
                heard.push(Heard {
                    after: seen - start,
                    wait: seen - now,
                });
            }
        }
    }

    /// One message, until its answer is shown; gives when that was.
    async fn ask(&self, chat: u64) -> Instant {
        let (waiting, seen) = oneshot::channel();
        let written = {
            let mut asked = self.asked();
            let number = asked.chats.len();
            let written = (self.direct)(chat, &format!("{QUESTION} w{number}"));
            asked.chats.push(written.chat.clone());
            asked.waiting.insert(number, waiting);
            written
        };
        self.scene.write(&written);
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        seen.unwrap_or_else(|_| self.lament(&written)).unwrap()
    }

    /// Ends the run with all that is known about a question without an answer.
    fn lament(&self, written: &Written) -> ! {
        let sight = self.scene.look();
        let chat = sight.chats.iter().find(|chat| chat.chat == written.chat);
        let last: Vec<_> = sight.requests.iter().rev().take(20).collect();
        let (backlog, others) = (sight.backlog, self.asked().waiting.len());
        panic!(
            "no answer to {written:?}: {others} wait, {backlog} are not acknowledged, {chat:#?}, {last:#?}"
        )
    }

    /// Every question has one answer, in the chat that asked, and nothing else was said.
    pub(crate) fn count(&self) {
        let asked = self.asked();
        let mut answers = vec![0; asked.chats.len()];
        for (chat, shown) in self.scene.look().ours() {
            let number = number(&shown.text);
            let number = number.unwrap_or_else(|| panic!("not an answer: {shown:?}"));
            assert_eq!(chat.chat, asked.chats[number], "astray: {shown:?}");
            answers[number] += 1;
        }
        let wrong = answers.iter().position(|count| *count != 1);
        let count = wrong.map(|number| answers[number]);
        assert_eq!(
            wrong, None,
            "the question with this number has {count:?} answers"
        );
    }
}

/// The number of the question that is answered.
fn number(text: &str) -> Option<usize> {
    text.rsplit(" w").next()?.trim().parse().ok()
}
