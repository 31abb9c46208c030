//! What may be written, what holds then, and what each mistake is told as.

mod bindings;
mod mistakes;
mod who_may_talk;

use std::io;
use std::path::Path;
use std::time::Duration;

use talaria_domain::secret::ExposeSecret as _;
use talaria_gateway::access::Strangers;
use talaria_store::Durability;

use super::effective::{Effective, Origin, Provider, ResetMode, RunnerKind};
use super::environment::Environment;
use super::keys::{self, KEYS};
use super::load::{Source, load};
use super::problem::{Place, Position, Problem};
use super::show;

const HOME: &str = "/var/lib/talaria";
const FILE: &str = "/etc/talaria.toml";
const PLATFORMS: &[&str] = &["telegram", "slack"];
/// Never to be seen in anything that is printed.
const HIDDEN: &str = "hunter2";

fn loaded(text: &str, variables: &[(&str, &str)]) -> Result<Effective, Vec<Problem>> {
    let source = Source {
        home: Path::new(HOME),
        path: Path::new(FILE),
        text: Some(text).filter(|text| !text.is_empty()),
        platforms: PLATFORMS,
        read_secret: &|path| match path.to_str() {
            Some("/etc/key") => Ok(format!("{HIDDEN}\n")),
            Some("/etc/empty") => Ok("\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        },
    };
    load(&source, &Environment::of(variables))
}

pub(crate) fn holds(text: &str) -> Effective {
    loaded(text, &[]).unwrap()
}

fn mistakes(text: &str) -> Vec<Problem> {
    loaded(text, &[]).unwrap_err()
}

/// Line, column, key of a problem in the file.
fn spot(problem: &Problem) -> (usize, usize, &str) {
    let Place::File { at: Some(at), .. } = &problem.place else {
        panic!("{problem} stands in no line");
    };
    (at.line, at.column, problem.key.as_deref().unwrap_or(""))
}

fn origin<'e>(effective: &'e Effective, key: &str) -> &'e Origin {
    let setting = effective.settings.iter().find(|setting| setting.key == key);
    &setting.unwrap().origin
}

/// The example of the contract, word for word, with the sections that it mentions beside it.
const EVERYTHING: &str = r#"
[server]
listen = "127.0.0.1:4747"
public_url = "https://talaria.example.org"
cors_origins = ["https://app.example.org", "http://localhost:3000"]
body_limit_mb = 20
header_limit_kb = 32
header_timeout_seconds = 10
body_timeout_seconds = 60
max_connections = 500

[server.limits]
turns_at_once = 8
turns_in_a_row = 16
turns_per_second = 2

[server.callbacks]
allow  = ["https://example.org/hooks/"]
secret = { env = "CALLBACK_SECRET" }

[store]
url = "sqlite"
durability = "process"

[model.main]
provider = "openai"
base_url = "http://127.0.0.1:11434/v1"
model    = "some-model"
api_key  = { env = "OPENAI_API_KEY" }
window   = 8192

[profile.assistant]
model        = "main"
instructions = "You are ..."
runner       = "native"
tools        = ["terminal", "process", "delegate_task", "files", "send_message", "schedule", "kanban"]
approve      = ["terminal"]
busy         = "queue"
state        = { enable = true, scopes = ["conversation", "actor"] }

[profile.assistant.session]
group_per_user  = true
thread_per_user = false
reset           = { mode = "none", idle_minutes = 1440, at_hour = 4 }

[profile.researcher]
model = "main"

[[runner]]
id           = "plugin:acme/weather/main"
command      = "python3"
args         = ["weather.py"]
env          = ["LANG"]
cwd          = "/srv/weather"
version      = "1.2"
capabilities = ["streaming", "tool_calling"]
permissions  = { models = ["invoke", "stream"], tools = ["detail", "call"], knowledge_bases = ["retrieve"], files = ["read"], storage = ["plugin"], history = ["page"], events = ["get"], interactions = ["request"] }

[[binding]]
id       = "forecast"
platform = "telegram"
account  = "main-bot"
chat     = "-100123"
thread   = "42"
events   = ["message"]
runner   = "plugin:acme/weather/main"
config   = { place = "Rome" }
models   = ["main"]
tools    = ["terminal"]
knowledge_bases = ["climate"]
files    = true
storage  = ["plugin"]
state    = { enable = true, scopes = ["conversation"] }
delivery = { streaming = false, progress = false, interactions = false }

