//! Pure: urls in the configuration. The store's may hold a password and is shown without; all others may hold nothing
//! secret at all. What is wrong is said without repeating the url.

use std::path::Path;

use talaria_domain::secret::SecretString;
use url::Url;

use crate::config::effective::StoreUrl;

const STORE: &str = "expected sqlite, sqlite:PATH or postgres://user@host/database";

/// A url that may be printed.
pub(super) fn plain(text: &str) -> Result<Url, String> {
    let expected = "expected a url such as https://example.org/v1";
    let url = Url::parse(text).map_err(|error| format!("{expected}: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(expected.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(format!("{expected}, without user, password and query"));
    }
    Ok(url)
}

/// The store at this url.
pub(super) fn store(text: &str, home: &Path) -> Result<StoreUrl, String> {
    match text.split_once(':') {
        None if text == "sqlite" => Ok(embedded(home)),
        Some(("sqlite", path)) if !path.is_empty() => Ok(sqlite(&home.join(path))),
        Some(("postgres" | "postgresql", _)) => postgres(text),
        _ => Err(STORE.to_owned()),
    }
}

/// The store in the data directory.
pub(super) fn embedded(home: &Path) -> StoreUrl {
    sqlite(&home.join("store.db"))
}

fn sqlite(path: &Path) -> StoreUrl {
    let shown = format!("sqlite:{}", path.display());
    StoreUrl {
        url: SecretString::from(shown.as_str()),
        shown,
    }
}

fn postgres(text: &str) -> Result<StoreUrl, String> {
    let mut url = Url::parse(text).map_err(|error| format!("{STORE}: {error}"))?;
    let pairs: Vec<_> = url
        .query_pairs()
        .filter(|(name, _)| name != "password")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
    // A url without a host cannot have a password either.
    let has_password = url.set_password(None).is_err() && url.password().is_some();
    if has_password {
        return Err(STORE.to_owned());
    }
    Ok(StoreUrl {
        url: SecretString::from(text),
        shown: url.to_string(),
    })
}
