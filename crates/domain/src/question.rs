//! What a person is asked. Who may answer is fixed when it is asked; a button carries a token that works once, and of
//! which only the hash is ever stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::names::{AccountName, PlatformName};
use crate::principal::{Principal, PrincipalKey, Role};
use crate::run::Action;

/// What somebody says to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Choice {
    /// Yes.
    Approve,
    /// No.
    Deny,
    /// In words, by a choice's name or by its number.
    Answer {
        /// To the letter.
        text: String,
    },
}

/// Who may answer, fixed when it is asked: whoever the run works for, and those who run the account it came through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    /// Whoever the run works for.
    pub requester: PrincipalKey,
    /// Admins and owners, as they are known here.
    pub platform: PlatformName,
    /// By this account.
    pub account: AccountName,
}

impl Approvers {
    /// Those for what `requester` asked for.
    pub fn of(requester: &Principal) -> Self {
        Self {
            requester: requester.key(),
            platform: requester.platform.clone(),
            account: requester.account.clone(),
        }
    }

    /// Whether they may answer.
    pub fn may_answer(&self, who: &Principal) -> bool {
        let is_known_here = (&who.platform, &who.account) == (&self.platform, &self.account);
        let is_in_charge = is_known_here && matches!(who.role, Role::Owner | Role::Admin);
        // Whoever is not known at all is nobody's equal.
        is_in_charge || (who.stable_user().is_some() && who.key() == self.requester)
    }
}

/// What a button carries. It cannot be printed or stored; it is told to the platform that shows the button, and to
/// nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct PressToken(String);

impl PressToken {
    /// The token that these random bytes are.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        let digits = bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        Self(digits.collect())
    }

    /// For the one line that hands it to its platform.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for PressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PressToken")
    }
}

/// What is stored of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenHash(pub Digest);

impl TokenHash {
    /// The hash of what a platform says that a button carried.
    pub fn of(token: &str) -> Self {
        Self(Fields::of("press token").text(token).digest())
    }
}

/// Buttons below a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What each of them carries.
    pub token: PressToken,
    /// In order.
    pub buttons: Vec<Button>,
}

/// One button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// What it says.
    pub label: String,
    /// What pressing it means.
    pub choice: Choice,
}

impl Button {
    /// The buttons for what is asked; none where anything may be answered.
    pub fn all(action: &Action) -> Vec<Self> {
        let button = |label: &str, choice: Choice| Self {
            label: label.to_owned(),
            choice,
        };
        let named = |name: &String| {
            let text = name.clone();
            button(name, Choice::Answer { text })
        };
        match action {
            Action::Approval { .. } => vec![
                button("Approve", Choice::Approve),
                button("Deny", Choice::Deny),
            ],
            Action::Question { choices, .. } => choices.iter().map(named).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
