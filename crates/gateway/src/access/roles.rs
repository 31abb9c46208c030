//! What each role may do.
//!
//! Pure: this table, and nothing else, says which commands are whose. `docs/access.md` shows it to operators.

#[cfg(test)]
mod tests;

use talaria_domain::principal::Role;

/// Every command, and the least role that may use it. What is not here does nothing, so anybody may try.
const COMMANDS: [(&str, Role); 21] = [
    ("help", Role::Guest),
    ("whoami", Role::Guest),
    ("status", Role::Guest),
    ("stop", Role::Guest),
    ("new", Role::Guest),
    ("answer", Role::Guest),
    ("deny", Role::Guest),
    ("approve", Role::Member),
    ("resume", Role::Member),
    ("branch", Role::Member),
    ("title", Role::Member),
    ("sessions", Role::Member),
    ("undo", Role::Member),
    ("retry", Role::Member),
    ("queue", Role::Member),
    ("steer", Role::Member),
    ("interrupt", Role::Member),
    ("background", Role::Member),
    ("jobs", Role::Member),
    ("schedule", Role::Member),
    ("trace", Role::Member),
];

/// Whether a role may use a command. A known one that nobody put into the table is for admins.
pub fn may_use(role: Role, command: &str) -> bool {
    let row = COMMANDS.iter().find(|(name, _)| *name == command);
    let is_known = || {
        let mut known = crate::intake::command::COMMANDS.iter();
        known.any(|(name, _)| *name == command)
    };
    match row {
        Some((_, least)) => role.is_at_least(*least),
        None => role.is_at_least(Role::Admin) || !is_known(),
    }
}

/// Whether a role may say yes to what an agent wants to do. Guests may say no.
pub fn may_approve(role: Role) -> bool {
    role.is_at_least(Role::Member)
}

/// Whether a role may end what somebody else asked for, where several people share a conversation.
pub fn may_stop_others(role: Role) -> bool {
    role.is_at_least(Role::Member)
}

/// What somebody is told who used a command that is not theirs.
pub fn refusal(role: Role, command: &str) -> String {
    let allowed = COMMANDS.iter().filter(|(name, _)| may_use(role, name));
    let allowed: Vec<String> = allowed.map(|(name, _)| format!("/{name}")).collect();
    format!(
        "You may not use /{command}. You may use {}.",
        allowed.join(", ")
    )
}
