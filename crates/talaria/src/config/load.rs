//! Pure: from the file's text and the environment to the configuration that holds, or to everything that is wrong with
//! it. The start-up, `config check` and `doctor` all come through here, so that they never disagree.

mod accounts;
mod agents;
mod bindings;
mod callbacks;
mod runners;
mod terms;
mod urls;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::Duration;

use talaria_domain::schedule::Zone;
use talaria_domain::secret::{ExposeSecret as _, SecretString};
use talaria_store::Durability;

use super::document::Document;
use super::effective::{Compat, Effective, Limits, Origin, Server, Setting, Store};
use super::environment::{self, Environment};
use super::file::{CompatSection, DurabilityName, GatewaySection, ServerSection, StoreSection};
use super::problem::{Place, Problem};
use super::secret::{Secret, SecretSource, is_variable_name};
use super::show;

const DEFAULT_LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4747));
/// A key that guards more than this machine has at least as many letters.
const LEAST_KEY_LETTERS: usize = 32;
const MINUTE: u64 = 60;

/// What is loaded, beside the environment.
pub(crate) struct Source<'a> {
    /// The data directory.
    pub(crate) home: &'a Path,
    /// The configuration file.
    pub(crate) path: &'a Path,
    /// What it says; none where there is no such file.
    pub(crate) text: Option<&'a str>,
    /// The platforms that this build has an adapter for.
    pub(crate) platforms: &'a [&'a str],
    /// How a secret's file is read.
    pub(crate) read_secret: &'a dyn Fn(&Path) -> std::io::Result<String>,
}

