//! What is kept of conversations counts only for the number it was kept with, and does not grow without end.

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{SeededIds, SessionId};
use talaria_domain::runner::{Said, Speaker};

use super::{ROOM, Recents};

fn sessions(count: usize) -> Vec<SessionId> {
    let ids = SeededIds::from_seed(1);
    let next = || SessionId::next(&ids, Timestamp::from_millis(1));
    std::iter::repeat_with(next).take(count).collect()
}

fn said(number: i64, text: &str) -> (i64, Said) {
    (number, Said::plain(Speaker::User, text))
}

#[test]
fn what_is_kept_is_given_once_for_its_last_number() {
    let (recents, all) = (Recents::default(), sessions(2));
    recents.put(all[0], 2, vec![said(1, "hello"), said(2, "there")]);
    assert_eq!(recents.take(all[1], 2), None, "of another conversation");
    let kept = recents.take(all[0], 2).unwrap_or_default();
    assert_eq!(kept, [said(1, "hello"), said(2, "there")]);
    assert_eq!(recents.take(all[0], 2), None, "it was taken out");
}

#[test]
fn what_is_older_than_the_ledger_is_forgotten() {
    let (recents, all) = (Recents::default(), sessions(1));
    recents.put(all[0], 2, vec![said(2, "hello")]);
    assert_eq!(recents.take(all[0], 3), None);
    assert_eq!(recents.take(all[0], 2), None, "nor is it found later");
}

#[test]
fn earlier_conversations_make_room_for_later_ones() {
    let (recents, all) = (Recents::default(), sessions(40));
    let long = "x".repeat(ROOM / 8);
    for session in &all {
        recents.put(*session, 1, vec![said(1, &long)]);
    }
    let kept = all
        .iter()
        .filter(|session| recents.take(**session, 1).is_some());
    let kept = kept.count();
    assert!((7..=16).contains(&kept), "{kept}");
    assert_eq!(recents.take(all[0], 1), None, "the first one is gone");
}

#[test]
fn what_is_too_long_is_not_kept() {
    let (recents, all) = (Recents::default(), sessions(1));
    recents.put(all[0], 1, vec![said(1, &"x".repeat(ROOM + 1))]);
    assert_eq!(recents.take(all[0], 1), None);
}
