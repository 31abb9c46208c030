//! What thinks: runners, and the models and tools they use. Knows the domain and nothing else.
//!
//! # Layout
//!
//! | module | owns |
//! |---|---|
//! | [`context`] | who a task is while it works on a turn, and the environment of its children |
//! | [`models`] | language models behind one contract: any OpenAI-compatible server, Anthropic, and the demo |
//! | [`native`] | the loop: a model is asked, the tools it calls are run, until it has an answer |
//! | [`process`] | agents in any language: child processes that speak JSON-RPC lines |
//! | [`processes`] | the background processes: started as jobs, looked after, found again after a restart |
//! | [`tools`] | what a model can do beside talking; one file and one line in the list each |
//!
//! # A runner from settings
//!
//! ```
//! use std::sync::Arc;
//!
//! use talaria_agents::models::{self, ModelSettings, Provider};
//! use talaria_agents::native::NativeRunner;
//! use talaria_agents::processes::Processes;
//! use talaria_agents::tools::{self, Environment};
//! use talaria_domain::runner::Runner as _;
//! use tokio_util::sync::CancellationToken;
//! use tokio_util::task::TaskTracker;
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
//! let client = models::Client::new(models::tls()?);
//! let model = models::build(settings, client);
//! let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
//! let environment = Environment::allowed(variables);
//! let outputs = std::env::temp_dir().join("talaria-jobs");
//! let processes = Arc::new(Processes::new(outputs, TaskTracker::new(), CancellationToken::new()));
//! let runner = NativeRunner::new(model, tools::all(&environment, &processes));
//! assert!(runner.window() > 0);
//! # Ok(())
//! # }
//! ```

pub mod context;
pub mod models;
pub mod native;
pub mod process;
pub mod processes;
pub mod tools;
