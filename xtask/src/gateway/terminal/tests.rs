//! What a person reads of what a terminal is sent.

use super::plain;

#[test]
fn what_moves_or_colours_is_not_read() {
    let cases = [
        ("hello\r\n", "hello\n"),
        ("\u{1b}[1;32m>\u{1b}[0m hi\u{1b}[6n", "> hi"),
        ("\u{1b}[?2004hParis", "Paris"),
        ("cut \u{1b}[", "cut "),
        ("cut \u{1b}", "cut "),
    ];
    for (screen, expected) in cases {
        assert_eq!(plain(screen), expected, "{screen:?}");
    }
}