[[binding]]
id      = "research"
profile = "researcher"
runner  = "native"
models  = ["main"]

[[account]]
platform = "telegram"
name     = "main-bot"
profile  = "assistant"
token    = { env = "TELEGRAM_BOT_TOKEN" }
app_token = { env = "TELEGRAM_BOT_TOKEN" }
webhook  = { secret = { env = "TELEGRAM_BOT_TOKEN" }, url = "https://bots.example.org/hooks" }
api_base = "https://api.telegram.org"
allow    = ["12345"]
strangers = "pair"
roles    = { owner = ["1"], admin = ["2"], member = ["3"], guest = ["4"] }
groups   = { mention = "optional", allow_chats = ["-100123"], threads = "mention" }
bots     = "mentions"
home     = { chat = "12345", thread = "7" }
marks    = true
rate     = { chat = 20, account = 1000 }

[[route]]
platform = "telegram"
account  = "main-bot"
chat     = "-100123"
thread   = "42"
user     = "12345"
profile  = "researcher"

[compat]
hermes_env = true

[gateway]
max_turns = 256
turn_timeout_minutes = 30
no_progress_minutes = 10
queue_limit = 50
attempts = 3
drain_seconds = 20
zone = "Europe/Berlin"
"#;

const TOKENS: &[(&str, &str)] = &[
    ("OPENAI_API_KEY", HIDDEN),
    ("TELEGRAM_BOT_TOKEN", HIDDEN),
    (
        "CALLBACK_SECRET",
        "whsec_aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMg==",
    ),
];

#[test]
fn every_key_of_the_contract_is_accepted() {
    let effective = loaded(EVERYTHING, TOKENS).unwrap();
    assert_eq!(effective.warnings, []);
    assert_eq!(effective.store.durability, Durability::Process);
    assert_eq!(effective.models[0].served_as, "some-model");
    assert_eq!(effective.models[0].window, Some(8192));
    assert_eq!(effective.default_profile.as_str(), "assistant");
    let assistant = &effective.profiles[0];
    assert_eq!(assistant.profile.instructions, "You are ...");
    assert_eq!(assistant.tools.len(), 7);
    assert_eq!(assistant.runner, RunnerKind::Native);
    assert_eq!(assistant.model.name, "main");
    let account = &effective.accounts[0];
    assert_eq!(account.name.as_str(), "main-bot");
    assert_eq!(account.strangers, Strangers::Pair);
    let token = &account.token.as_ref().unwrap().value;
    assert_eq!(token.expose_secret(), HIDDEN);
    assert_eq!(effective.routes[0].profile.as_str(), "researcher");
    assert!(effective.compat.hermes_env);
}

#[test]
fn how_much_an_account_writes_can_be_said() {
    let rate = |text, tokens| loaded(text, tokens).unwrap().accounts[0].rate;
    let said = rate(EVERYTHING, TOKENS);
    assert_eq!((said.chat, said.account), (Some(20), Some(1_000)));
    let usual = rate("[[account]]\nplatform = \"telegram\"\n", &[]);
    assert_eq!((usual.chat, usual.account), (None, None));
}

#[test]
fn what_everybody_is_held_to_can_be_said_and_has_defaults() {
    use talaria_server::{Terms, TurnLimits};
    let said = loaded(EVERYTHING, TOKENS).unwrap().server.terms;
    let expected = Terms {
        cors_origins: vec![
            "https://app.example.org".to_owned(),
            "http://localhost:3000".to_owned(),
        ],
        body_limit: 20 * 1024 * 1024,
        header_limit: 32 * 1024,
        header_time: Duration::from_secs(10),
        body_time: Duration::from_mins(1),
        connections: 500,
        turns: TurnLimits {
            at_once: 8,
            in_a_row: 16,
            per_second: 2,
        },
    };
    assert_eq!(said, expected);
    assert_eq!(holds("").server.terms, Terms::default());
}

