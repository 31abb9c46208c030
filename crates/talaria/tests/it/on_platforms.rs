//! The real binary on every platform, against its simulated vendor: whatever is said about a question asked in a thread
//! is said in that thread; every bot answers as itself; a platform that is sick stays one sick part.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use talaria_sim::certify::Candidate;
use talaria_sim::vendor::venue::{Sight, Venue};
use talaria_sim::vendor::{Fault, On, Press, Shown, Written};
use talaria_sim::{crash, discord, telegram};

use crate::killing_a_run::caller::Caller;
use crate::program::Home;
use crate::starting::started;

/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// Waits until people see this.
async fn sees(venue: &dyn Venue, what: &str, holds: impl Fn(&Sight) -> bool + Sync) {
    let scene = venue.stage();
    let seen = tokio::time::timeout(PATIENCE, scene.until(&holds)).await;
    assert!(seen.is_ok(), "{what}: {:#?}", scene.look().chats);
}

fn ours(sight: &Sight) -> Vec<Shown> {
    sight.ours().map(|(_, shown)| shown.clone()).collect()
}

fn says(sight: &Sight, text: &str) -> bool {
    ours(sight).iter().any(|shown| shown.text.contains(text))
}

fn configured(candidate: &Candidate, venue: &dyn Venue) -> String {
    // Guests may not approve anything: whoever asks is known here.
    let sender = candidate.places.thread.unwrap()(2, "").sender;
    let account = crash::account(candidate, venue).replace("\"*\"", &format!("{sender:?}"));
    format!(
        "[profile.assistant]\ntools = [\"terminal\", \"process\", \"send_message\", \"schedule\"]\n\
         approve = [\"terminal\"]\n{account}"
    )
}

#[tokio::test]
async fn whatever_is_said_about_a_question_in_a_thread_is_said_in_that_thread() {
    let with_buttons = |candidate: &Candidate| candidate.platform != "relay";
    for candidate in talaria_sim::candidates().into_iter().filter(with_buttons) {
        let venue = (candidate.start)(0).await.unwrap();
        let home = Home::empty();
        home.write("talaria.toml", &configured(&candidate, &*venue), 0o600);
        let (mut gateway, _log) = started(&home).await;
        let thread = candidate.places.thread.unwrap();
        let asks = |text: &str| thread(2, text);
        let written = asks("");
        everything_is_said(&*venue, asks).await;
        let (name, topic) = (candidate.platform, written.thread.clone().unwrap());
        let target = format!("{name}:{}:{topic}", written.chat);
        let sent = home.run(&["send", &target, "by the operator"]).await;
        assert_eq!(sent.code, 0, "{sent:?}");
        sees(&*venue, "what the operator sends", |sight| {
            says(sight, "by the operator")
        })
        .await;
        all_in_one_thread(name, &venue.stage().look(), &topic);
        gateway.kill().await.unwrap();
    }
}

/// A prompt, an answer, a file and a late notice.
async fn everything_is_said(venue: &dyn Venue, asks: impl Fn(&str) -> Written) {
    let scene = venue.stage();
    let is_listening = |sight: &Sight| {
        let mut asked = sight.requests.iter();
        asked.any(|asked| matches!(asked.on, On::Connect | On::Updates))
    };
    sees(venue, "somebody who listens", is_listening).await;
    scene.write(&asks("run: echo loud and clear | tr a-z A-Z"));
    let first = approve_next(venue, &asks("").sender, "").await;
    sees(venue, "the answer", |sight| says(sight, "LOUD AND CLEAR")).await;

    let elsewhere = tempfile::tempdir().unwrap();
    let report = elsewhere.path().join("report.txt");
    std::fs::write(&report, "what is in it").unwrap();
    scene.write(&asks(&format!("file: {}", report.display())));
    let has_file = |sight: &Sight| ours(sight).iter().any(|shown| shown.file.is_some());
    sees(venue, "the file", has_file).await;

    scene.write(&asks("background: sleep 1; echo much later | tr a-z A-Z"));
    approve_next(venue, &asks("").sender, &first).await;
    sees(venue, "the late notice", |sight| says(sight, "MUCH LATER")).await;
    what_is_planned_is_said(venue, asks).await;
}

/// What a person plans, what the agent plans for them, and what the agent is asked then.
async fn what_is_planned_is_said(venue: &dyn Venue, asks: impl Fn(&str) -> Written) {
    let is_said = |sight: &Sight, text: &str| {
        let is_it = |shown: &Shown| shown.text.trim() == text;
        ours(sight).iter().any(is_it)
    };
    let scene = venue.stage();
    scene.write(&asks("/schedule add in 2s say right on time"));
    sees(venue, "what was planned", |sight| {
        is_said(sight, "right on time")
    })
    .await;
    scene.write(&asks("remind: 2s as I was told"));
    sees(venue, "what the agent planned", |sight| {
        is_said(sight, "as I was told")
    })
    .await;
    scene.write(&asks("/schedule add in 2s ask any news?"));
    sees(venue, "the answer to what was planned", |sight| {
        let mut answers = ours(sight).into_iter();
        answers.any(|shown| shown.text.contains("You wrote") && shown.text.contains("any news?"))
    })
    .await;
}

