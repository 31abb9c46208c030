//! Places and things, and what is said about them.

use std::path::{Path, PathBuf};

use talaria_domain::ids::EventId;

use super::{Found, Roots, Thing, Whose, decide};

const MOST: u64 = 100;

fn roots() -> Roots {
    Roots {
        kept: "/data/files".into(),
        shareable: vec!["/work".into(), "/data/files".into()],
        private: Some("/data".into()),
    }
}

fn at(path: &str, thing: Thing, bytes: u64) -> Result<Whose, String> {
    let found = Found {
        path: PathBuf::from(path),
        thing,
        bytes,
    };
    decide(Path::new("it"), &found, &roots(), MOST)
}

#[test]
fn only_what_is_in_a_shareable_place_is_sent() {
    let event = EventId::from_bytes([7; 16]);
    assert_eq!(at("/work/a.pdf", Thing::File, 1), Ok(Whose::Anybodys));
    let kept = format!("/data/files/in/{event}/0-a.pdf");
    assert_eq!(at(&kept, Thing::File, MOST), Ok(Whose::Events(event)));
    let table = [
        ("/etc/passwd", "copy it below /work or"),
        ("/workshop/a.pdf", "is not where files may be sent from"),
        ("/data/operator.key", "the gateway's own"),
        ("/data/store.db", "the gateway's own"),
        ("/data/files/out/1-a.pdf", "the gateway's own"),
        ("/data/files/in/x/0-a.pdf", "the gateway's own"),
        ("/data/files/in", "the gateway's own"),
    ];
    for (path, why) in table {
        let refused = at(path, Thing::File, 1).unwrap_err();
        assert!(refused.contains(why), "{path}: {refused}");
    }
}

#[test]
fn a_gateway_that_works_in_its_own_directory_shares_nothing_of_it() {
    let roots = Roots {
        shareable: vec!["/data".into()],
        ..roots()
    };
    let found = Found {
        path: "/data/operator.key".into(),
        thing: Thing::File,
        bytes: 1,
    };
    decide(Path::new("operator.key"), &found, &roots, MOST).unwrap_err();
}

#[test]
fn only_files_that_have_something_in_them_and_fit_are_sent() {
    let table = [
        (Thing::Directory, 1, "is a directory"),
        (Thing::Other, 1, "is not a regular file"),
        (Thing::File, 0, "is empty"),
        (Thing::File, 101, "has 101 bytes, and at most 100"),
    ];
    for (thing, bytes, why) in table {
        let refused = at("/work/a", thing, bytes).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let elsewhere = at("/etc", Thing::Directory, 1).unwrap_err();
    assert!(elsewhere.contains("may be sent from"), "{elsewhere}");
}
