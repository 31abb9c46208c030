//! Pure: a platform is named only in its folder and the file beside it, in the lists of platforms
//! and of simulated vendors, in its simulated vendor and in tests.

use super::names::words;
use super::{Finding, SourceFile};

const HOMES: [&str; 2] = ["crates/platforms/src/", "crates/sim/src/"];
const LISTS: [&str; 2] = ["crates/platforms/src/lib.rs", "crates/sim/src/lib.rs"];

pub(super) fn strays(files: &[SourceFile]) -> Vec<Finding> {
    let named = |file: &SourceFile| -> Option<String> {
        let name = file.path.strip_prefix(HOMES[0])?;
        let name = name.strip_suffix("/config.rs")?;
        (!name.contains('/')).then(|| name.to_owned())
    };
    let platforms: Vec<_> = files.iter().filter_map(named).collect();
    let is_list = |file: &SourceFile| LISTS.contains(&file.path.as_str());
    let is_bound = |file: &&SourceFile| file.is_rust() && !file.is_test() && !is_list(file);
    let strays = |file: &SourceFile| file.complain(|line| stray(&platforms, &file.path, line));
    files.iter().filter(is_bound).flat_map(strays).collect()
}

fn stray(platforms: &[String], path: &str, line: &str) -> Option<String> {
    let letters = line.to_lowercase().replace(['_', '-'], "");
    let is_stray = |name: &&String| {
        let plain = name.replace('_', "");
        let is_in = |rest: &str| rest == ".rs" || rest.starts_with('/');
        let homes = HOMES.map(|home| format!("{home}{name}"));
        let is_home = homes
            .iter()
            .any(|home| path.strip_prefix(home.as_str()).is_some_and(is_in));
        !is_home && letters.contains(&plain) && has_name(line, &plain)
    };
    let name = platforms.iter().find(is_stray)?;
    Some(format!("names the platform `{name}` outside its folder"))
}

/// Whether words of one identifier in a row make up the name: the vendor may write it in two.
fn has_name(line: &str, plain: &str) -> bool {
    let identifiers = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    identifiers.map(words).any(|words| {
        let ends_there = |from| (from..words.len()).any(|to| words[from..=to].concat() == plain);
        (0..words.len()).any(ends_there)
    })
}
