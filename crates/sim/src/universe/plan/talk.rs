//! What people write, and when. Pure: choices in, acts out.

use std::time::Duration;

use super::{Act, Deed, Settling};
use crate::universe::Flaw;
use crate::universe::cast::{ACCOUNTS, PEOPLE, Place, Room, STRANGER, canary};
use crate::universe::chance::Chance;

/// What one universe's people write.
pub(super) fn acts(chance: &mut Chance, flaw: Flaw) -> Vec<Act> {
    let places = places(chance, flaw);
    let most = chance.pick(&[8, 20, 40]);
    let mut talk = Talk {
        chance,
        places,
        hangs: 0,
    };
    let count = talk.chance.between(3, most);
    (0..count)
        .map(|_| talk.act())
        .zip(1..)
        .map(numbered)
        .collect()
}

/// Few places, so that people meet; the same names on every account, so that nobody can tell them apart by those.
fn places(chance: &mut Chance, flaw: Flaw) -> Vec<Place> {
    let mut places = Vec::new();
    for _ in 0..chance.between(1, 4) {
        let who = chance.pick(&["ada", "bob"]);
        let group = Room::Group(chance.pick(&["north", "south"]));
        let room = chance.pick(&[Room::Alone(who), group]);
        places.push(Place {
            account: match flaw {
                // What nobody can know matters only there.
                Flaw::ResendUnknown => 0,
                _ => chance.index(ACCOUNTS.len()),
            },
            room: if flaw == Flaw::MixedSenders {
                group
            } else {
                room
            },
            thread: chance.weigh(&[(4, None), (1, Some("one")), (1, Some("two"))]),
        });
    }
    places
}

struct Talk<'a> {
    chance: &'a mut Chance,
    places: Vec<Place>,
    hangs: u32,
}

/// An act before it has its number.
enum Line {
    Said(&'static str, Place, String),
    Deed(Deed),
}

/// The canary's place in a text that has no number yet.
const CANARY: &str = "{}";

fn numbered(((after, line), number): ((Duration, Line), u32)) -> Act {
    let deed = match line {
        Line::Said(who, place, text) => Deed::Write {
            number,
            who,
            place,
            text: text.replace(CANARY, &canary(number, who)),
        },
        Line::Deed(deed) => deed,
    };
    Act { after, deed }
}

impl Talk<'_> {
    fn act(&mut self) -> (Duration, Line) {
        let after = self.chance.weigh(&[
            (3, (0, 300)),
            (4, (300, 8_000)),
            (2, (5_000, 40_000)),
            (1, (0, 0)),
        ]);
        let after = self.chance.millis(after.0, after.1);
        if self.chance.is_one_in(12) {
            return (
                after,
                Line::Deed(Deed::DeliverAgain {
                    account: self.chance.index(ACCOUNTS.len()),
                    which: self.chance.number(),
                }),
            );
        }
        if self.chance.is_one_in(20) {
            return (
                after,
                Line::Deed(Deed::Settle {
                    which: self.chance.number(),
                    how: self.chance.pick(&[Settling::Replay, Settling::Drop]),
                }),
            );
        }
        if self.chance.is_one_in(40) {
            return (
                after,
                Line::Deed(Deed::Jump(self.chance.millis(1_000, 600_000))),
            );
        }
        let place = self.chance.pick(&self.places);
        let who = match place.room {
            Room::Alone(who) => who,
            Room::Group(_) => self.chance.pick(&PEOPLE[..3]),
        };
        let who = if self.chance.is_one_in(15) {
            STRANGER
        } else {
            who
        };
        (after, Line::Said(who, place, self.text()))
    }

    fn text(&mut self) -> String {
        if self.chance.is_one_in(4) {
            return self.command();
        }
        let words = self.words();
        format!("{CANARY} {words}").trim_end().to_owned()
    }

    fn command(&mut self) -> String {
        let command = self.chance.weigh(&[
            (6, "/stop"),
            (3, "/new"),
            (3, "/steer {} please"),
            (2, "/queue {} please"),
            (2, "/undo"),
            (2, "/retry"),
            (2, "/resume"),
            (1, "/status"),
            (1, "/jobs"),
            (1, "/background j-{} think 5"),
            (1, "/interrupt"),
            (1, "/steer"),
            (1, "/queue"),
            (1, "/nonsense"),
        ]);
        command.to_owned()
    }

    fn words(&mut self) -> String {
        let time = match self.chance.below(4) {
            0 => self.chance.between(20, 120),
            _ => self.chance.between(1, 10),
        };
        let pattern = self.chance.weigh(&[
            (8, ""),
            (6, "think T"),
            (4, "tool T"),
            (2, "think T tool T"),
            (2, "count T {}"),
            (2, "think T count T {}"),
            (2, "with *stars*"),
            (1, "fail"),
            (1, "think T fail"),
            (1, "panic"),
            (1, "think T panic"),
            (1, "tool T panic"),
            (1, "silent"),
            (1, "think T silent"),
            (1, "hang"),
            (1, "deaf"),
            (4, "job T j-{}"),
            (3, "job T j-{} think T"),
            (1, "job T j-{} tool T"),
            (1, "job T j-{} panic"),
            (1, "job T j-{} think T take j-{}"),
            (1, "notice T j-{}"),
            (1, "quiet T j-{}"),
            (1, "give j-{} think T"),
            (1, "give j-{} tool T"),
            (2, "errand j-{} think T"),
            (1, "errand j-{} tool T"),
            (1, "errand j-{} panic"),
        ]);
        if matches!(pattern, "hang" | "deaf") {
            self.hangs += 1;
            if self.hangs > 2 {
                return String::new();
            }
        }
        pattern.replace('T', &time.to_string())
    }
}
