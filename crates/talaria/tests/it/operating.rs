//! An operator at work: every command against a gateway that answers.

use serde_json::json;

use crate::fake::{Fake, SESSION};

const DEAD: &str = "0198c0de-0000-7000-8000-0000000000dd";

#[tokio::test]
async fn status_on_one_screen() {
    let fake = Fake::start().await;
    let status = fake.home.run(&["status"]).await;
    let link = format!("http://{}/?login=once", fake.address);
    status.shows(&["9.9.9", "assistant", "demo", "sqlite:/x/store.db", &link]);
    status.shows(&[
        "3 open, 1 running",
        "2 queued",
        "4 retry",
        "oldest undelivered",
        "7",
    ]);
    status.shows(&["connected", "it hurts", "1 of 2 parts are not well"]);
    let json = fake.home.run(&["status", "--json"]).await.json();
    assert_eq!(json["dead"], 7);
    assert_eq!(
        fake.bodies("POST /api/login").len(),
        1,
        "programs need no link"
    );
}

#[tokio::test]
async fn a_trace_by_the_platforms_id() {
    let fake = Fake::start().await;
    let trace = fake.home.run(&["trace", "$platform/1"]).await;
    trace.shows(&[
        "arrived: message e1",
        "run r1: attempt 1",
        "reply y1: final, delivered",
        "receipt m1",
        "+1.500 s",
    ]);
    let json = fake
        .home
        .run(&["trace", "$platform/1", "--json"])
        .await
        .json();
    assert_eq!(json["runs"][0]["id"], "r1");
    let unknown = fake.home.run(&["trace", "nothing"]).await;
    unknown.fails(1, &["nothing is known of nothing", "404"]);
}

#[tokio::test]
async fn conversations_page_by_page() {
    let fake = Fake::start().await;
    let list = fake.home.run(&["sessions", "list"]).await;
    list.shows(&[SESSION, "colours", "shapes", "evil [2J title"]);
    assert!(
        !list.out.contains('\u{1b}'),
        "a title cannot clear the screen"
    );
    let two = fake
        .home
        .run(&["sessions", "list", "--limit", "2", "--json"])
        .await
        .json();
    assert_eq!(two["data"].as_array().unwrap().len(), 2);
    let show = fake.home.run(&["sessions", "show", SESSION]).await;
    show.shows(&[
        "colours",
        "user",
        "what is [31mred?",
        "assistant",
        "A colour.",
    ]);
    let short = fake
        .home
        .run(&["sessions", "show", SESSION, "--last", "1"])
        .await;
    short.shows(&["1 earlier", "A colour.", "→ terminal {}"]);
    assert!(!short.out.contains("red?"));
    let export = fake.home.run(&["sessions", "export", SESSION]).await;
    export.shows(&["# colours", "## user, 1970-01-01 00:00:01", "A colour."]);
    let json = fake
        .home
        .run(&["sessions", "export", SESSION, "--json"])
        .await
        .json();
    assert_eq!(
        json["messages"][0]["text"], "what is \u{1b}[31mred?",
        "programs get it as it is"
    );
    let unknown = fake.home.run(&["sessions", "show", "x"]).await;
    unknown.fails(1, &["there is no session x"]);
}

#[tokio::test]
async fn dead_letters_are_listed_replayed_and_dropped() {
    let fake = Fake::start().await;
    let list = fake.home.run(&["dead", "list"]).await;
    list.shows(&[DEAD, "part", "open", "the chat is gone"]);
    let show = fake.home.run(&["dead", "show", DEAD]).await;
    show.shows(&[
        "the chat is gone",
        "talaria trace 0198c0de-0000-7000-8000-0000000000ee",
    ]);
    fake.home
        .run(&["dead", "replay", DEAD])
        .await
        .shows(&["replayed"]);
    fake.home
        .run(&["dead", "drop", DEAD])
        .await
        .shows(&["dropped"]);
    for verb in ["replay", "drop"] {
        assert_eq!(
            fake.bodies(&format!("POST /api/dead/{DEAD}/{verb}")),
            [json!({})]
        );
    }
}

#[tokio::test]
async fn jobs_are_listed_and_shown() {
    let fake = Fake::start().await;
    let id = "0198c0de-0000-7000-8000-0000000000cc";
    let list = fake.home.run(&["jobs", "list"]).await;
    list.shows(&[id, "process", "completed", "make all"]);
    let show = fake.home.run(&["jobs", "show", id]).await;
    show.shows(&["make all is done", "web/default/c", "talaria trace", "wake"]);
    let json = fake.home.run(&["jobs", "show", id, "--json"]).await;
    json.shows(&["\"told\"", "make all is done"]);
}