/// Every message and every typing sign is in this thread.
fn all_in_one_thread(name: &str, sight: &Sight, topic: &str) {
    let expected = BTreeSet::from([Some(topic.to_owned())]);
    let threads: BTreeSet<_> = ours(sight).into_iter().map(|shown| shown.thread).collect();
    assert_eq!(threads, expected, "{name}: every message is in the thread");
    let signs = sight.chats.iter().flat_map(|chat| &chat.signs);
    let signs: BTreeSet<_> = signs.map(|signed| signed.thread.clone()).collect();
    assert_eq!(
        signs, expected,
        "{name}: somebody is seen typing in the thread"
    );
}

/// Approves what is asked after the message `asked`; gives the message that asked.
async fn approve_next(venue: &dyn Venue, sender: &str, asked: &str) -> String {
    let next = |sight: &Sight| {
        let mut all = ours(sight).into_iter();
        all.find(|shown| !shown.buttons.is_empty() && shown.message_id != asked)
    };
    sees(venue, "a question", |sight| next(sight).is_some()).await;
    let message = next(&venue.stage().look()).unwrap().message_id;
    let press = Press {
        message: message.clone(),
        button: "Approve".to_owned(),
        sender: sender.to_owned(),
    };
    assert!(venue.stage().press(&press));
    message
}

#[tokio::test]
async fn three_profiles_with_two_bots_each_answer_as_themselves() {
    let tokens: Vec<String> = (1..=6)
        .map(|bot| format!("{}:token-{bot}", 5_000 + bot))
        .collect();
    let server = telegram::start("127.0.0.1:0", telegram::Terms::of(tokens.clone()))
        .await
        .unwrap();
    let home = Home::empty();
    let profile =
        |name: &str| format!("[profile.{name}]\ninstructions = \"You are the {name}.\"\n");
    let mut text: Vec<String> = ["first", "second", "third"].map(profile).into();
    let order = [3, 1, 5, 2, 6, 4];
    for bot in order {
        let profile = ["first", "second", "third"][(bot - 1) / 2];
        text.push(format!(
            "[[account]]\nplatform = \"telegram\"\nname = \"bot{bot}\"\nprofile = \"{profile}\"\n\
             token = \"{}\"\napi_base = \"{}\"\nallow = [\"42\"]\n",
            tokens[bot - 1],
            server.url()
        ));
    }
    home.write("talaria.toml", &text.concat(), 0o600);
    let (mut gateway, _log) = started(&home).await;
    for bot in 1..=6 {
        server.vendor().write(&Written {
            to: Some((5_000 + bot).to_string()),
            ..Written::to_chat("42", "direct", ("42", &format!("run: echo to bot {bot}")))
        });
    }
    let answers = |sight: &Sight| -> BTreeSet<(String, String)> {
        let all = ours(sight).into_iter();
        all.filter_map(|shown| {
            let word = shown.text.split("to bot ").nth(1)?.chars().next()?;
            Some((shown.sender, word.to_string()))
        })
        .collect()
    };
    let expected: BTreeSet<_> = (1..=6)
        .map(|bot| ((5_000 + bot).to_string(), bot.to_string()))
        .collect();
    sees(&server, "six answers", |sight| answers(sight) == expected).await;
    gateway.kill().await.unwrap();
}

/// What the status says of an account.
fn state<'a>(status: &'a Value, name: &str) -> &'a str {
    let parts = status["parts"].as_array().into_iter().flatten();
    let part = parts
        .into_iter()
        .find(|part| part["name"].as_str().is_some_and(|it| it.ends_with(name)));
    part.map_or("", |part| part["state"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn a_sick_platform_says_so_and_the_others_are_served() {
    let good = "5001:a-good-token";
    let server = telegram::start("127.0.0.1:0", telegram::Terms::of([good]))
        .await
        .unwrap();
    let beating = discord::Terms {
        heartbeat: Duration::from_secs(2),
        ..discord::Terms::for_tokens(["mute"])
    };
    let mute = discord::start("127.0.0.1:0", beating).await.unwrap();
    mute.vendor().order(Fault {
        on: On::Connect,
        mishap: "hang".parse().unwrap(),
        retry_after: None,
        times: 1_000,
    });
    let account = |name: &str, platform: &str, (token, url): (&str, &str)| {
        format!(
            "[[account]]\nplatform = \"{platform}\"\nname = \"{name}\"\ntoken = \"{token}\"\n\
             api_base = \"{url}\"\nallow = [\"42\"]\n"
        )
    };
    let home = Home::empty();
    let text = [
        account("good", "telegram", (good, &server.url())),
        account("revoked", "telegram", ("5002:revoked", &server.url())),
        account(
            "nowhere",
            "telegram",
            ("5003:nowhere", "http://no-such-host.invalid"),
        ),
        account("mute", "discord", ("mute", &mute.url())),
    ];
    home.write("talaria.toml", &text.concat(), 0o600);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let told = async {
        let expected = [
            ("good", "connected"),
            ("revoked", "auth_failed"),
            ("nowhere", "degraded"),
            ("mute", "degraded"),
        ];
        let mut status = Value::Null;
        while expected
            .iter()
            .any(|(name, is)| state(&status, name) != *is)
        {
            status = caller.gets("/api/status").await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await;
    assert!(told.is_ok(), "{}", caller.gets("/api/status").await);
    server.vendor().write(&Written::to_chat(
        "42",
        "direct",
        ("42", "run: echo still here"),
    ));
    sees(&server, "the answer", |sight| says(sight, "still here")).await;
    assert!(gateway.try_wait().unwrap().is_none(), "the same process");
    gateway.kill().await.unwrap();
}