#[test]
fn every_key_that_is_known_is_in_the_example_and_can_be_shown_and_explained() {
    let effective = loaded(EVERYTHING, TOKENS).unwrap();
    for key in KEYS {
        let of_it = |setting: &&super::Setting| {
            keys::of(&setting.key).is_some_and(|found| found.pattern == key.pattern)
        };
        let in_file = |setting: &&super::Setting| matches!(setting.origin, Origin::File { .. });
        let shown: Vec<_> = effective.settings.iter().filter(of_it).collect();
        assert!(!shown.is_empty(), "{} is never shown", key.pattern);
        let written = shown.iter().copied().find(in_file);
        assert!(written.is_some(), "{} is not in the example", key.pattern);
    }
    for setting in &effective.settings {
        assert!(
            keys::of(&setting.key).is_some(),
            "{} has no meaning",
            setting.key
        );
    }
}

#[test]
fn nothing_at_all_is_a_whole_configuration() {
    let effective = holds("");
    assert_eq!(effective.file, None);
    assert_eq!(effective.server.listen.to_string(), "127.0.0.1:4747");
    assert_eq!(
        effective.store.url.expose(),
        "sqlite:/var/lib/talaria/store.db"
    );
    assert_eq!(effective.store.durability, Durability::Power);
    let assistant = &effective.profiles[0];
    assert_eq!(assistant.profile.name.as_str(), "assistant");
    assert_eq!(assistant.model.provider, Provider::Demo);
    let usual = [
        "terminal",
        "process",
        "delegate_task",
        "send_message",
        "schedule",
        "ask_user",
    ];
    assert_eq!(assistant.tools, usual, "the demo's words need them");
    assert!(!assistant.profile.instructions.is_empty());
    assert_eq!(assistant.reset.mode, ResetMode::None);
    assert_eq!(assistant.reset.idle, Duration::from_hours(24));
    let defaults = effective
        .settings
        .iter()
        .all(|setting| setting.origin == Origin::Default);
    assert!(defaults, "nobody said anything");
}

#[test]
fn programs_are_called_back_where_the_operator_says_and_nowhere_without() {
    assert!(holds("").server.callbacks.is_none());
    let listed =
        "[server.callbacks]\nallow = [\"https://example.org/hooks/\", \"http://example.org/\"]\n";
    let text = format!("{listed}secret = {{ env = \"SECRET\" }}\n");
    let effective = loaded(&text, &[("SECRET", &HIDDEN.repeat(4))]).unwrap();
    let callbacks = effective.server.callbacks.as_ref().unwrap();
    assert!(
        callbacks
            .allow
            .permit("https://example.org/hooks/1")
            .is_ok()
    );
    assert!(callbacks.allow.permit("https://example.org/").is_err());
    let warned: Vec<_> = effective.warnings.iter().map(spot).collect();
    assert_eq!(
        warned,
        [(2, 9, "server.callbacks.allow")],
        "the second is not https"
    );
    let printed = format!("{effective:?}");
    assert!(!printed.contains(HIDDEN), "{printed}");
    let idle = loaded(
        "[server.callbacks]\nsecret = { env = \"SECRET\" }\n",
        &[("SECRET", HIDDEN)],
    );
    let idle = idle.unwrap();
    assert!(idle.server.callbacks.is_none());
    assert_eq!(spot(&idle.warnings[0]), (2, 10, "server.callbacks.secret"));
}

#[test]
fn the_limits_are_those_of_the_contract() {
    let limits = holds("").limits;
    assert_eq!(limits.max_turns, 256);
    assert_eq!(limits.turn_timeout, Duration::from_mins(30));
    assert_eq!(limits.no_progress, Duration::from_mins(10));
    assert_eq!(limits.queue_limit, 50);
    assert_eq!(limits.attempts, 3);
    assert_eq!(limits.drain, Duration::from_secs(20));
}

#[test]
fn the_first_profile_of_the_file_is_the_default_one() {
    let effective = holds("[profile.zoe]\n[profile.ada]\n");
    assert_eq!(effective.default_profile.as_str(), "zoe");
    let names: Vec<_> = effective
        .profiles
        .iter()
        .map(|profile| profile.profile.name.as_str())
        .collect();
    assert_eq!(names, ["zoe", "ada"]);
    assert_eq!(
        effective.profiles[0].tools, [""; 0],
        "one that names no tools has none"
    );
}

