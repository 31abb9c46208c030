//! The key is made once, whole, and for its owner's eyes only.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use talaria_domain::secret::ExposeSecret as _;

use super::{KeyError, make, path, read};

fn set_mode(file: &std::path::Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn it_is_made_at_the_first_start_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("not/there/yet");
    assert!(read(&home).unwrap().is_none());
    let made = make(&home).unwrap();
    assert_eq!(made.expose_secret().len(), 64, "256 bits");
    let again = make(&home).unwrap();
    assert_eq!(again.expose_secret(), made.expose_secret());
    let facts = fs::metadata(path(&home)).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    let files = fs::read_dir(&home).unwrap().count();
    assert_eq!(files, 1, "nothing else is left there");
    assert!(!format!("{made:?}").contains(made.expose_secret()));
}

#[test]
fn one_that_others_can_read_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    make(directory.path()).unwrap();
    for mode in [0o640, 0o604, 0o644, 0o620] {
        set_mode(&path(directory.path()), mode);
        for refused in [
            read(directory.path()).map(|_| ()),
            make(directory.path()).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(
                matches!(error, KeyError::Exposed { .. }),
                "{mode:o}: {error}"
            );
            assert!(error.to_string().contains("chmod 600"));
        }
    }
    set_mode(&path(directory.path()), 0o400);
    assert!(read(directory.path()).unwrap().is_some());
}

#[test]
fn a_file_without_a_key_is_refused_without_its_content() {
    let directory = tempfile::tempdir().unwrap();
    for content in [
        "",
        "\n",
        "short",
        "hunter2 with a space in it, and long enough for a key",
    ] {
        fs::write(path(directory.path()), content).unwrap();
        set_mode(&path(directory.path()), 0o600);
        let error = read(directory.path()).unwrap_err();
        assert!(matches!(error, KeyError::Broken { .. }));
        assert!(!error.to_string().contains("hunter2"));
    }
}

#[test]
fn whoever_makes_it_at_the_same_time_has_the_same_key() {
    let directory = tempfile::tempdir().unwrap();
    let keys: BTreeSet<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| make(directory.path())))
            .collect();
        let made = makers.into_iter().map(|maker| maker.join().unwrap());
        made.map(|key| key.unwrap().expose_secret().to_owned())
            .collect()
    });
    assert_eq!(keys.len(), 1);
}
