//! The simulated model as a process of its own, as a real one would be: this binary once more.

use std::process::Stdio;

use talaria_sim::model::{Pace, Server};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// What this binary is asked with to be the model.
pub(crate) const ROLE: &str = "--be-the-model";

/// A model under way. It ends with this.
pub(crate) struct Model {
    url: String,
    _child: Child,
}

impl Model {
    /// One whose answers come in so many pieces.
    pub(crate) async fn start(pieces: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([ROLE, &pieces.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = said.next_line().await.unwrap().unwrap();
        Self { url, _child: child }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }
}

/// Serves until nobody needs it any more.
pub(crate) async fn serve(pieces: usize) {
    let pace = Pace {
        pieces,
        ..Pace::default()
    };
    let server = Server::start("127.0.0.1:0", pace).await.unwrap();
    let mut out = tokio::io::stdout();
    out.write_all(format!("{}\n", server.url()).as_bytes())
        .await
        .unwrap();
    out.flush().await.unwrap();
    std::future::pending::<()>().await;
}
