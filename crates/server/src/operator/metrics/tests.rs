//! The text as Prometheus reads it.

use std::time::Duration;

use super::*;
use crate::health::Condition;

const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);

#[test]
fn every_open_state_has_its_line_and_labels_are_escaped() {
    let about = About {
        version: "1.2".to_owned(),
        model: "demo".to_owned(),
        store: "sqlite".to_owned(),
        started_at: START,
    };
    let part = PartReport {
        name: "a \"b\"\n".to_owned(),
        state: Condition::AuthFailed,
        detail: None,
        last_receive: None,
        last_send: None,
    };
    let counts = Counts {
        inbox: [(InboxState::Queued, 3)].into(),
        oldest_undelivered: Some(START),
        dead: 2,
        ..Counts::default()
    };
    let now = START.plus(Duration::from_secs(90));
    let text = render(
        &about,
        &Seen {
            counts,
            parts: vec![part],
            lanes_running: 4,
            turned_away: TurnedAway {
                ignored: 5,
                refused: 6,
            },
            now,
        },
    );
    let expected = [
        "talaria_build_info{version=\"1.2\"} 1",
        "talaria_uptime_seconds 90",
        "talaria_inbox_events{state=\"queued\"} 3",
        "talaria_inbox_events{state=\"claimed\"} 0",
        "talaria_lanes_running 4",
        "talaria_turned_away_total{why=\"ignored\"} 5",
        "talaria_turned_away_total{why=\"refused\"} 6",
        "talaria_runs{state=\"running\"} 0",
        "talaria_outbox_parts{state=\"doubted\"} 0",
        "talaria_outbox_oldest_seconds 90",
        "talaria_dead_letters{state=\"open\"} 2",
        "talaria_part_ready{name=\"a \\\"b\\\"\\n\"} 0",
    ];
    for line in expected {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert!(!text.contains("completed"), "ends are not counted");
    let is_line = |line: &str| line.starts_with("# ") || line.starts_with("talaria_");
    assert!(text.lines().all(is_line) && text.ends_with('\n'));
}
