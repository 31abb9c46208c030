//! A stranger writes to the real gateway through a real adapter, and its operator lets them in with the real command.

use talaria_sim::relay::{self, Offer, Server, Terms, Written};
use talaria_sim::vendor::World as _;

use crate::program::{Home, PATIENCE};
use crate::starting::started;

fn configuration(bridge: &Server) -> String {
    format!(
        "[profile.assistant]\nmodel = \"demo\"\n\n[profile.researcher]\nmodel = \"demo\"\n\n\
         [[account]]\nplatform = \"relay\"\nname = \"office\"\ntoken = {{ file = \"token\" }}\n\
         api_base = \"{}\"\nallow = [\"ada\"]\nroles = {{ owner = [\"olga\"] }}\nstrangers = \"pair\"\n\n\
         [[route]]\nplatform = \"relay\"\nchat = \"lab\"\nprofile = \"researcher\"\n",
        bridge.url()
    )
}

/// What the bot wrote to somebody alone, once it has written so much.
async fn told(bridge: &Server, who: &str, messages: usize) -> Vec<String> {
    let chat = format!("chat of {who}");
    let by_the_bot = |world: &relay::World| -> Vec<String> {
        let shown = world.room().chat(&chat).cloned().unwrap_or_default();
        let shown = shown.messages.into_iter();
        let shown = shown.filter(|message| message.sender != who);
        shown.map(|message| message.text).collect()
    };
    let vendor = bridge.vendor();
    let enough = vendor.until(|world| by_the_bot(world).len() >= messages);
    tokio::time::timeout(PATIENCE, enough).await.unwrap();
    vendor.see(by_the_bot)
}

async fn world() -> (Home, Server, tokio::process::Child, impl Sized) {
    let bridge = relay::start("127.0.0.1:0", Terms::offering(Offer::Keys))
        .await
        .unwrap();
    let home = Home::empty();
    home.write("talaria.toml", &configuration(&bridge), 0o600);
    home.write("token", "a token of the bridge", 0o600);
    let (gateway, log) = started(&home).await;
    (home, bridge, gateway, log)
}

#[tokio::test]
async fn a_stranger_is_let_in_by_code_and_shut_out_by_id() {
    let (home, bridge, mut gateway, _log) = world().await;
    let vendor = bridge.vendor();
    let dora = "relay/office/dora";
    home.run(&["why", dora])
        .await
        .shows(&["may ask to be paired", "strangers"]);
    vendor.write(&Written::direct("dora", "hello"));
    let seen = told(&bridge, "dora", 1).await;
    let code = seen[0].rsplit('`').nth(1).unwrap().to_owned();

    let list = home.run(&["pair", "list"]).await;
    list.shows(&[dora, "waits", "60 min"]);
    assert!(!list.out.contains(&code), "{}", list.out);
    let json = home.run(&["pair", "list", "--json"]).await.json();
    assert_eq!(json["pending"][0]["principal"], dora);
    home.run(&["pair", "approve", "ZZZZ9999"])
        .await
        .fails(1, &["nobody waits", "talaria pair list"]);
    home.run(&["pair", "approve", &code.to_lowercase()])
        .await
        .shows(&[dora, "may talk now", "member"]);
    told(&bridge, "dora", 2).await;
    vendor.write(&Written::direct("dora", "/whoami"));
    let seen = told(&bridge, "dora", 3).await;
    assert!(seen[1].contains("You may talk"), "{seen:?}");
    assert!(seen[2].contains("a member"), "{seen:?}");

    let why = home.run(&["why", dora]).await;
    why.shows(&[
        "allowed as member: they were paired",
        "paired",
        "by operator",
        "pairing",
    ]);
    let why = home.run(&["why", dora, "--json"]).await.json();
    assert_eq!(why["live"], true);
    assert_eq!(why["access"]["grant"]["approved_by"], "operator");
    home.run(&["pair", "list"])
        .await
        .shows(&[dora, "member", "operator"]);
    home.run(&["pair", "revoke", dora])
        .await
        .shows(&["may not talk any more"]);
    home.run(&["pair", "revoke", dora])
        .await
        .fails(1, &["nobody of that name"]);
    let why = home.run(&["why", dora, "--json"]).await.json();
    assert_eq!(why["access"]["decision"], "pair");
    gateway.kill().await.unwrap();
    bridge.stop().await;
}

#[tokio::test]
async fn somebody_is_let_in_by_id_or_sent_away() {
    let (home, bridge, mut gateway, _log) = world().await;
    let vendor = bridge.vendor();
    let (dora, emil) = ("relay/office/dora", "relay/office/emil");
    for who in ["dora", "emil"] {
        vendor.write(&Written::direct(who, "hello"));
        told(&bridge, who, 1).await;
    }
    let approved = home
        .run(&["pair", "approve", dora, "--role", "guest", "--json"])
        .await
        .json();
    assert_eq!(
        (&approved["principal"], &approved["role"]),
        (&dora.into(), &"guest".into())
    );
    home.run(&["pair", "deny", emil])
        .await
        .shows(&[emil, "sent away"]);
    home.run(&["pair", "deny", emil])
        .await
        .fails(1, &["nobody waits"]);
    home.run(&["pair", "approve", "relay/nowhere/dora"])
        .await
        .fails(1, &["no such account"]);
    let listed = home.run(&["pair", "list", "--json"]).await.json();
    assert_eq!(listed["pending"].as_array().unwrap().len(), 0);
    vendor.write(&Written::direct("dora", "/jobs"));
    let seen = told(&bridge, "dora", 3).await;
    assert!(seen[2].contains("You may not use /jobs"), "{seen:?}");
    gateway.kill().await.unwrap();
    home.run(&["pair", "list"]).await.fails(69, &["talaria up"]);
    bridge.stop().await;
}

#[tokio::test]
async fn why_tells_every_source_the_route_and_the_binding() {
    let (home, bridge, mut gateway, _log) = world().await;
    let live = home.run(&["why", "relay/office/olga", "lab:7"]).await;
    live.shows(&[
        "allowed as owner: `roles` names them",
        "mention",
        "groups.allow_chats",
        "researcher",
        "relay chat \"lab\"",
        "profile:researcher",
    ]);
    assert_eq!(live.err, "");
    let refused = home
        .run(&["why", "relay/office/ada", "--command", "nonsense", "--json"])
        .await
        .json();
    assert_eq!(refused["access"]["decision"], "allowed");
    gateway.kill().await.unwrap();
    let alone = home.run(&["why", "relay/office/olga", "lab:7"]).await;
    alone.shows(&["allowed as owner", "researcher", "profile:researcher"]);
    assert!(
        alone.err.contains("by the configuration alone"),
        "{}",
        alone.err
    );
    home.run(&["why", "relay/nowhere/olga"])
        .await
        .shows(&["refused: no account \"nowhere\""]);
    home.run(&["why", "olga"])
        .await
        .fails(2, &["PLATFORM/ACCOUNT/USER"]);
    bridge.stop().await;
}
