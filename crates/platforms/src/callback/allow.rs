//! Where programs may be called back: the operator's list, and whether an address is on it. An entry is a scheme, a host,
//! a port and the beginning of a path; all four are compared after both sides were read by the same parser. What two
//! parsers could read in two ways is refused before anything is compared.
//!
//! Pure: a text in, an address or the words why not out. The words never repeat the text.

#[cfg(test)]
mod tests;

use url::{Host, Url};

/// The longest address that is looked at, in bytes.
const LONGEST: usize = 2_000;
/// What a server may turn into a dot, a slash, a backslash, or into another of these, after we have looked.
const DISGUISES: [&str; 4] = ["%2e", "%2f", "%5c", "%25"];

const SHAPE: &str = "expected an address such as https://example.org/hooks/1";
const LONG: &str = "expected an address of at most 2000 letters";
const LETTERS: &str =
    "expected visible ASCII letters only, without a backslash: write other letters encoded";
const USER: &str = "expected an address without user and password";
const FRAGMENT: &str = "expected an address without a fragment";
const DOTS: &str =
    "expected a path without `.` and `..`, and without encoded dots, slashes and percent signs";
const UNLISTED: &str = "the operator does not allow this address in [server.callbacks]";

/// Where programs may be called back.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AllowList(Vec<Url>);

/// An entry that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadEntry {
    /// Which one, from zero.
    pub index: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl AllowList {
    /// Reads the operator's list.
    pub fn read<T: AsRef<str>>(entries: &[T]) -> Result<Self, BadEntry> {
        let read = |(index, entry): (usize, &T)| {
            let bad = |why| BadEntry { index, why };
            entry_of(entry.as_ref()).map_err(bad)
        };
        let entries: Result<_, _> = entries.iter().enumerate().map(read).collect();
        entries.map(Self)
    }

    /// The address as it is called, if it is on the list.
    pub fn permit(&self, text: &str) -> Result<Url, &'static str> {
        let url = strictly(text)?;
        let is_listed = self.0.iter().any(|entry| covers(entry, &url));
        is_listed.then_some(url).ok_or(UNLISTED)
    }

    /// The entries that everybody on the way can read along with.
    pub fn unencrypted(&self) -> impl Iterator<Item = usize> {
        let is_open = |entry: &Url| entry.scheme() == "http" && !is_loopback(entry);
        let entries = self.0.iter().enumerate();
        entries.filter_map(move |(index, entry)| is_open(entry).then_some(index))
    }

    /// The entries as they were understood, for people.
    pub fn shown(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Url::as_str)
    }
}

fn entry_of(text: &str) -> Result<Url, &'static str> {
    let url = strictly(text)?;
    if url.query().is_some() {
        return Err("expected the beginning of addresses, without a query");
    }
    if text.contains('*') {
        return Err("expected one host and the beginning of a path: there are no wildcards");
    }
    Ok(url)
}

/// Reads an address that every parser reads in the same way.
fn strictly(text: &str) -> Result<Url, &'static str> {
    if text.len() > LONGEST {
        return Err(LONG);
    }
    if !text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    {
        return Err(LETTERS);
    }
    let (scheme, rest) = text.split_once("://").ok_or(SHAPE)?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(SHAPE);
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err(USER);
    }
    if rest.contains('#') {
        return Err(FRAGMENT);
    }
    let path = rest.split('?').next().unwrap_or_default();
    if authority.is_empty() || !is_straight(path) {
        return Err(if authority.is_empty() { SHAPE } else { DOTS });
    }
    let url = Url::parse(text).map_err(|_| SHAPE)?;
    if !url.has_host() || url.port() == Some(0) {
        return Err(SHAPE);
    }
    Ok(url)
}

/// Whether a path says where it leads without a step that a server may take elsewhere. Some servers cut off what follows
/// a semicolon.
fn is_straight(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let is_step = |segment: &str| {
        let name = segment.split(';').next();
        matches!(name, Some("." | ".."))
    };
    !path.split('/').any(is_step) && !DISGUISES.iter().any(|disguise| path.contains(disguise))
}

/// Whether an address is the one of an entry or below it.
fn covers(entry: &Url, url: &Url) -> bool {
    let is_same_place = entry.scheme() == url.scheme()
        && entry.host() == url.host()
        && entry.port_or_known_default() == url.port_or_known_default();
    let Some(below) = url.path().strip_prefix(entry.path()) else {
        return false;
    };
    let is_below = below.is_empty() || entry.path().ends_with('/') || below.starts_with('/');
    is_same_place && is_below
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
