//! What the operator writes about a model, and the model it stands for.

use std::sync::Arc;

use serde::Deserialize;
use talaria_domain::secret::SecretString;

use super::anthropic::Anthropic;
use super::demo::Demo;
use super::link::Link;
use super::openai::OpenAi;
use super::{Client, Model, Patience};

/// Whose way of talking a model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Chat completions, as any OpenAI-compatible server speaks them.
    OpenAi,
    /// The Messages API.
    Anthropic,
    /// The script that needs nothing.
    Demo,
}

/// What the operator writes about a model.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// Whose way of talking it has.
    pub provider: Provider,
    /// Where it is; the provider's own address if nothing is said.
    pub base_url: Option<String>,
    /// What the server calls it.
    pub model: String,
    /// The key, where the server wants one.
    pub api_key: Option<SecretString>,
    /// How much it can be shown, in tokens; a careful number if nothing is said.
    pub window: Option<usize>,
}

/// Servers beside us are often started with less than their model could hold.
const OPENAI_WINDOW: usize = 32_768;
const ANTHROPIC_WINDOW: usize = 200_000;

/// The model that the settings stand for. A wrong address is told when the model is asked.
pub fn build(settings: ModelSettings, client: Client) -> Arc<dyn Model> {
    build_with(settings, client, Patience::default())
}

/// The same, with another patience.
pub fn build_with(settings: ModelSettings, client: Client, patience: Patience) -> Arc<dyn Model> {
    let (base_url, key) = (settings.base_url.as_deref(), settings.api_key);
    match settings.provider {
        Provider::OpenAi => {
            let base_url = base_url.unwrap_or("https://api.openai.com/v1");
            let link = Link::of(client, base_url, "chat/completions", key, patience);
            let window = settings.window.unwrap_or(OPENAI_WINDOW);
            Arc::new(OpenAi::of(link, settings.model, window))
        }
        Provider::Anthropic => {
            let base_url = base_url.unwrap_or("https://api.anthropic.com");
            let bare = base_url.trim_end_matches('/');
            // People write this address with and without the version.
            let bare = bare.strip_suffix("/v1").unwrap_or(bare);
            let link = Link::of(client, bare, "v1/messages", key, patience);
            let window = settings.window.unwrap_or(ANTHROPIC_WINDOW);
            Arc::new(Anthropic::of(link, settings.model, window))
        }
        Provider::Demo => Arc::new(Demo),
    }
}
