//! Addresses, and sentences without the key.

use std::time::Duration;

use talaria_domain::run::FailureCode;
use talaria_domain::secret::SecretString;

use super::Link;
use crate::models::fault::Fault;
use crate::models::retry::Progress;
use crate::models::{ModelError, Patience, client};

const KEY: &str = "sk-very-secret-0123456789";

fn link(base_url: &str) -> Link {
    let key = Some(SecretString::from(format!("{KEY}\n")));
    Link::of(
        client().unwrap(),
        base_url,
        "chat/completions",
        key,
        Patience::default(),
    )
}

#[test]
fn the_path_is_put_below_the_address() {
    let table = [
        (
            "http://127.0.0.1:1/v1",
            "http://127.0.0.1:1/v1/chat/completions",
            "127.0.0.1:1",
        ),
        (
            "https://api.example/v1/",
            "https://api.example/v1/chat/completions",
            "api.example",
        ),
        (
            "https://api.example",
            "https://api.example/chat/completions",
            "api.example",
        ),
        (
            "https://me:hush@api.example/x?api-version=1",
            "https://me:hush@api.example/x/chat/completions?api-version=1",
            "api.example",
        ),
    ];
    for (base_url, expected, server) in table {
        let link = link(base_url);
        assert_eq!(
            link.url.as_ref().map(ToString::to_string).as_deref(),
            Some(expected)
        );
        assert_eq!(link.server(), server);
    }
}

#[test]
fn what_is_no_address_is_none() {
    for base_url in [
        "",
        "api.example/v1",
        "localhost:11434",
        "file:///v1",
        "mailto:me@example",
    ] {
        assert_eq!(link(base_url).url, None, "{base_url:?}");
    }
}

#[test]
fn the_header_has_the_key_without_its_line_end_and_hides_it() {
    let header = link("http://a.example")
        .key_header("Bearer ")
        .unwrap()
        .unwrap();
    assert_eq!(header.as_bytes(), format!("Bearer {KEY}").as_bytes());
    assert!(!format!("{header:?}").contains(KEY));
}

#[test]
fn a_key_that_no_header_takes_is_told_without_it() {
    let key = Some(SecretString::from("sk-\u{7}bell"));
    let link = Link::of(
        client().unwrap(),
        "http://a.example",
        "x",
        key,
        Patience::default(),
    );
    let fault = link.key_header("").unwrap().unwrap_err();
    let told = link.error(fault, Progress::Nothing, 0).to_string();
    assert!(told.contains("api_key") && !told.contains("bell"), "{told}");
}

#[test]
fn an_empty_key_is_none() {
    let key = Some(SecretString::from(" \n"));
    let link = Link::of(
        client().unwrap(),
        "http://a.example",
        "x",
        key,
        Patience::default(),
    );
    assert!(link.key_header("").is_none());
}

#[test]
fn no_sentence_has_the_key_in_it_and_each_says_what_to_do() {
    let words = || format!("{} you sent {KEY} to us", "blah ".repeat(58));
    let patience = Duration::from_mins(2);
    let table = [
        (
            Fault::passing(words()),
            Progress::Nothing,
            "try again later",
        ),
        (Fault::passing(words()), Progress::Something, "ask again"),
        (
            Fault::Busy {
                why: words(),
                after: None,
            },
            Progress::Nothing,
            "try again later",
        ),
        (
            Fault::Silent { patience },
            Progress::Nothing,
            "try again later",
        ),
        (Fault::Silent { patience }, Progress::Something, "ask again"),
        (Fault::Unreadable(words()), Progress::Nothing, "base_url"),
        (Fault::Refused(words()), Progress::Nothing, "`model`"),
        (Fault::Unauthorized(words()), Progress::Nothing, "api_key"),
        (
            Fault::Misconfigured("x".to_owned()),
            Progress::Nothing,
            "talaria.toml",
        ),
        (Fault::TooLong(words()), Progress::Nothing, "/compress"),
    ];
    for (fault, progress, advice) in table {
        let told = link("https://me:hush@a.example/v1")
            .error(fault, progress, 5)
            .to_string();
        assert!(told.contains(advice), "{told}");
        assert!(
            !told.contains("sk-very") && !told.contains("hush"),
            "{told}"
        );
    }
}

#[test]
fn attempts_and_silence_are_counted() {
    let silent = Fault::Silent {
        patience: Duration::from_mins(5),
    };
    let error = link("http://a.example:8080").error(silent, Progress::Nothing, 1);
    let expected = ModelError::TryLater {
        server: "a.example:8080".to_owned(),
        attempts: 1,
        why: "nothing came for 300 s".to_owned(),
        code: FailureCode::Timeout,
        after: None,
    };
    assert_eq!(error, expected);
}
