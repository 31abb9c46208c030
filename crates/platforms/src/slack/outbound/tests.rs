//! What Slack is asked, word for word ("chat.postMessage", "chat.update", "files.completeUploadExternal", "Button
//! element" on <https://docs.slack.dev/reference/>).

use serde_json::{Value, json};
use talaria_domain::adapter::{Outgoing, TextForm};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, Part, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::ids::{PartId, ReplyId};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};

use super::{Post, carried, is_person, message, opening, sharing};

fn outgoing(body: PartBody) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([1; 16]),
            reply: ReplyId::from_bytes([2; 16]),
            ordinal: 0,
            body,
        },
        to: Address {
            platform: "slack".into(),
            account: "office".into(),
            chat_kind: ChatKind::Group,
            chat: "C0ROOM".into(),
            thread: Some("1.000001".into()),
            reply_to: None,
        },
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

fn text(markdown: &str) -> Outgoing {
    outgoing(PartBody::Text {
        markdown: markdown.to_owned(),
    })
}

fn file(caption: &str) -> Outgoing {
    outgoing(PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: "somewhere".to_owned(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: caption.to_owned(),
    })
}

fn prompt(choices: &[&str]) -> Prompt {
    let answer = |text: &&str| Button {
        label: (*text).to_owned(),
        choice: Choice::Answer {
            text: (*text).to_owned(),
        },
    };
    Prompt {
        token: PressToken::from_random([0xab; 16]),
        buttons: choices.iter().map(answer).collect(),
    }
}

fn asked(outgoing: &Outgoing, post: Post<'_>) -> Value {
    serde_json::to_value(message(outgoing, "C0ROOM", post).unwrap()).unwrap()
}

#[test]
fn a_part_becomes_a_message_in_its_thread() {
    assert_eq!(
        asked(&text("**hello** <b>&</b>"), Post::Send),
        json!({
            "channel": "C0ROOM", "thread_ts": "1.000001", "text": "*hello* &lt;b&gt;&amp;&lt;/b&gt;",
            "mrkdwn": true, "parse": "none", "unfurl_links": false, "unfurl_media": false,
        })
    );
}

#[test]
fn plain_text_is_escaped_and_says_so() {
    let mut outgoing = text("**hello** <!channel>");
    outgoing.form = TextForm::Plain;
    outgoing.to.thread = None;
    let asked = asked(&outgoing, Post::Send);
    assert_eq!(asked["text"], "**hello** &lt;!channel&gt;");
    assert_eq!(asked["mrkdwn"], false);
    assert_eq!(asked.get("thread_ts"), None);
}

#[test]
fn a_change_takes_buttons_away_that_are_no_more() {
    let id = "2.000002".into();
    let asked = asked(&text("done"), Post::Change(&id));
    assert_eq!(asked["ts"], "2.000002");
    assert_eq!(asked["blocks"], json!([]));
}

#[test]
fn buttons_carry_the_token_and_the_choice() {
    let mut outgoing = text("May I?");
    outgoing.prompt = Some(Prompt {
        token: PressToken::from_random([0xab; 16]),
        buttons: vec![
            Button {
                label: "Approve".to_owned(),
                choice: Choice::Approve,
            },
            Button {
                label: "Deny".to_owned(),
                choice: Choice::Deny,
            },
        ],
    });
    let token = "ab".repeat(16);
    let button = |at: usize, label: &str, style: &str, choice: &str| {
        json!({
            "type": "button", "text": { "type": "plain_text", "text": label }, "style": style,
            "action_id": format!("talaria.{at}"), "value": format!("{token} {choice}"),
        })
    };
    assert_eq!(
        asked(&outgoing, Post::Send)["blocks"],
        json!([
            { "type": "section", "text": { "type": "mrkdwn", "text": "May I?" } },
            { "type": "actions", "elements": [
                button(0, "Approve", "primary", "yes"),
                button(1, "Deny", "danger", "no"),
            ]},
        ])
    );
}

