//! Reads the tags back, by the rules of the Bot API's page "Formatting options", HTML style: which tags there are, that
//! they are closed in order, what may stand in what, and which entities have a name.

const STYLES: [&str; 3] = ["b", "i", "s"];

/// What is wrong with it, if anything.
pub(super) fn fault(html: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut parts = html.split('<');
    let mut texts = vec![parts.next().unwrap_or_default()];
    for part in parts {
        let Some((tag, text)) = part.split_once('>') else {
            return Some(format!("a bracket that is no tag: {part:?}"));
        };
        texts.push(text);
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("</{name}> closes something else"));
            }
            continue;
        }
        let name = tag.split(' ').next().unwrap_or_default();
        if let Some(fault) = misplaced(tag, name, &open) {
            return Some(format!("<{tag}> {fault} in {open:?}"));
        }
        open.push(name);
    }
    let bad = texts.iter().find(|text| !has_only_known_entities(text));
    bad.map(|text| format!("not escaped: {text:?}"))
        .or_else(|| (!open.is_empty()).then(|| format!("{open:?} is never closed")))
}

fn misplaced(tag: &str, name: &str, open: &[&str]) -> Option<&'static str> {
    let attribute = tag.strip_prefix(name).unwrap_or_default();
    let is_whole = |start: &str| {
        let value = attribute.strip_prefix(start);
        let value = value.and_then(|value| value.strip_suffix('"'));
        value.is_some_and(|value| !value.contains('"') && has_only_known_entities(value))
    };
    let is_known = match name {
        "code" if open.last() == Some(&"pre") => is_whole(" class=\"language-"),
        "b" | "i" | "s" | "code" | "pre" | "blockquote" => attribute.is_empty(),
        "a" => is_whole(" href=\"http"),
        _ => false,
    };
    let is_in = |names: &[&str]| open.iter().any(|name| names.contains(name));
    let is_allowed = match name {
        "pre" => !is_in(&STYLES) && !is_in(&["pre", "code", "a"]),
        "code" => !is_in(&STYLES) && !is_in(&["code", "a"]),
        "a" => !is_in(&["a", "pre", "code"]),
        "blockquote" => open.is_empty(),
        name => !is_in(&["pre", "code", name]),
    };
    (!is_known)
        .then_some("is not allowed")
        .or_else(|| (!is_allowed).then_some("may not stand"))
}

fn has_only_known_entities(text: &str) -> bool {
    let known = ["amp;", "lt;", "gt;", "quot;"];
    let mut entities = text.split('&').skip(1);
    !text.contains('>') && entities.all(|rest| known.iter().any(|name| rest.starts_with(name)))
}

#[test]
fn faults_are_found() {
    for html in [
        "<b>a",
        "a</b>",
        "<b><i>a</b></i>",
        "<p>a</p>",
        "a < b",
        "a > b",
        "a & b",
        "&nbsp;",
        "<b><code>a</code></b>",
        "<a href=\"https://a\"><code>a</code></a>",
        "<a href=\"x\">a</a>",
        "<a href=\"https://a\" x=\"b\">a</a>",
        "<b class=\"x\">a</b>",
        "<b><b>a</b></b>",
        "<blockquote><blockquote>a</blockquote></blockquote>",
        "<pre><b>a</b></pre>",
    ] {
        assert!(fault(html).is_some(), "{html}");
    }
    let fine = "<blockquote><b><i>a</i></b> <code>b</code> <a href=\"https://a?b&amp;c\">&lt;</a>\
                <pre><code class=\"language-c\">d</code></pre></blockquote>";
    assert_eq!(fault(fine), None);
}