#[test]
fn the_first_model_of_the_file_is_the_one_that_thinks() {
    let model = "[model.local]\nprovider = \"openai\"\nmodel = \"m\"\n";
    let effective = holds(model);
    assert_eq!(effective.profiles[0].model.name, "local");
    let usual = effective.models[0].base_url.as_ref().unwrap();
    assert_eq!(usual.as_str(), "https://api.openai.com/v1");
    let both = format!("{model}[profile.a]\nmodel = \"demo\"\n");
    assert_eq!(
        holds(&both).profiles[0].model.provider,
        Provider::Demo,
        "demo is always there"
    );
}

#[test]
fn strangers_are_ignored_as_soon_as_somebody_is_allowed() {
    let account = "[[account]]\nplatform = \"telegram\"\n";
    assert_eq!(holds(account).accounts[0].strangers, Strangers::Pair);
    let allowing = format!("{account}allow = [\"1\"]\n");
    assert_eq!(holds(&allowing).accounts[0].strangers, Strangers::Ignore);
    let everybody = holds(&format!("{account}allow = [\"*\"]\n"));
    assert_eq!(spot(&everybody.warnings[0]), (3, 9, "account[0].allow"));
}

#[test]
fn secrets_come_from_variables_and_files_and_with_a_warning_from_the_text() {
    let model =
        |key: &str| format!("[model.m]\nprovider = \"openai\"\nmodel = \"x\"\napi_key = {key}\n");
    let key = |effective: &Effective| {
        let secret = effective.models[0].api_key.clone().unwrap();
        secret.value.expose_secret().to_owned()
    };
    let by_variable = loaded(&model("{ env = \"KEY\" }"), &[("KEY", HIDDEN)]).unwrap();
    assert_eq!(
        (key(&by_variable).as_str(), by_variable.warnings.len()),
        (HIDDEN, 0)
    );
    let by_file = holds(&model("{ file = \"key\" }"));
    assert_eq!(
        (key(&by_file).as_str(), by_file.warnings.len()),
        (HIDDEN, 0),
        "beside the file, without its newline"
    );
    let literal = holds(&model("\"hunter2\""));
    assert_eq!(key(&literal), HIDDEN);
    assert_eq!(spot(&literal.warnings[0]), (4, 11, "model.m.api_key"));
}

#[test]
fn a_secret_that_is_not_there_is_told_without_what_was_written() {
    let table = [
        ("{ env = \"KEY\" }", "KEY is not set"),
        ("{ env = \"hunter2-token\" }", "is not set"),
        ("{ file = \"nowhere\" }", "/etc/nowhere"),
        ("{ file = \"empty\" }", "empty"),
        ("{ vault = \"hunter2\" }", "{ env = \"NAME\" }"),
        (
            "{ env = \"KEY\", file = \"hunter2\" }",
            "{ env = \"NAME\" }",
        ),
        ("{ env = [\"hunter2\"] }", "{ env = \"NAME\" }"),
        ("{}", "{ env = \"NAME\" }"),
        ("[\"hunter2\"]", "{ env = \"NAME\" }"),
        ("4711", "put it in quotes"),
        ("4711.5", "put it in quotes"),
        ("true", "{ env = \"NAME\" }"),
        ("1979-05-27", "{ env = \"NAME\" }"),
        ("\"\"", "empty"),
    ];
    for (written, words) in table {
        let problems = mistakes(&format!(
            "[model.m]\nprovider = \"demo\"\napi_key = {written}\n"
        ));
        let told = problems.iter().map(ToString::to_string).collect::<String>();
        assert_eq!(spot(&problems[0]).0, 3, "{written}: {told}");
        assert!(told.contains(words), "{written}: {told}");
        let secret = ["hunter2", "4711", "1979"]
            .iter()
            .find(|secret| told.contains(*secret));
        assert_eq!(secret, None, "{told}");
    }
}

#[test]
fn secrets_are_not_in_what_is_shown_or_printed() {
    let text = EVERYTHING.replace(
        "url = \"sqlite\"",
        "url = \"postgres://ada:hunter2@db.example.org/talaria?password=hunter2&sslmode=disable\"",
    );
    let key = ("TALARIA_API_KEY", "hunter2hunter2hunter2hunter2hunter2");
    let effective = loaded(&text, &[TOKENS, &[key]].concat()).unwrap();
    let shown = |wanted: &str| {
        let setting = effective
            .settings
            .iter()
            .find(|setting| setting.key == wanted);
        show::plain(&setting.unwrap().value)
    };
    assert_eq!(
        shown("store.url"),
        "postgres://ada@db.example.org/talaria?sslmode=disable"
    );
    for key in ["model.main.api_key", "account[0].token", "api_key"] {
        assert_eq!(shown(key), "(set)");
    }
    assert!(
        effective.store.url.expose().contains(HIDDEN),
        "the ledger needs it"
    );
    let printed = format!("{effective:?} {:?}", Environment::of(&[key]));
    assert!(!printed.contains(HIDDEN), "{printed}");
}

