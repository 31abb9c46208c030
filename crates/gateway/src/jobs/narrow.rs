//! What a delegation may use: at most what the run that delegates may. Pure; there is no way to get more out of it than
//! was put in.

use talaria_domain::authority::{Authority, Grant, ResourceKind};

/// `authority` without the tools that are not in `tools`; none means all of them.
#[must_use]
pub fn to_tools(authority: &Authority, tools: Option<&[String]>) -> Authority {
    let mut narrow = authority.clone();
    if let (Some(tools), Some(grants)) = (tools, narrow.grants.get_mut(&ResourceKind::Tool)) {
        grants.retain(|name, _| tools.contains(name));
    }
    narrow
}

/// What both allow. A resource whose implementation is another one by now is not the one that was allowed.
#[must_use]
pub fn to_both(one: &Authority, other: &Authority) -> Authority {
    let mut narrow = Authority::default();
    for (kind, grants) in &one.grants {
        for (name, grant) in grants {
            let found = other.grants.get(kind).and_then(|grants| grants.get(name));
            let same = found.filter(|found| found.pinned == grant.pinned);
            let Some(found) = same else { continue };
            let both = found.operations.intersection(&grant.operations);
            let kept = Grant {
                operations: both.cloned().collect(),
                pinned: grant.pinned.clone(),
            };
            let grants = narrow.grants.entry(*kind).or_default();
            grants.insert(name.clone(), kept);
        }
    }
    narrow
}

#[cfg(test)]
mod tests;
