//! Whose a file is, and how old.

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, PartId, SeededIds};

use super::{Owner, event_of, part_of};

#[test]
fn a_name_says_whose_it_is_and_when_that_was_made() {
    let (ids, now) = (
        SeededIds::from_seed(1),
        Timestamp::from_millis(1_700_000_000_123),
    );
    let event = EventId::next(&ids, now);
    let part = PartId::next(&ids, now);
    assert_eq!(event_of(&event.to_string()), Some(Owner::Event(event)));
    let stored = [format!("{part}-a.pdf"), format!(".{part}-a.pdf")];
    for name in stored {
        assert_eq!(part_of(&name), Some(Owner::Part(part)), "{name}");
    }
    assert_eq!(Owner::Event(event).made_at(), now);
    assert_eq!(Owner::Part(part).made_at(), now);
    for name in ["", "notes.txt", "ä".repeat(40).as_str()] {
        assert_eq!((event_of(name), part_of(name)), (None, None), "{name}");
    }
}
