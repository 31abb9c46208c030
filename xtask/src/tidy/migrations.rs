//! Pure: a released migration never changes. A line of the release list is a hash and a name.

use super::{Finding, SourceFile};

const MIGRATIONS: &str = "crates/store/migrations/";

pub(super) fn changed(files: &[SourceFile]) -> Vec<Finding> {
    let find = |name: &str| {
        let path = format!("{MIGRATIONS}{name}");
        files.iter().find(|file| file.path == path)
    };
    let Some(released) = find("RELEASED") else {
        return Vec::new();
    };
    released.complain(|line| {
        let Some((hash, name)) = line.split_once("  ") else {
            return Some("expected a hash, two spaces and a file name".to_owned());
        };
        let Some(file) = find(name) else {
            return Some(format!("the released migration {name} is missing"));
        };
        let found = format!("{:016x}", fnv1a(&file.text));
        let advice = "undo that, and write a further migration";
        (found != hash).then(|| format!("{name} was released as {hash} and is {found}: {advice}"))
    })
}

/// The 64-bit FNV-1a hash: it detects a change, not an attack.
pub(super) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
