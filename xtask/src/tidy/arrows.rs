//! Pure: the arrows between crates. Every crate has its line here; a crate's tests may use any.

use super::{Finding, SourceFile};

const ARROWS: [&str; 8] = [
    "domain: ",
    "store: domain",
    "platforms: domain",
    "agents: domain",
    "gateway: domain store",
    "server: domain store gateway",
    "sim: domain store platforms agents gateway server",
    "talaria: domain store platforms agents gateway server sim",
];

pub(super) fn wrong(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().flat_map(wrong_in).collect()
}

fn wrong_in(file: &SourceFile) -> Vec<Finding> {
    let parts: Vec<_> = file.path.split('/').collect();
    let ["crates", from, "Cargo.toml"] = parts[..] else {
        return Vec::new();
    };
    let arrows_of = |row: &'static &str| row.strip_prefix(from)?.strip_prefix(": ");
    let Some(allowed) = ARROWS.iter().find_map(arrows_of) else {
        return vec![file.finding(1, format!("the crate `{from}` has no line in the arrows"))];
    };
    let mut is_dependency = false;
    file.complain(|line| {
        let line = line.split('#').next()?.trim();
        if line.starts_with('[') {
            is_dependency = line.contains("dependencies") && !line.contains("dev-dependencies");
        }
        let is_wrong = |to: &&str| is_dependency && !allowed.split(' ').any(|name| name == *to);
        let to = ours(line).find(is_wrong)?;
        Some(format!("`{from}` may not depend on `{to}`"))
    })
}

/// The crates of this workspace that a line names.
fn ours(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.filter_map(|word| match word.strip_prefix("talaria")? {
        "" => Some(word),
        rest => rest.strip_prefix('-'),
    })
}
