//! Tools and what people are shown of them.

use serde_json::json;

use super::line;

#[test]
fn a_tool_is_shown_with_what_it_is_about() {
    let table = [
        (
            "terminal",
            json!({"background": true, "command": "cargo test"}),
            "_terminal: cargo test…_",
        ),
        ("lever", json!({"seconds": 5}), "_lever: 5…_"),
        ("wait", json!({}), "_wait…_"),
        ("wait", json!(null), "_wait…_"),
        ("wait", json!({"for": {"a": 1}, "text": " "}), "_wait…_"),
        (
            "delegate_task",
            json!({"goal": "look\n  around"}),
            "_delegate\\_task: look around…_",
        ),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(line(tool, &arguments), expected);
    }
}

#[test]
fn it_is_one_short_line_in_which_nothing_is_markup() {
    let command = "*a* `b` [c](https://d) <e> _f_ \\ # | ~g~\n".repeat(9);
    let shown = line("terminal", &json!({ "command": command }));
    assert!(!shown.contains('\n'), "{shown}");
    let inside = shown.strip_prefix('_').unwrap().strip_suffix('_').unwrap();
    let bare = inside.replace("\\\\", "");
    for letter in ['*', '`', '[', '<', '_', '#', '|', '~'] {
        let all = bare.matches(letter).count();
        let escaped = bare.matches(&format!("\\{letter}")).count();
        assert_eq!(all, escaped, "{letter} in {shown}");
    }
    let plain = line("t", &json!({ "command": "ä".repeat(200) }));
    assert_eq!(plain, format!("_t: {}…_", "ä".repeat(60)));
}
