//! A table of addresses, with the tricks that lists like this one have fallen for.

use super::*;

const LISTED: [&str; 7] = [
    "https://example.org/hooks/",
    "https://example.org/exact",
    "https://ports.example.org:8443/",
    "http://127.0.0.1:9000/in/",
    "http://localhost/",
    "http://[::1]:9000/",
    "http://plain.example.org/open/",
];

fn list() -> AllowList {
    AllowList::read(&LISTED).unwrap()
}

#[test]
fn what_is_listed_is_called_as_the_parser_reads_it() {
    let table = [
        ("https://example.org/hooks/1", None),
        ("https://example.org/hooks/", None),
        ("https://example.org/hooks/a/b?run=3&x=%2e%2e", None),
        (
            "HTTPS://EXAMPLE.org/hooks/1",
            Some("https://example.org/hooks/1"),
        ),
        (
            "https://example.org:443/hooks/1",
            Some("https://example.org/hooks/1"),
        ),
        ("https://example.org/exact", None),
        ("https://example.org/exact/below", None),
        ("https://example.org/exact?run=3", None),
        ("https://ports.example.org:8443/anything", None),
        (
            "https://ports.example.org:8443",
            Some("https://ports.example.org:8443/"),
        ),
        ("http://127.0.0.1:9000/in/x", None),
        // The same machine in other words.
        ("http://127.1:9000/in/x", Some("http://127.0.0.1:9000/in/x")),
        (
            "http://0x7f000001:9000/in/x",
            Some("http://127.0.0.1:9000/in/x"),
        ),
        ("http://localhost:80/x", Some("http://localhost/x")),
        ("http://[0:0::1]:9000/x", Some("http://[::1]:9000/x")),
        ("http://plain.example.org/open/x", None),
        ("https://example.org/hooks//double", None),
        ("https://example.org/hooks/a.b/..c/d..", None),
        (
            "https://example.org/hooks/?next=https://evil.example/",
            None,
        ),
    ];
    for (text, called) in table {
        let url = list().permit(text);
        assert_eq!(
            url.map(String::from),
            Ok(called.unwrap_or(text).to_owned()),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_listed_is_refused() {
    let table = [
        // Another scheme, host or port.
        "http://example.org/hooks/1",
        "https://example.org.evil.example/hooks/1",
        "https://evil-example.org/hooks/1",
        "https://sub.example.org/hooks/1",
        "https://example.org./hooks/1",
        "https://example.org:8443/hooks/1",
        "https://example.org:80/hooks/1",
        "https://ports.example.org/anything",
        "https://127.0.0.1:9000/in/x",
        "http://127.0.0.2:9000/in/x",
        "http://[::ffff:127.0.0.1]:9000/in/x",
        "https://plain.example.org/open/x",
        "http://169.254.169.254/latest/",
        // Another path.
        "https://example.org/",
        "https://example.org",
        "https://example.org/hooks",
        "https://example.org/hooksy/1",
        "https://example.org/HOOKS/1",
        "https://example.org/hook%73/1",
        "https://example.org/exactly",
        "https://example.org/?/hooks/1",
        "https://example.org//hooks/1",
        "http://localhost:81/",
    ];
    for text in table {
        assert_eq!(list().permit(text), Err(UNLISTED), "{text}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_before_it_is_compared() {
    let table = [
        ("https://evil.example@example.org/hooks/1", USER),
        ("https://user:word@example.org/hooks/1", USER),
        ("https://@example.org/hooks/1", USER),
        ("https://example.org@evil.example/hooks/1", USER),
        ("https://example.org/hooks/1#top", FRAGMENT),
        ("https://example.org/hooks/#", FRAGMENT),
        ("https://example.org#@evil.example/hooks/", FRAGMENT),
        ("https://example.org/hooks/../admin", DOTS),
        ("https://example.org/hooks/..", DOTS),
        ("https://example.org/hooks/./1", DOTS),
        ("https://example.org/admin/../hooks/1", DOTS),
        ("https://example.org/hooks/%2e%2e/admin", DOTS),
        ("https://example.org/hooks/.%2E/admin", DOTS),
        ("https://example.org/hooks/..%2fadmin", DOTS),
        ("https://example.org/hooks/..%5cadmin", DOTS),
        ("https://example.org/hooks/%252e%252e/admin", DOTS),
        ("https://example.org/hooks/..;/admin", DOTS),
        ("https://example.org/hooks/..;a=b/admin", DOTS),
        ("https://example.org\\@evil.example/hooks/1", LETTERS),
        ("https://example.org\\hooks\\1", LETTERS),
        (" https://example.org/hooks/1", LETTERS),
        ("https://example.org/hooks/1\n", LETTERS),
        ("https://exa\tmple.org/hooks/1", LETTERS),
        ("https://example.org/hooks/\u{0}", LETTERS),
        ("https://ex\u{e4}mple.org/hooks/1", LETTERS),
        ("https://example\u{3002}org/hooks/1", LETTERS),
        ("https:example.org/hooks/1", SHAPE),
        ("https:/example.org/hooks/1", SHAPE),
        ("https:///example.org/hooks/1", SHAPE),
        ("//example.org/hooks/1", SHAPE),
        ("example.org/hooks/1", SHAPE),
        ("ftp://example.org/hooks/1", SHAPE),
        ("file:///hooks/1", SHAPE),
        ("javascript://example.org/hooks/1", SHAPE),
        ("https://", SHAPE),
        ("https://example.org:0/hooks/1", SHAPE),
        ("https://example.org:99999/hooks/1", SHAPE),
        ("https://[::1/hooks/1", SHAPE),
        ("https://%65xample.org:x/hooks/1", SHAPE),
        ("", SHAPE),
    ];
    for (text, why) in table {
        assert_eq!(list().permit(text), Err(why), "{text:?}");
    }
    let long = format!("https://example.org/hooks/{}", "x".repeat(LONGEST));
    assert_eq!(list().permit(&long), Err(LONG));
}

#[test]
fn nothing_is_allowed_unless_it_is_listed() {
    let empty = AllowList::default();
    assert_eq!(empty.permit("https://example.org/hooks/1"), Err(UNLISTED));
}

#[test]
fn an_entry_is_the_beginning_of_an_address_and_nothing_else() {
    let table = [
        "https://example.org/hooks/?all",
        "https://*.example.org/",
        "https://example.org/hooks/*",
        "https://user@example.org/",
        "https://example.org/#x",
        "https://example.org/a/../b/",
        "example.org",
        "ftp://example.org/",
        "",
    ];
    for text in table {
        let bad = AllowList::read(&["https://example.org/", text]).unwrap_err();
        assert_eq!(bad.index, 1, "{text}");
        assert!(!bad.why.is_empty(), "{text}");
    }
    let whole = AllowList::read(&["https://example.org"]).unwrap();
    assert!(whole.permit("https://example.org/anything").is_ok());
}

#[test]
fn what_others_can_read_along_with_is_known() {
    let open: Vec<usize> = list().unencrypted().collect();
    assert_eq!(open, [6], "not this machine's own");
}
