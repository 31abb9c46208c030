//! Addresses, and sentences without the key.

use std::time::Duration;

use hyper::Request;
use hyper::header::{AUTHORIZATION, HeaderName};
use talaria_domain::run::FailureCode;
use talaria_domain::secret::SecretString;
use tokio_util::bytes::Bytes;

use super::Link;
use crate::models::fault::Fault;
use crate::models::retry::Progress;
use crate::models::{Client, ModelError, Patience, tls};

const KEY: &str = "sk-very-secret-0123456789";

fn link(base_url: &str) -> Link {
    link_with(base_url, &format!("{KEY}\n"))
}

fn link_with(base_url: &str, key: &str) -> Link {
    let client = Client::new(tls().unwrap());
    let key = Some(SecretString::from(key));
    let path = "chat/completions";
    Link::of(client, base_url, path, key, Patience::default())
}

fn head(link: &Link) -> Result<Request<()>, Fault> {
    link.request(Bytes::new()).map(|request| request.map(drop))
}

fn header(link: &Link, name: &HeaderName) -> Option<String> {
    let head = head(link).unwrap();
    let value = head.headers().get(name)?;
    assert!(value.is_sensitive(), "{name}");
    Some(value.to_str().unwrap().to_owned())
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
            "http://[::1]:8080/",
            "http://[::1]:8080/chat/completions",
            "[::1]:8080",
        ),
        (
            "https://api.example:443",
            "https://api.example/chat/completions",
            "api.example",
        ),
        (
            "https://api.example",
            "https://api.example/chat/completions",
            "api.example",
        ),
        (
            "https://me:hush@api.example/x?api-version=1",
            "https://api.example/x/chat/completions?api-version=1",
            "api.example",
        ),
    ];
    for (base_url, expected, server) in table {
        let link = link(base_url);
        let head = head(&link).unwrap();
        assert_eq!(head.uri(), expected);
        assert_eq!(head.headers()["host"], server);
        assert_eq!(link.server(), server);
    }
}

#[test]
fn what_is_no_address_is_told() {
    for base_url in [
        "",
        "api.example/v1",
        "localhost:11434",
        "file:///v1",
        "mailto:me@example",
    ] {
        let fault = head(&link(base_url)).unwrap_err();
        let Fault::Misconfigured(why) = fault else {
            panic!("{fault:?}");
        };
        assert!(why.contains("base_url"), "{base_url:?}");
    }
}

#[test]
fn the_header_has_the_key_without_its_line_end_and_hides_it() {
    let link = link("http://a.example").with_key(AUTHORIZATION, "Bearer ");
    assert_eq!(header(&link, &AUTHORIZATION), Some(format!("Bearer {KEY}")));
    assert!(!format!("{:?}", head(&link)).contains(KEY));
}

#[test]
fn a_key_that_no_header_takes_is_told_without_it() {
    let link = link_with("http://a.example", "sk-\u{7}bell").with_key(AUTHORIZATION, "");
    let fault = head(&link).unwrap_err();
    let told = link.error(fault, Progress::Nothing, 0).to_string();
    assert!(told.contains("api_key") && !told.contains("bell"), "{told}");
}

#[test]
fn an_empty_key_is_none() {
    let link = link_with("http://a.example", " \n").with_key(AUTHORIZATION, "");
    assert_eq!(header(&link, &AUTHORIZATION), None);
}

#[test]
fn a_login_in_the_address_goes_nowhere() {
    let link = link("http://me:secret@a.example");
    assert_eq!(header(&link, &AUTHORIZATION), None);
    let request = link.request(Bytes::new()).unwrap();
    assert_eq!(request.uri(), "http://a.example/chat/completions");
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
