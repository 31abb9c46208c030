//! Which combinations of `Host` and `Origin` are answered.

use super::*;

const HERE: Reach = Reach::Loopback;
const EVERYWHERE: Reach = Reach::Network;
const PUBLIC: Option<&str> = Some("https://talaria.example.org/");

fn decide(reach: Reach, public: Option<&str>, host: &str, origin: &str) -> bool {
    let given = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let hosts = Hosts::of(reach, public);
    hosts.decide(given(host), given(origin)).is_ok()
}

#[test]
fn on_loopback_only_loopback_names_are_answered() {
    for host in [
        "localhost",
        "LOCALHOST:4747",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:4747",
    ] {
        assert!(decide(HERE, None, host, ""), "{host}");
    }
    let foreign = [
        "",
        "evil.example",
        "evil.example:4747",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost:",
        "localhost:x",
        "localhost:4747.evil.example",
        "localhost@evil.example",
        "[::1]evil",
        "10.0.0.1:4747",
    ];
    for host in foreign {
        assert!(!decide(HERE, None, host, ""), "{host}");
    }
}

#[test]
fn an_origin_must_be_the_same_place_port_and_all() {
    let same = [
        ("localhost:4747", "http://localhost:4747"),
        ("127.0.0.1:4747", "http://127.0.0.1:4747"),
        ("[::1]:4747", "http://[::1]:4747"),
        ("localhost", "http://localhost"),
        ("localhost:80", "http://localhost"),
    ];
    for (host, origin) in same {
        assert!(decide(HERE, None, host, origin), "{host} {origin}");
    }
    let other = [
        ("localhost:4747", "http://localhost:3000"),
        ("localhost:4747", "http://127.0.0.1:4747"),
        ("localhost:4747", "https://evil.example"),
        ("localhost:4747", "null"),
        ("localhost:4747", "file://localhost:4747"),
        ("localhost:4747", "http://localhost:47470"),
        ("localhost:4747", "chrome-extension://abc"),
    ];
    for (host, origin) in other {
        assert!(!decide(HERE, None, host, origin), "{host} {origin}");
    }
}

#[test]
fn a_public_name_is_answered_where_it_was_given() {
    assert!(decide(
        HERE,
        PUBLIC,
        "talaria.example.org",
        "https://talaria.example.org"
    ));
    assert!(
        decide(
            HERE,
            PUBLIC,
            "localhost:4747",
            "https://talaria.example.org"
        ),
        "a proxy that rewrites the host"
    );
    assert!(
        decide(HERE, PUBLIC, "localhost:4747", "http://localhost:4747"),
        "beside the proxy"
    );
    assert!(!decide(HERE, PUBLIC, "evil.example", ""));
    assert!(!decide(
        HERE,
        PUBLIC,
        "talaria.example.org",
        "https://evil.example"
    ));
    assert!(!decide(
        HERE,
        PUBLIC,
        "talaria.example.org",
        "http://evil.example"
    ));
}

#[test]
fn elsewhere_any_host_is_answered_and_origins_still_match() {
    assert!(decide(EVERYWHERE, None, "gateway.lan:4747", ""));
    assert!(decide(
        EVERYWHERE,
        None,
        "gateway.lan:4747",
        "http://gateway.lan:4747"
    ));
    assert!(!decide(
        EVERYWHERE,
        None,
        "gateway.lan:4747",
        "http://evil.example"
    ));
    assert!(!decide(EVERYWHERE, None, "", ""));
}

#[test]
fn cookies_are_for_tls_only_where_browsers_use_it() {
    assert!(Hosts::of(HERE, PUBLIC).is_secure());
    assert!(!Hosts::of(HERE, None).is_secure());
    assert!(!Hosts::of(HERE, Some("http://gateway.lan")).is_secure());
}

#[test]
fn pages_that_are_let_in_are_told_from_our_own() {
    let friends = [
        "https://app.example.org".to_owned(),
        "http://localhost:3000".to_owned(),
    ];
    let hosts = Hosts::of(HERE, PUBLIC).inviting(&friends);
    let decide = |host: &str, origin: &str| hosts.decide(Some(host), Some(origin));
    for origin in [
        "https://app.example.org",
        "https://APP.example.org:443",
        "http://localhost:3000",
    ] {
        assert_eq!(
            decide("localhost:4747", origin),
            Ok(Visit::Invited),
            "{origin}"
        );
    }
    let own = [
        ("localhost:4747", "http://localhost:4747"),
        ("talaria.example.org", "https://talaria.example.org"),
    ];
    for (host, origin) in own {
        assert_eq!(decide(host, origin), Ok(Visit::Own), "{origin}");
    }
    let strangers = [
        "http://app.example.org",
        "https://app.example.org:444",
        "https://app.example.org.evil.example",
        "https://evil.example",
        "http://localhost:3001",
        "null",
        "*",
    ];
    for origin in strangers {
        assert!(decide("localhost:4747", origin).is_err(), "{origin}");
    }
    assert!(
        decide("evil.example", "https://app.example.org").is_err(),
        "another name for us"
    );
}
