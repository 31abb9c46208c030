//! What thinks: runners, and the models and tools they use. Knows the domain and nothing else.
//!
//! # Layout
//!
//! | module | owns |
//! |---|---|
//! | [`models`] | language models behind one contract: any OpenAI-compatible server, Anthropic, and the demo |
//! | [`native`] | the loop: a model is asked, the tools it calls are run, until it has an answer |
//! | [`tools`] | what a model can do beside talking; one file and one line in the list each |
//!
//! # A runner from settings
//!
//! ```
//! use talaria_agents::models::{self, ModelSettings, Provider};
//! use talaria_agents::native::NativeRunner;
//! use talaria_agents::tools::{self, Environment};
//! use talaria_domain::runner::Runner as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = ModelSettings {
//!     provider: Provider::Demo,
//!     base_url: None,
//!     model: "demo".to_owned(),
//!     api_key: None,
//!     window: None,
//! };
//! let model = models::build(settings, models::client()?);
//! let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
//! let runner = NativeRunner::new(model, tools::all(Environment::allowed(variables)));
//! assert!(runner.window() > 0);
//! # Ok(())
//! # }
//! ```

pub mod models;
pub mod native;
pub mod tools;
