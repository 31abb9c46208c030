//! Who may talk. One function decides for every kind of event; nobody is let in unless the operator said so, and the
//! reason is for the operator.

use std::collections::BTreeSet;

use talaria_domain::names::UserId;
use talaria_domain::principal::{Principal, Role};

/// Who may talk through an account. The default lets nobody in.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AccessPolicy {
    /// By stable id.
    pub allow: BTreeSet<UserId>,
    /// Whoever is known to the surface itself: a key or a cookie was checked before the event came here.
    pub surface: Trust,
    /// Everybody. Loud in the configuration check.
    pub anyone: bool,
}

/// Whether the surface has checked who speaks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It only tells what the platform told it.
    #[default]
    Unchecked,
    /// It checked a key; the role it says is the role they have.
    Checked,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// They may talk, in this role.
    Allowed(Role),
    /// They may not.
    Refused {
        /// Why, for the operator.
        reason: String,
    },
}

/// Whether `principal` may talk.
pub fn decide(policy: &AccessPolicy, principal: &Principal) -> Decision {
    if policy.surface == Trust::Checked {
        return Decision::Allowed(principal.role);
    }
    let known = principal
        .stable_user()
        .filter(|user| policy.allow.contains(*user));
    if known.is_some() {
        return Decision::Allowed(Role::Member);
    }
    if policy.anyone {
        return Decision::Allowed(Role::Guest);
    }
    let who = principal.stable_user().map_or("nobody", UserId::as_str);
    Decision::Refused {
        reason: format!(
            "{who:?} is not in `allow` of the account {:?} on {:?}",
            principal.account.as_str(),
            principal.platform.as_str()
        ),
    }
}

#[cfg(test)]
mod tests {
    //! Closed by default.

    use super::*;

    fn principal(user: &str, alternate: Option<&str>) -> Principal {
        Principal {
            platform: "example".into(),
            account: "bot".into(),
            user: user.into(),
            alternate: alternate.map(UserId::from),
            display_name: Some("ada".to_owned()),
            role: Role::Owner,
        }
    }

    #[test]
    fn nobody_is_let_in_by_default() {
        let decision = decide(&AccessPolicy::default(), &principal("7", None));
        assert!(
            matches!(&decision, Decision::Refused { reason } if reason.contains("\"7\"")),
            "{decision:?}"
        );
    }

    #[test]
    fn stable_ids_are_let_in_and_claimed_roles_are_not_believed() {
        let policy = AccessPolicy {
            allow: ["7".into()].into(),
            ..AccessPolicy::default()
        };
        assert_eq!(
            decide(&policy, &principal("7", None)),
            Decision::Allowed(Role::Member)
        );
        assert_eq!(
            decide(&policy, &principal("x", Some("7"))),
            Decision::Allowed(Role::Member)
        );
        for stranger in [
            principal("8", None),
            principal("7", Some("8")),
            principal("", None),
            principal("ada", None),
        ] {
            assert!(matches!(
                decide(&policy, &stranger),
                Decision::Refused { .. }
            ));
        }
    }

    #[test]
    fn anyone_is_a_guest_and_a_checked_key_has_its_role() {
        let anyone = AccessPolicy {
            anyone: true,
            ..AccessPolicy::default()
        };
        assert_eq!(
            decide(&anyone, &principal("8", None)),
            Decision::Allowed(Role::Guest)
        );
        let checked = AccessPolicy {
            surface: Trust::Checked,
            ..AccessPolicy::default()
        };
        assert_eq!(
            decide(&checked, &principal("8", None)),
            Decision::Allowed(Role::Owner)
        );
    }
}