#[test]
fn the_environment_has_the_last_word() {
    let text = "[server]\nlisten = \"127.0.0.1:1\"\n[store]\nurl = \"sqlite:/tmp/x.db\"\n";
    let file = holds(text);
    assert_eq!(file.store.url.expose(), "sqlite:/tmp/x.db");
    assert_eq!(origin(&file, "store.url"), &Origin::File { line: 4 });
    let variables = [
        ("TALARIA_LISTEN", "localhost:0"),
        ("TALARIA_STORE_URL", "sqlite:other.db"),
        ("TALARIA_LOG", "debug"),
    ];
    let effective = loaded(text, &variables).unwrap();
    assert_eq!(effective.server.listen.to_string(), "127.0.0.1:0");
    assert_eq!(
        effective.store.url.expose(),
        "sqlite:/var/lib/talaria/other.db"
    );
    assert_eq!(effective.log.as_deref(), Some("debug"));
    assert_eq!(
        origin(&effective, "server.listen"),
        &Origin::Environment {
            name: "TALARIA_LISTEN"
        }
    );
    let empty = loaded(text, &[("TALARIA_LISTEN", "")]).unwrap();
    assert_eq!(
        origin(&empty, "server.listen"),
        &Origin::File { line: 2 },
        "empty is unset"
    );
}

#[test]
fn a_mistake_in_the_environment_names_its_variable() {
    let weak = [
        ("TALARIA_LISTEN", "0.0.0.0:80"),
        ("TALARIA_API_KEY", "hunter2"),
    ];
    let table: &[(&[(&str, &str)], &str)] = &[
        (
            &[("TALARIA_LISTEN", "here")],
            "environment variable TALARIA_LISTEN: server.listen: expected an address",
        ),
        (
            &[("TALARIA_LISTEN", "[::]:80")],
            "environment variable TALARIA_LISTEN: server.listen: [::]:80 can be reached",
        ),
        (
            &[("TALARIA_STORE_URL", "oracle:hunter2")],
            "environment variable TALARIA_STORE_URL: store.url: expected sqlite",
        ),
        (
            &weak,
            "environment variable TALARIA_API_KEY: api_key: too weak",
        ),
    ];
    for (variables, start) in table {
        let problems = loaded("", variables).unwrap_err();
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|line| line.starts_with(start)), "{told:?}");
        assert!(!told.concat().contains(HIDDEN), "{told:?}");
    }
    let named = "[server]\npublic_url = \"https://example.org\"";
    assert!(
        loaded(named, &weak[..1]).is_ok(),
        "with a public url it may listen everywhere"
    );
}

#[test]
fn a_position_is_counted_as_editors_do() {
    let text = "a\nüöx\n";
    let table = [
        (0, (1, 1)),
        (1, (1, 2)),
        (2, (2, 1)),
        (6, (2, 3)),
        (99, (3, 1)),
    ];
    for (offset, (line, column)) in table {
        assert_eq!(
            Position::of(text, offset),
            Position { line, column },
            "{offset}"
        );
    }
}

#[test]
fn keys_with_dots_are_quoted_and_found_again() {
    let text = "[model.\"gpt-4.1\"]\nprovider = \"demo\"\n";
    let effective = holds(text);
    let key = "model.\"gpt-4.1\".provider";
    assert_eq!(origin(&effective, key), &Origin::File { line: 2 });
    assert_eq!(keys::of(key).unwrap().pattern, "model.*.provider");
    assert_eq!(
        show::below(&effective.settings, "model.\"gpt-4.1\"").len(),
        5
    );
}

#[test]
fn a_tool_that_nobody_knows_is_a_warning() {
    let effective = holds("[profile.a]\ntools = [\"terminal\", \"terminl\", \"kanban_create\"]\n");
    assert_eq!(effective.warnings.len(), 1);
    assert!(
        effective.warnings[0]
            .what
            .contains("did you mean `terminal`?")
    );
}
