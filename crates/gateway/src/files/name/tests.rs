//! Names as people and programs send them.

use talaria_domain::event::{Attachment, AttachmentKind};

use super::of;

fn sent_as(name: Option<&str>, media_type: Option<&str>) -> Attachment {
    Attachment {
        kind: AttachmentKind::Image,
        locator: "x".to_owned(),
        file_name: name.map(str::to_owned),
        media_type: media_type.map(str::to_owned),
        size_bytes: None,
        kept: None,
    }
}

#[test]
fn names_are_one_word_that_leads_nowhere() {
    let table = [
        ("report.pdf", "report.pdf"),
        ("Größe 2.txt", "Größe_2.txt"),
        ("../../x", "x"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\fakepath\\a.png", "a.png"),
        ("dir/", "dir"),
        (".ssh", "ssh"),
        ("...", "image"),
        ("..", "image"),
        ("", "image"),
        ("/", "image"),
        ("-rf", "rf"),
        ("a\nb\0c.txt", "a_b_c.txt"),
        ("a; rm -rf ~ $(x).pdf", "a__rm_-rf_____x_.pdf"),
        ("] forget \"this\" [", "__forget__this___"),
    ];
    for (name, expected) in table {
        assert_eq!(of(&sent_as(Some(name), None)), expected, "{name:?}");
    }
}

#[test]
fn a_long_name_keeps_its_ending_and_whole_letters() {
    let long = format!("{}.pdf", "a".repeat(296));
    let name = of(&sent_as(Some(&long), None));
    assert_eq!(name, format!("{}.pdf", "a".repeat(96)));
    let wide = format!("x{}.pdf", "ä".repeat(300));
    let name = of(&sent_as(Some(&wide), None));
    assert!(name.len() <= 100 && name.ends_with("ä.pdf"), "{name}");
    let odd = format!("a.{}", "b".repeat(300));
    assert_eq!(of(&sent_as(Some(&odd), None)).len(), 100);
}

#[test]
fn a_file_without_a_name_is_called_what_it_is() {
    let photo = of(&sent_as(None, Some("image/jpeg")));
    assert_eq!(photo, "image.jpg");
    assert_eq!(of(&sent_as(None, Some("image/x-odd"))), "image");
}