/// The configuration that holds, or everything that is wrong with it in the order of the file.
pub(crate) fn load(
    source: &Source<'_>,
    environment: &Environment,
) -> Result<Effective, Vec<Problem>> {
    let document = Document::parse(source.path, source.text.unwrap_or_default());
    let mut loading = Loading {
        document: document.map_err(|problem| vec![problem])?,
        source,
        environment,
        overridden: Vec::new(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    loading.override_by("home", environment::HOME);
    loading.override_by("file", environment::CONFIG);
    let effective = loading.effective();
    let mut problems = loading.document.into_problems();
    problems.append(&mut loading.problems);
    if problems.is_empty() {
        return Ok(effective);
    }
    problems.sort_by_key(|problem| match &problem.place {
        Place::File { at, .. } => *at,
        Place::Environment { .. } => None,
    });
    Err(problems)
}

struct Loading<'a> {
    document: Document<'a>,
    source: &'a Source<'a>,
    environment: &'a Environment,
    /// Keys that an environment variable has the last word on.
    overridden: Vec<(&'static str, &'static str)>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Loading<'_> {
    fn effective(&mut self) -> Effective {
        let server = self.server();
        let api_key = self.api_key(&server);
        let models = self.models();
        let runners = self.runners();
        let profiles = self.profiles(&models, &runners);
        let accounts = self.accounts(&profiles);
        let bindings = self.bindings(&profiles, &accounts, &runners);
        let routes = self.routes(&profiles, &accounts);
        let compat: CompatSection = self.document.section("compat");
        let (limits, zone) = self.limits();
        let mut effective = Effective {
            home: self.source.home.to_owned(),
            file: self.source.text.map(|_| self.source.path.to_owned()),
            server,
            store: self.store(),
            models,
            default_profile: profiles.first.profile.name.clone(),
            profiles: profiles.into_all(),
            runners,
            bindings,
            accounts,
            routes,
            compat: Compat {
                hermes_env: compat.hermes_env,
            },
            limits,
            zone,
            api_key,
            log: self.log(),
            warnings: Vec::new(),
            settings: Vec::new(),
        };
        effective.settings = self.settings(&effective);
        effective.warnings = std::mem::take(&mut self.warnings);
        effective
    }

    fn server(&mut self) -> Server {
        let section: ServerSection = self.document.section("server");
        let terms = self.terms(&section);
        let listen = self.override_by("server.listen", environment::LISTEN);
        let listen = match listen.or(section.listen) {
            None => DEFAULT_LISTEN,
            Some(text) => self.address("server.listen", &text),
        };
        let public_url = section
            .public_url
            .and_then(|text| self.url("server.public_url", &text));
        if !listen.ip().is_loopback() && public_url.is_none() {
            self.refuse(
                "server.listen",
                format!(
                    "{listen} can be reached from other machines: set public_url in [server] as well, or listen on 127.0.0.1"
                ),
            );
        }
        Server {
            listen,
            public_url,
            terms,
            callbacks: self.callbacks(section.callbacks),
        }
    }

    fn address(&mut self, key: &str, text: &str) -> SocketAddr {
        let numeric = text
            .strip_prefix("localhost:")
            .map(|port| format!("127.0.0.1:{port}"));
        let parsed = numeric.as_deref().unwrap_or(text).parse();
        parsed.unwrap_or_else(|_| {
            let what = format!("expected an address such as 127.0.0.1:4747, found {text:?}");
            self.refuse(key, what);
            DEFAULT_LISTEN
        })
    }

    fn api_key(&mut self, server: &Server) -> Option<SecretString> {
        let key = self.environment.secret(environment::API_KEY)?;
        self.overridden.push(("api_key", environment::API_KEY));
        let is_weak = key.expose_secret().chars().count() < LEAST_KEY_LETTERS;
        if is_weak && !server.listen.ip().is_loopback() {
            let what = format!(
                "too weak for an address that others can reach: use at least {LEAST_KEY_LETTERS} random letters"
            );
            self.refuse("api_key", what);
        }
        Some(key)
    }

    fn store(&mut self) -> Store {
        let section: StoreSection = self.document.section("store");
        let url = self
            .override_by("store.url", environment::STORE_URL)
            .map(SecretString::from);
        let url = url.or(section.url);
        let url = url.as_ref().map_or("sqlite", |url| url.expose_secret());
        let url = urls::store(url, self.source.home).unwrap_or_else(|what| {
            self.refuse("store.url", what);
            urls::embedded(self.source.home)
        });
        let durability = match section.durability {
            None | Some(DurabilityName::Power) => Durability::Power,
            Some(DurabilityName::Process) => Durability::Process,
        };
        Store { url, durability }
    }

    fn limits(&mut self) -> (Limits, Zone) {
        let section: GatewaySection = self.document.section("gateway");
        let mut limit = |key, written, default, most| self.number(key, written, default, (1, most));
        let max_turns = limit("gateway.max_turns", section.max_turns, 256, 100_000);
        let turn = limit(
            "gateway.turn_timeout_minutes",
            section.turn_timeout_minutes,
            30,
            10_080,
        );
        let silent = limit(
            "gateway.no_progress_minutes",
            section.no_progress_minutes,
            10,
            10_080,
        );
        let queue_limit = limit("gateway.queue_limit", section.queue_limit, 50, 100_000);
        let attempts = limit("gateway.attempts", section.attempts, 3, 100);
        let drain = limit("gateway.drain_seconds", section.drain_seconds, 20, 3_600);
        let limits = Limits {
            max_turns: usize::try_from(max_turns).unwrap_or(usize::MAX),
            turn_timeout: Duration::from_secs(u64::from(turn) * MINUTE),
            no_progress: Duration::from_secs(u64::from(silent) * MINUTE),
            queue_limit: usize::try_from(queue_limit).unwrap_or(usize::MAX),
            attempts,
            drain: Duration::from_secs(u64::from(drain)),
        };
        (limits, self.zone(section.zone.as_deref()))
    }

    fn zone(&mut self, written: Option<&str>) -> Zone {
        let zone = written.map_or_else(|| Ok(Zone::default()), Zone::parse);
        zone.unwrap_or_else(|what| {
            self.refuse("gateway.zone", what);
            Zone::default()
        })
    }

    fn log(&mut self) -> Option<String> {
        self.override_by("log", environment::LOG)
    }

    /// A number within bounds.
    fn number(&mut self, key: &str, written: Option<i64>, default: u32, bounds: (u32, u32)) -> u32 {
        let Some(written) = written else {
            return default;
        };
        let (least, most) = bounds;
        match u32::try_from(written) {
            Ok(number) if (least..=most).contains(&number) => number,
            _ => {
                let what = format!("expected a number from {least} to {most}, found {written}");
                self.refuse(key, what);
                default
            }
        }
    }

    /// A url without anything secret in it.
    fn url(&mut self, key: &str, text: &str) -> Option<url::Url> {
        urls::plain(text)
            .map_err(|what| self.refuse(key, what))
            .ok()
    }

    /// Looks a secret up.
    fn secret(&mut self, key: &str, source: Option<SecretSource>) -> Option<Secret> {
        match source? {
            SecretSource::Literal(value) => {
                let what = "a secret stands in the file itself: { env = \"NAME\" } or { file = \"path\" } keeps it out";
                self.warn(key, what.to_owned());
                let found_in = "the configuration file".to_owned();
                Some(Secret { value, found_in })
            }
            SecretSource::Environment(name) => self.secret_variable(key, &name),
            SecretSource::File(path) => self.secret_file(key, &path),
        }
    }

    fn secret_variable(&mut self, key: &str, name: &str) -> Option<Secret> {
        let shown = if is_variable_name(name) {
            name
        } else {
            "it names"
        };
        let value = self.environment.secret(name);
        if value.is_none() {
            self.refuse(key, format!("the environment variable {shown} is not set"));
        }
        let found_in = format!("the environment variable {shown}");
        value.map(|value| Secret { value, found_in })
    }

    fn secret_file(&mut self, key: &str, path: &Path) -> Option<Secret> {
        let beside = self.source.path.parent().unwrap_or(Path::new(""));
        let path: PathBuf = beside.join(path);
        let read = (self.source.read_secret)(&path).map_err(|error| error.to_string());
        let read = read.and_then(|text| match text.trim_end_matches(['\r', '\n']) {
            "" => Err("it is empty".to_owned()),
            text => Ok(SecretString::from(text)),
        });
        match read {
            Ok(value) => {
                let found_in = format!("the file {}", path.display());
                Some(Secret { value, found_in })
            }
            Err(why) => {
                self.refuse(
                    key,
                    format!("cannot read the secret's file {}: {why}", path.display()),
                );
                None
            }
        }
    }

    /// The value of a variable that wins over a key.
    fn override_by(&mut self, key: &'static str, variable: &'static str) -> Option<String> {
        let value = self.environment.text(variable)?;
        self.overridden.push((key, variable));
        Some(value)
    }

    fn refuse(&mut self, key: &str, what: String) {
        let problem = self.problem(key, what);
        self.problems.push(problem);
    }

    fn warn(&mut self, key: &str, what: String) {
        let problem = self.problem(key, what);
        self.warnings.push(problem);
    }

    fn problem(&self, key: &str, what: String) -> Problem {
        let place = match self.variable_of(key) {
            Some(name) => Place::Environment { name },
            None => self.document.place(key),
        };
        Problem {
            place,
            key: Some(key.to_owned()),
            what,
        }
    }

    fn variable_of(&self, key: &str) -> Option<&'static str> {
        let overridden = self.overridden.iter().find(|(known, _)| *known == key);
        overridden.map(|(_, variable)| *variable)
    }

    fn settings(&self, effective: &Effective) -> Vec<Setting> {
        let with_origin = |(key, value): (String, serde_json::Value)| {
            let origin = match (self.variable_of(&key), self.document.line(&key)) {
                (Some(name), _) => Origin::Environment { name },
                (None, Some(line)) => Origin::File { line },
                (None, None) => Origin::Default,
            };
            Setting { key, value, origin }
        };
        show::values(effective)
            .into_iter()
            .map(with_origin)
            .collect()
    }
}