#[test]
fn what_a_button_carries_comes_back() {
    let long = "y".repeat(2_500);
    for (choice, expected) in [
        (Choice::Approve, Choice::Approve),
        (Choice::Deny, Choice::Deny),
        (answer("a = b  c"), answer("a = b  c")),
        (answer(""), answer("")),
        (answer("yes"), answer("yes")),
        // Too long for a button: its number means the same.
        (answer(&long), answer("1")),
    ] {
        let mut outgoing = text("Which?");
        let mut prompt = prompt(&["x"]);
        prompt.buttons[0].choice = choice.clone();
        let hash = prompt.token.hash();
        outgoing.prompt = Some(prompt);
        let asked = asked(&outgoing, Post::Send);
        let button = &asked["blocks"][1]["elements"][0];
        let (action, value) = (&button["action_id"], &button["value"]);
        let value = value.as_str().unwrap();
        assert!(value.chars().count() <= 2_000);
        let found = carried(action.as_str().unwrap(), value);
        assert_eq!(found, Some((hash, expected)), "{choice:?}");
    }
}

fn answer(text: &str) -> Choice {
    Choice::Answer {
        text: text.to_owned(),
    }
}

#[test]
fn what_is_not_ours_carries_nothing() {
    for (action, value) in [
        ("other.0", "ab yes"),
        ("talaria.0", "ab"),
        ("talaria.0", "ab maybe"),
        ("talaria.0", ""),
    ] {
        assert_eq!(carried(action, value), None, "{action} {value}");
    }
}

#[test]
fn limits_of_blocks_are_kept() {
    let choices: Vec<String> = (0..30)
        .map(|at| format!("{at}{}", "l".repeat(100)))
        .collect();
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    let line = format!("{}\n", "word ".repeat(20));
    let mut outgoing = text(&line.repeat(38));
    outgoing.prompt = Some(prompt(&choices));
    let asked = asked(&outgoing, Post::Send);
    let blocks = asked["blocks"].as_array().unwrap();
    let kinds: Vec<_> = blocks
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["section", "section", "actions", "actions"]);
    let whole: String = blocks[..2]
        .iter()
        .map(|block| block["text"]["text"].as_str().unwrap())
        .inspect(|text| assert!(text.chars().count() <= 3_000))
        .collect();
    assert_eq!(whole, asked["text"].as_str().unwrap());
    let rows: Vec<_> = blocks[2..]
        .iter()
        .map(|block| block["elements"].as_array().unwrap().len())
        .collect();
    assert_eq!(rows, [25, 5]);
    let label = blocks[2]["elements"][0]["text"]["text"].as_str().unwrap();
    assert_eq!(label.chars().count(), 75);
    assert!(label.ends_with('…'));
}

#[test]
fn a_file_is_shared_in_its_thread_with_its_words_or_its_buttons() {
    let mut outgoing = file("**look**");
    assert_eq!(
        sharing(&outgoing, "C0ROOM", ("F1", "cat.png")),
        json!({
            "files": [{ "id": "F1", "title": "cat.png" }], "channel_id": "C0ROOM", "thread_ts": "1.000001",
            "initial_comment": "*look*",
        })
    );
    outgoing.prompt = Some(prompt(&["yes"]));
    let asked = sharing(&outgoing, "C0ROOM", ("F1", "cat.png"));
    assert_eq!(asked.get("initial_comment"), None);
    assert_eq!(asked["blocks"][0]["text"]["text"], "*look*");
    assert_eq!(asked["blocks"][1]["type"], "actions");
    let bare = sharing(&file(""), "C0ROOM", ("F1", "cat.png"));
    assert_eq!(bare.get("initial_comment"), None);
}

#[test]
fn a_file_that_is_there_stays_as_it_is() {
    let id = "F1".into();
    let refused = message(&file("other"), "C0ROOM", Post::Change(&id)).unwrap_err();
    assert!(matches!(
        refused,
        Outcome::Rejected {
            class: Rejection::Invalid,
            ..
        }
    ));
}

#[test]
fn a_thread_begins_with_its_name() {
    let asked = serde_json::to_value(opening("C0ROOM", "a & b")).unwrap();
    assert_eq!(asked["text"], "a &amp; b");
    assert_eq!(asked.get("thread_ts"), None);
}

#[test]
fn people_are_known_by_their_ids() {
    for (chat, expected) in [
        ("U0ADA", true),
        ("W0ADA", true),
        ("D0ADA", false),
        ("C0ROOM", false),
        ("G0ROOM", false),
    ] {
        assert_eq!(is_person(chat), expected, "{chat}");
    }
}
