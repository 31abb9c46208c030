//! Names and what they stand for.

use talaria_domain::event::AttachmentKind::{self, Audio, File, Image, Video};

use super::{ending, media_type, of};

#[test]
fn a_name_says_what_kind_of_thing_it_is() {
    let table: [(&str, AttachmentKind); 8] = [
        ("cat.PNG", Image),
        ("photo.jpeg", Image),
        ("song.mp3", Audio),
        ("film.mp4", Video),
        ("report.pdf", File),
        ("drawing.svg", File),
        ("archive.tar.xz", File),
        ("Makefile", File),
    ];
    for (name, expected) in table {
        assert_eq!(of(media_type(name)), expected, "{name}");
    }
}

#[test]
fn a_media_type_has_a_usual_ending() {
    assert_eq!(ending("image/jpeg"), Some("jpg"));
    assert_eq!(ending("audio/ogg; codecs=opus"), Some("ogg"));
    assert_eq!(ending("application/x-unheard-of"), None);
}
