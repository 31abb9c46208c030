//! A process is known by its number and its start.

use super::{Sight, field_22};

#[test]
fn the_start_time_is_found_whatever_the_name_is() {
    let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
    for name in ["sh", "a b", "x) R 1 2 3", "((", ")"] {
        assert_eq!(
            field_22(&format!("42 ({name}) {rest}")),
            Some(4711),
            "{name}"
        );
    }
    for broken in [
        "",
        "42 (sh",
        "42 (sh) S 1 2",
        "42 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x",
    ] {
        assert_eq!(field_22(broken), None, "{broken}");
    }
}

#[tokio::test]
async fn an_end_is_seen() {
    let mut child = std::process::Command::new("/bin/cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("cat starts");
    let sight = Sight::of(child.id()).expect("it is there");
    assert_eq!(sight.pid(), child.id());
    assert!(!sight.is_gone());
    drop(child.stdin.take());
    sight.gone().await;
    assert!(sight.is_gone());
    child.wait().expect("it was ours");
}

#[test]
fn a_number_that_nobody_has_is_not_seen() {
    assert!(Sight::of(0).is_err());
    assert!(Sight::of(u32::MAX).is_err());
}
