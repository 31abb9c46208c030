//! What is promised about a background process.

use talaria_domain::job::Promise;

use super::{Wish, check, decide};

const REACHABLE: bool = true;

fn patterns(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(|it| (*it).to_owned()).collect()
}

fn wish(is_notified: bool, wanted: &[&str]) -> Wish {
    Wish {
        is_notified,
        patterns: patterns(wanted),
        is_pty: false,
    }
}

#[test]
fn only_what_can_be_kept_is_promised() {
    use Promise::{Nothing, Wake};
    // Notified, patterns, reachable; then the promise, what is looked for, and the word beside `notify_on_complete`.
    let x: &[&str] = &["x"];
    let table = [
        ((true, &[][..], REACHABLE), Wake, &[][..], None),
        ((false, x, REACHABLE), Nothing, x, Some("watch_patterns")),
        (
            (true, x, REACHABLE),
            Wake,
            &[],
            Some("watch_patterns_ignored"),
        ),
        ((false, &[], REACHABLE), Nothing, &[], Some("hint")),
        (
            (true, &[], !REACHABLE),
            Nothing,
            &[],
            Some("notify_unsupported"),
        ),
        (
            (false, x, !REACHABLE),
            Nothing,
            &[],
            Some("notify_unsupported"),
        ),
        (
            (true, x, !REACHABLE),
            Nothing,
            &[],
            Some("notify_unsupported"),
        ),
        ((false, &[], !REACHABLE), Nothing, &[], Some("hint")),
    ];
    for (asked, promise, looked_for, said) in table {
        let (is_notified, wanted, is_reachable) = asked;
        let plan = decide(wish(is_notified, wanted), is_reachable);
        assert_eq!(plan.promise, promise, "{asked:?}");
        assert_eq!(plan.patterns, patterns(looked_for), "{asked:?}");
        let mut words = plan.words;
        let told = words.remove("notify_on_complete");
        assert_eq!(told, Some((promise == Wake).into()), "{asked:?}");
        let names: Vec<_> = words.keys().map(String::as_str).collect();
        assert_eq!(names, said.as_slice(), "{asked:?}");
    }
}

#[test]
fn what_is_not_supported_says_what_to_do_instead() {
    let plan = decide(wish(true, &[]), !REACHABLE);
    let words = plan.words["notify_unsupported"].as_str().expect("words");
    assert!(words.contains("process(action=\"poll\")"), "{words}");
}

#[test]
fn a_pty_says_that_it_does_not_survive() {
    let wish = Wish {
        is_pty: true,
        ..wish(true, &[])
    };
    let plan = decide(wish, REACHABLE);
    assert!(
        plan.words["pty"]
            .as_str()
            .is_some_and(|it| it.contains("does not survive"))
    );
}

#[test]
fn patterns_that_cannot_be_looked_for_are_refused() {
    let long = "x".repeat(201);
    let table: [(&[&str], bool); 6] = [
        (&["ERROR", "listening on"], true),
        (&[], true),
        (&["ok", ""], false),
        (&[&long], false),
        (&["two\nlines"], false),
        (&["x"; 21], false),
    ];
    for (wanted, is_fine) in table {
        assert_eq!(check(&patterns(wanted)).is_ok(), is_fine, "{wanted:?}");
    }
}