#[tokio::test]
async fn runs_are_listed_and_lose_what_is_taken_away() {
    let fake = Fake::start().await;
    let id = "0198c0de-0000-7000-8000-0000000000bb";
    let list = fake.home.run(&["runs", "list"]).await;
    list.shows(&[id, "assistant", "native", "running"]);
    let taken = [
        "runs",
        "revoke",
        id,
        "storage",
        "plugin",
        "--operation",
        "set",
    ];
    let done = fake.home.run(&taken).await;
    done.shows(&[&format!("revoked storage plugin set from {id}")]);
    let done = fake
        .home
        .run(&["runs", "revoke", id, "state", "--json"])
        .await;
    assert_eq!(done.json()["runs"][0], id);
    let expected = [
        json!({ "kind": "storage", "name": "plugin", "operation": "set" }),
        json!({ "kind": "state" }),
    ];
    assert_eq!(
        fake.bodies(&format!("POST /api/runs/{id}/revoke")),
        expected
    );
}

#[tokio::test]
async fn a_text_is_sent_and_its_receipt_printed() {
    let fake = Fake::start().await;
    let sent = fake
        .home
        .run(&["send", "somewhere:1:2", "the backup is done"])
        .await;
    sent.shows(&["delivered as m42"]);
    let expected = json!({ "to": "somewhere:1:2", "text": "the backup is done" });
    assert_eq!(fake.bodies("POST /api/send"), [expected]);
    let json = fake
        .home
        .run(&["send", "somewhere", "x", "--json"])
        .await
        .json();
    assert_eq!(json["trace"]["replies"][0]["state"], "delivered");
    let gone = fake.home.run(&["send", "gone:1", "x"]).await;
    gone.fails(
        1,
        &[
            "it was not delivered: the chat was deleted",
            "talaria trace",
        ],
    );
    let nowhere = fake.home.run(&["send", "nowhere", "x"]).await;
    nowhere.fails(1, &["there is no platform nowhere"]);
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let fake = Fake::start().await;
    let made = fake.home.run(&["key", "create", "laptop"]).await;
    made.shows(&["laptop", "chat", "shown-once"]);
    assert!(made.err.contains("not shown again"));
    fake.home
        .run(&[
            "key", "create", "board", "--scope", "chat", "--scope", "operator",
        ])
        .await
        .shows(&["k1"]);
    let bodies = fake.bodies("POST /api/keys");
    assert_eq!(bodies[0], json!({ "name": "laptop", "scopes": ["chat"] }));
    assert_eq!(
        bodies[1],
        json!({ "name": "board", "scopes": ["chat", "operator"] })
    );
    fake.home
        .run(&["key", "list"])
        .await
        .shows(&["k1", "laptop", "chat"]);
    fake.home
        .run(&["key", "revoke", "k1"])
        .await
        .shows(&["revoked k1"]);
    assert_eq!(fake.bodies("DELETE /api/keys/k1").len(), 1);
}

#[tokio::test]
async fn a_wrong_key_is_explained() {
    let fake = Fake::start().await;
    fake.home
        .write("operator.key", "ffffffffffffffffffffffffffffffff", 0o600);
    let refused = fake.home.run(&["status"]).await;
    refused.fails(1, &["does not accept our key"]);
    assert!(!refused.err.contains("ffff"));
}

#[tokio::test]
async fn the_key_of_the_environment_is_used_where_there_is_no_other() {
    let fake = Fake::start().await;
    std::fs::remove_file(fake.home.file("operator.key")).unwrap();
    let variables = [("TALARIA_API_KEY", crate::program::KEY)];
    fake.home
        .run_with(&["status"], &variables, "")
        .await
        .shows(&["9.9.9"]);
}

#[tokio::test]
async fn commands_do_not_need_the_secrets_of_the_gateway() {
    let fake = Fake::start().await;
    let file =
        "[model.m]\nprovider = \"openai\"\nmodel = \"x\"\napi_key = { env = \"NOT_HERE\" }\n";
    fake.home.write("talaria.toml", file, 0o644);
    fake.home.run(&["status"]).await.shows(&["9.9.9"]);
    fake.home
        .run(&["config", "check"])
        .await
        .fails(78, &["NOT_HERE is not set"]);
}

#[tokio::test]
async fn the_doctor_knows_a_gateway_that_runs() {
    let fake = Fake::start().await;
    fake.home
        .run(&["doctor"])
        .await
        .shows(&["a gateway runs here"]);
}
