//! What is kept is what was accepted, and no more than fits.

use super::{MOST_CHANNELS, Place, Session, Shard, made_at};

const ONLY: Shard = Shard { index: 0, count: 1 };

fn session(seq: u64) -> Session {
    Session {
        id: "s".to_owned(),
        url: "wss://gateway.example".to_owned(),
        seq,
        count: 1,
    }
}

#[test]
fn what_was_kept_is_read_again() {
    let mut place = Place::default();
    place.begin(ONLY, session(1));
    place.pass(ONLY, 7);
    place.saw("10", "1000");
    let again = Place::read(Some(&place.write())).unwrap();
    assert_eq!(again, place);
    assert_eq!(again.session(ONLY).unwrap().seq, 7);
    assert_eq!(again.channels(), [("10".to_owned(), "1000".to_owned())]);
    for nothing in [None, Some(""), Some("{\"last\":5}")] {
        assert_eq!(Place::read(nothing), None, "{nothing:?}");
    }
}

#[test]
fn nobody_goes_back() {
    let mut place = Place::default();
    place.begin(ONLY, session(9));
    place.pass(ONLY, 3);
    place.saw("10", "1000");
    place.saw("10", "999");
    place.saw("10", "no number");
    assert_eq!(place.session(ONLY).unwrap().seq, 9);
    assert_eq!(place.channels(), [("10".to_owned(), "1000".to_owned())]);
}

#[test]
fn a_session_belongs_to_its_shard() {
    let mut place = Place::default();
    place.begin(ONLY, session(1));
    assert_eq!(place.session(Shard { index: 0, count: 2 }), None);
    assert_eq!(place.session(Shard { index: 1, count: 1 }), None);
    place.end(ONLY);
    assert_eq!(place.session(ONLY), None);
}

#[test]
fn the_quietest_channel_is_forgotten_first() {
    let mut place = Place::default();
    for number in 0..=MOST_CHANNELS {
        place.saw(&number.to_string(), &(5_000 - number).to_string());
    }
    let channels = place.channels();
    assert_eq!(channels.len(), MOST_CHANNELS);
    assert!(channels.iter().all(|(channel, _)| channel != "500"));
    place.forget("0");
    assert_eq!(place.channels().len(), MOST_CHANNELS - 1);
}

#[test]
fn the_floor_is_a_little_before_the_newest() {
    assert_eq!(Place::default().floor(), None);
    let mut place = Place::default();
    place.saw("10", "175928847299117063");
    let floor = place.floor().unwrap();
    let at = |id: u64| made_at(&id.to_string()).unwrap();
    assert_eq!(at(175_928_847_299_117_063) - at(floor), 5_000);
}

/// "API Reference", snowflakes: the example of the page.
#[test]
fn an_id_says_when_it_was_made() {
    assert_eq!(made_at("175928847299117063"), Some(1_462_015_105_796));
    assert_eq!(made_at("x"), None);
}
