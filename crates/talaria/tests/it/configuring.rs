//! The configuration from the outside: what holds, where it came from, and what a mistake looks like.

use serde_json::Value;

use crate::program::{Done, Home};

const FILE: &str = r#"[server]
listen = "127.0.0.1:5000"

[model.main]
provider = "openai"
base_url = "http://127.0.0.1:1/v1"
model    = "some-model"
api_key  = "hunter2"

[profile.assistant]
model = "main"
"#;

fn configured(text: &str) -> Home {
    let home = Home::empty();
    home.write("talaria.toml", text, 0o644);
    home
}

fn setting<'v>(shown: &'v Value, key: &str) -> &'v Value {
    let settings = shown["settings"].as_array().unwrap();
    settings
        .iter()
        .find(|setting| setting["key"] == key)
        .unwrap()
}

#[tokio::test]
async fn without_a_file_the_defaults_hold() {
    let home = Home::empty();
    home.run(&["config", "check"])
        .await
        .shows(&["ok", "defaults"]);
    let shown = home.run(&["config", "show", "--json"]).await.json();
    assert_eq!(setting(&shown, "server.listen")["value"], "127.0.0.1:4747");
    assert_eq!(
        setting(&shown, "server.listen")["origin"]["from"],
        "default"
    );
    assert_eq!(setting(&shown, "profile.assistant.model")["value"], "demo");
    assert_eq!(
        setting(&shown, "home")["value"],
        home.path().to_str().unwrap()
    );
    assert_eq!(setting(&shown, "home")["origin"]["name"], "TALARIA_HOME");
    let left = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 0, "looking changes nothing");
}

#[tokio::test]
async fn every_value_says_where_it_came_from() {
    let home = configured(FILE);
    let variables = [("TALARIA_LISTEN", "127.0.0.1:6000")];
    let shown = home
        .run_with(&["config", "show", "--json"], &variables, "")
        .await
        .json();
    let listen = setting(&shown, "server.listen");
    assert_eq!(listen["value"], "127.0.0.1:6000");
    assert_eq!(listen["origin"]["name"], "TALARIA_LISTEN");
    let model = setting(&shown, "model.main.model");
    assert_eq!(model["origin"]["line"], 7);
    assert_eq!(
        model["origin"]["file"],
        home.file("talaria.toml").to_str().unwrap()
    );
    assert_eq!(
        shown["warnings"][0]["line"], 8,
        "a literal secret is warned about"
    );
}

#[tokio::test]
async fn a_secret_is_never_printed() {
    let home = configured(FILE);
    let variables = [
        ("TALARIA_API_KEY", "hunter2hunter2"),
        ("TALARIA_STORE_URL", "postgres://ada:hunter2@h/d"),
    ];
    let commands: &[&[&str]] = &[
        &["config", "check"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "explain", "model.main"],
        &["config", "explain", "store.url", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ];
    for command in commands {
        let Done { out, err, .. } = home.run_with(command, &variables, "").await;
        assert!(
            !out.contains("hunter2") && !err.contains("hunter2"),
            "{command:?}: {out}{err}"
        );
    }
    home.run(&["config", "show"]).await.shows(&["(set)"]);
}

#[tokio::test]
async fn a_key_is_explained() {
    let home = configured(FILE);
    let explained = home.run(&["config", "explain", "server.listen"]).await;
    explained.shows(&[
        "server.listen = 127.0.0.1:5000",
        "talaria.toml:2",
        "public_url",
    ]);
    let secret = home.run(&["config", "explain", "model.main.api_key"]).await;
    secret.shows(&["(set)", "the configuration file"]);
    let table = home.run(&["config", "explain", "gateway"]).await;
    table.shows(&["gateway.max_turns = 256", "gateway.drain_seconds = 20"]);
    let unknown = home.run(&["config", "explain", "server.lisen"]).await;
    unknown.fails(2, &["did you mean `server.listen`?"]);
}

#[tokio::test]
async fn a_mistake_stops_whoever_needs_the_configuration() {
    let home = configured("[server]\nlisen = 1\n[gateway]\nattempts = 0\n");
    let file = home.file("talaria.toml");
    let first = format!("{}:2:1: server.lisen: unknown key", file.display());
    let second = format!(
        "{}:4:12: gateway.attempts: expected a number",
        file.display()
    );
    for command in [
        &["config", "check"][..],
        &["config", "show"],
        &["doctor"],
        &["up"],
        &[],
    ] {
        home.run(command)
            .await
            .fails(78, &[&first, "did you mean `listen`?", &second]);
    }
    let told = home.run(&["config", "check", "--json"]).await;
    assert_eq!(told.code, 78);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["ok"], false);
    assert_eq!(told["problems"][0]["line"], 2);
    assert_eq!(told["problems"][1]["key"], "gateway.attempts");
}

#[tokio::test]
async fn the_file_can_be_elsewhere() {
    let home = Home::empty();
    home.write("other.toml", "[server]\nlisten = \"127.0.0.1:7\"\n", 0o644);
    let other = home.file("other.toml");
    let variables = [("TALARIA_CONFIG", other.to_str().unwrap())];
    let shown = home
        .run_with(&["config", "show", "--json"], &variables, "")
        .await
        .json();
    assert_eq!(setting(&shown, "server.listen")["value"], "127.0.0.1:7");
    let missing = [("TALARIA_CONFIG", "/does/not/exist.toml")];
    let checked = home.run_with(&["config", "check"], &missing, "").await;
    checked.shows(&["defaults"]);
    assert!(
        checked
            .err
            .contains("there is no file /does/not/exist.toml")
    );
    let folder = [("TALARIA_CONFIG", home.path().to_str().unwrap())];
    let broken = home.run_with(&["config", "check"], &folder, "").await;
    broken.fails(78, &["cannot read the configuration"]);
}

#[tokio::test]
async fn there_are_no_colours_in_a_pipe() {
    let home = configured(FILE);
    for command in [
        &["config", "show"][..],
        &["doctor"],
        &["config", "explain", "server"],
    ] {
        let done = home.run(command).await;
        assert!(!done.out.contains('\u{1b}'), "{done:?}");
    }
}

#[tokio::test]
async fn the_doctor_looks_and_leaves_nothing_behind() {
    let home = Home::empty();
    let variables = [("TALARIA_LISTEN", "127.0.0.1:0")];
    let healthy = home.run_with(&["doctor"], &variables, "").await;
    healthy.shows(&[
        "configuration",
        "data directory",
        "operator key",
        "listen address",
        "store",
        "model demo",
    ]);
    let left = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 0);

    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = home
        .run_with(&["doctor", "--json"], &[("TALARIA_LISTEN", &address)], "")
        .await;
    assert_eq!(told.code, 1, "somebody else has the address");
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["ok"], false);

    let home = configured(FILE);
    let sick = home.run_with(&["doctor"], &variables, "").await;
    assert_eq!(sick.code, 1, "{sick:?}");
    assert!(
        sick.out
            .contains("http://127.0.0.1:1/v1/models cannot be reached"),
        "{}",
        sick.out
    );
}
