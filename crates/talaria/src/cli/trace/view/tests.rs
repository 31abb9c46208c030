//! A life on one screen, whatever of it is known.

use serde_json::{Value, json};

use super::lines;

/// The lines as they stand on the screen.
fn screen(trace: &Value) -> Vec<String> {
    let lines = lines(trace).into_iter();
    let line =
        |line: super::Line| format!("{:>9} {}{}", line.when, "  ".repeat(line.depth), line.text);
    lines
        .map(line)
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn whole_life() -> Value {
    json!({
        "event": {
            "id": "e1", "session_id": "s1", "state": "completed", "kind": "message",
            "address": { "platform": "web", "account": "default", "chat_kind": "direct", "chat": "c", "thread": null, "reply_to": null },
            "principal": { "platform": "web", "account": "default", "user": "u", "alternate": null, "display_name": "Ada", "role": "owner" },
            "content": { "kind": "message", "text": "run: \u{1b}[2Jls" },
            "received_at": 1_000, "ended_at": 4_000,
        },
        "runs": [
            { "id": "r1", "runner": "native", "attempt": 1, "state": "failed", "created_at": 1_100, "ended_at": 1_200,
              "outcome": { "outcome": "failed", "reason": "the model is gone" }, "journal": [] },
            { "id": "r2", "runner": "native", "attempt": 2, "state": "completed", "created_at": 2_000, "ended_at": 4_000,
              "outcome": { "outcome": "completed", "usage": { "input_tokens": 7, "output_tokens": 9 } },
              "journal": [
                { "seq": 1, "at": 2_100, "event": "tool_started", "call": "1", "tool": "terminal", "arguments": { "command": "ls" } },
                { "seq": 2, "at": 2_200, "event": "tool_completed", "call": "1", "output": "a\nb\nc\nd\n", "result": "done" },
                { "seq": 3, "at": 2_300, "event": "message_delta", "text": "There " },
                { "seq": 4, "at": 2_400, "event": "message_delta", "text": "are four." },
                { "seq": 5, "at": 2_500, "event": "from_the_future" },
                { "seq": 6, "at": 4_000, "event": "ended", "outcome": "completed" },
              ] },
        ],
        "replies": [
            { "id": "y1", "kind": "final", "state": "delivered", "text": "There are four.", "created_at": 4_000,
              "parts": [ { "id": "p1", "ordinal": 0, "state": "delivered", "created_at": 4_000,
                "attempts": [
                    { "outcome": "not_sent", "retry_after": null, "detail": "too fast", "at": 4_100 },
                    { "outcome": "delivered", "receipts": [], "at": 4_250 },
                ],
                "receipts": [ { "message": "m77", "at": 4_250 } ] } ] },
        ],
        "dead": [ { "id": "d1", "state": "open", "reason": "nobody knows", "at": 5_000 } ],
    })
}

#[test]
fn a_whole_life_reads_from_top_to_bottom() {
    let expected = [
        "          1970-01-01 00:00:01 UTC",
        " +0.000 s arrived: message e1",
        "            at web / default / c from Ada",
        "            “run: [2Jls”",
        "            session s1",
        " +3.000 s   completed",
        " +0.100 s run r1: attempt 1, native",
        " +0.200 s   failed: the model is gone",
        " +1.000 s run r2: attempt 2, native",
        " +1.100 s   tool terminal {\"command\":\"ls\"}",
        " +1.200 s   tool done",
        "              a",
        "              b",
        "              c",
        "              … 1 more lines",
        " +1.300 s   answered in 2 pieces: There are four.",
        " +1.500 s   from_the_future",
        " +3.000 s   completed, 7 tokens read, 9 written",
        " +3.000 s reply y1: final, delivered",
        "            “There are four.”",
        " +3.000 s   part 1 p1: delivered",
        " +3.100 s     attempt 1: not_sent: too fast",
        " +3.250 s     attempt 2: delivered",
        " +3.250 s     receipt m77",
        " +4.000 s dead letter d1 (open): nobody knows",
    ];
    assert_eq!(screen(&whole_life()), expected);
}

#[test]
fn a_command_is_shown_as_it_was_typed() {
    let trace = json!({ "event": { "id": "e", "kind": "command", "content": { "kind": "command", "name": "title", "arguments": "x y" } } });
    assert!(screen(&trace).contains(&"            “/title x y”".to_owned()));
}

#[test]
fn what_is_not_known_is_left_out() {
    assert_eq!(
        screen(&json!({ "event": null, "runs": [], "replies": [], "dead": [] })),
        [""; 0]
    );
    assert_eq!(screen(&json!("not a trace at all")), [""; 0]);
    let reply = json!({ "replies": [ { "id": "y", "kind": "notice", "state": "finished" } ] });
    assert_eq!(screen(&reply), ["          reply y: notice, finished"]);
}

#[test]
fn a_job_stands_before_what_came_of_it() {
    let trace = json!({ "job": {
        "id": "j1", "kind": "process", "state": "failed", "work": { "command": "make all" }, "run_id": "r1",
        "told": "make all failed", "created_at": 1_000, "ended_at": 3_000,
    } });
    let expected = [
        " +0.000 s job j1: process, failed",
        "            make all",
        "            asked for by run r1",
        " +2.000 s   told: make all failed",
    ];
    assert_eq!(screen(&trace), expected);
}

#[test]
fn a_file_is_named_where_its_part_is() {
    let attachment = json!({ "kind": "file", "locator": "file:out/p1-report.pdf", "file_name": "report.pdf", "size_bytes": 5 });
    let part = json!({ "id": "p1", "ordinal": 0, "state": "delivered",
        "body": { "body": "file", "attachment": attachment, "caption": "here" } });
    let trace = json!({ "replies": [ { "id": "y", "kind": "notice", "state": "delivered", "parts": [part] } ] });
    let expected = "            part 1 p1: delivered, file \"report.pdf\", 5 bytes";
    assert_eq!(screen(&trace)[1], expected);
}
