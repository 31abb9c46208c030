//! Six in a row, then a pause.

use talaria_domain::address::ChatKind;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const SECOND: Duration = Duration::from_secs(1);

fn room(chat: &str) -> Address {
    Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Group,
        chat: chat.into(),
        thread: None,
        reply_to: None,
    }
}

fn full(now: Timestamp) -> Window {
    let mut window = Window::default();
    for _ in 0..MOST {
        assert_eq!(window.program(now), Turn::Counts);
    }
    window
}

#[test]
fn the_seventh_in_a_row_begins_a_pause_and_is_news_once() {
    let mut window = full(NOW);
    assert_eq!(window.program(NOW), Turn::Over { is_news: true });
    assert_eq!(window.program(NOW), Turn::Over { is_news: false });
    let end = NOW.plus(PAUSE);
    assert_eq!(
        window.program(end.minus(SECOND)),
        Turn::Over { is_news: false }
    );
    assert_eq!(window.program(end), Turn::Counts);
}

#[test]
fn slow_programs_and_those_among_people_go_on() {
    let mut window = Window::default();
    for step in 0..100 {
        let now = NOW.plus(SECOND * 15 * step);
        assert_eq!(window.program(now), Turn::Counts, "{step}");
    }
    let mut window = full(NOW);
    window.person();
    assert_eq!(window.program(NOW), Turn::Counts);
}

#[test]
fn a_person_does_not_end_a_pause() {
    let mut window = full(NOW);
    window.program(NOW);
    window.person();
    assert_eq!(window.program(NOW), Turn::Over { is_news: false });
}

#[test]
fn what_was_nothing_new_does_not_count() {
    let mut window = full(NOW);
    window.take_back();
    assert_eq!(window.program(NOW), Turn::Counts);
    assert_eq!(window.program(NOW), Turn::Over { is_news: true });
}

#[test]
fn chats_are_watched_apart_and_not_for_ever() {
    let watch = Watch::default();
    for _ in 0..=MOST {
        watch.program(&room("noisy"), NOW);
    }
    assert_eq!(watch.program(&room("other"), NOW), Turn::Counts);
    for number in 0..2 * CHATS {
        watch.program(&room(&number.to_string()), NOW);
    }
    assert_eq!(watch.chats().len(), CHATS);
    assert_eq!(
        watch.program(&room("noisy"), NOW),
        Turn::Over { is_news: false },
        "a pause is the last that is forgotten"
    );
    watch.program(&room("late"), NOW.plus(PAUSE));
    assert_eq!(watch.chats().len(), 1, "what is over makes room");
}
