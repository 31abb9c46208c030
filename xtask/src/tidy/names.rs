//! Pure: names that say nothing, in the paths of source files and in the items they declare.

use super::{Finding, SourceFile};

const BANNED: &str = "manager|helper|util|common|misc|base|core|processor|data|info|impl|\
                      new_|old_|legacy|v2";
const HTTP_CRATE: &str = "crates/server/";
const ITEMS: &str = "fn|struct|enum|trait|mod|type|const|static";
const QUALIFIERS: &str = "pub|async|unsafe|extern|\"C\"|mut";

pub(super) fn banned_in_path(file: &SourceFile) -> Vec<Finding> {
    let parts = file.path.trim_end_matches(".rs").split('/');
    let finding = |part| Some(file.finding(1, complaint(file, part)?));
    parts.filter_map(finding).collect()
}

pub(super) fn banned_in_items(file: &SourceFile) -> Vec<Finding> {
    file.complain(|line| complaint(file, declared(line)?))
}

fn complaint(file: &SourceFile, name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let start = lower.find('_').map(|end| lower[..=end].to_owned());
    let is_http = file.path.starts_with(HTTP_CRATE);
    let is_banned = |part: &String| is_one_of(BANNED, part) || (part == "handler" && !is_http);
    let banned = words(name).into_iter().chain(start).find(is_banned)?;
    Some(format!(
        "`{banned}` in the name `{name}`: say what it owns or does"
    ))
}

/// The name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let is_qualifier = |token: &&str| is_one_of(QUALIFIERS, token) || token.starts_with("pub(");
    let mut tokens = line.split_whitespace().skip_while(is_qualifier);
    tokens.next().filter(|token| is_one_of(ITEMS, token))?;
    let name = tokens.find(|token| !is_one_of(ITEMS, token) && !is_qualifier(token))?;
    let ends_it = |c: char| !c.is_alphanumeric() && c != '_';
    name.split(ends_it).next()
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split('|').any(|listed| listed == word)
}

/// The words of an identifier in lower case: `http`, `server`, `v2` of `HTTPServerV2`.
pub(super) fn words(identifier: &str) -> Vec<String> {
    let letters: Vec<char> = identifier.chars().collect();
    let mut spaced = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let follows_capital = at > 0 && letters[at - 1].is_uppercase();
        let ends_capitals = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (ends_capitals || !follows_capital) {
            spaced.push(' ');
        }
        spaced.push(*letter);
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
