//! What is read off a gateway's terminal.

use super::login_link;

#[test]
fn the_link_is_found_in_the_banner_and_nowhere_else() {
    let link = "http://127.0.0.1:4747/?login=0123abcd";
    let cases = [
        (format!("  chat     {link}\r"), Some(link)),
        ("  API      http://127.0.0.1:4747/api".to_owned(), None),
        (
            "  open it once in a browser, or run `talaria chat`".to_owned(),
            None,
        ),
        (String::new(), None),
    ];
    for (line, expected) in &cases {
        assert_eq!(login_link(line), *expected, "{line:?}");
    }
}
