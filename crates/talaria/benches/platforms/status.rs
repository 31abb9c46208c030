//! How a gateway is, and what it says of its accounts.

use serde_json::Value;

use crate::process::Process;

impl Process {
    /// Waits for this. A gateway that ends meanwhile ends the run.
    pub(crate) async fn during<T>(&mut self, what: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = what => done,
            ended = self.child.wait() => panic!("the gateway ended: {ended:?}"),
        }
    }

    /// The state of the account with this name.
    pub(crate) async fn state(&self, account: &str) -> String {
        let url = format!("{}/api/status", self.base);
        let status = self.client.get(url).bearer_auth(&self.key).send().await;
        let status: Value = status.unwrap().json().await.unwrap();
        let parts = status["parts"].as_array().unwrap();
        let is_it = |part: &&Value| {
            part["name"]
                .as_str()
                .is_some_and(|it| it.ends_with(account))
        };
        let part = parts.iter().find(is_it);
        let part = part.unwrap_or_else(|| panic!("no account {account:?} in {status}"));
        part["state"].as_str().unwrap().to_owned()
    }
}
