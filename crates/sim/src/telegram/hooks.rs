//! Calls bots that want to be called ("setWebhook"), one update at a time and in order, again and again until it is taken.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Vendor;
use super::updates::Webhook;
use crate::vendor::stage::now;

/// How long a bot that did not take a call is left alone.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a bot may think.
const PATIENCE: Duration = Duration::from_secs(60);

/// Calls until it is dropped.
pub(super) async fn call(vendor: Arc<Vendor>) {
    // Another may have been first.
    drop(rustls::crypto::ring::default_provider().install_default());
    let Ok(client) = reqwest::Client::builder().timeout(PATIENCE).build() else {
        return;
    };
    let next = |world: &super::World| {
        let mut bots = world.bots.iter();
        bots.find_map(|bot| Some((bot.id, bot.queue.next_call()?)))
    };
    loop {
        vendor.until(|world| next(world).is_some()).await;
        let Some((bot, (hook, number, update))) = vendor.see(next) else {
            continue;
        };
        let failed = attempt(&client, &hook, &update).await;
        let is_taken = failed.is_none();
        vendor.with(|world| {
            let Some(bot) = world.bots.iter_mut().find(|other| other.id == bot) else {
                return;
            };
            if is_taken {
                bot.queue.took(number);
            }
            if let (Some(words), Some(hook)) = (failed, &mut bot.queue.webhook) {
                hook.error = Some((now().as_millis() / 1_000, words));
            }
        });
        if !is_taken {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// What was wrong with a call, if anything was.
async fn attempt(client: &reqwest::Client, hook: &Webhook, update: &Value) -> Option<String> {
    let mut request = client.post(&hook.url).json(update);
    if !hook.secret.is_empty() {
        request = request.header("x-telegram-bot-api-secret-token", &hook.secret);
    }
    match request.send().await {
        Ok(response) if response.status().is_success() => None,
        Ok(response) => Some(format!(
            "Wrong response from the webhook: {}",
            response.status()
        )),
        Err(_) => Some("Connection refused".to_owned()),
    }
}
