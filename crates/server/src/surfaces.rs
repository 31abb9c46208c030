//! The local surfaces as places and people: the page, the terminal, programs. The one file that names them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::names::{AccountName, ChatId, PlatformName};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::session_key::SessionKey;

const PAGE: &str = "web";
const TERMINAL: &str = "terminal";
const PROGRAM: &str = "api";

/// The one account of every local surface.
const ACCOUNT: &str = "default";

/// Where a conversation of ours takes place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Surface {
    /// The page.
    #[default]
    Web,
    /// The command line.
    Terminal,
}

impl Surface {
    const fn name(self) -> &'static str {
        match self {
            Self::Web => PAGE,
            Self::Terminal => TERMINAL,
        }
    }

    fn named(platform: &PlatformName) -> Option<Self> {
        [Self::Web, Self::Terminal]
            .into_iter()
            .find(|surface| surface.name() == platform.as_str())
    }

    /// A chat on this surface.
    pub(crate) fn address(self, chat: ChatId) -> Address {
        address(self.name(), chat)
    }
}

/// A chat of a program: it is gone once its request is answered, so that nothing may be promised there for later.
pub(crate) fn program(chat: ChatId) -> Address {
    address(PROGRAM, chat)
}

fn address(platform: &str, chat: ChatId) -> Address {
    Address {
        platform: PlatformName::from(platform),
        account: AccountName::from(ACCOUNT),
        chat_kind: ChatKind::Direct,
        chat,
        thread: None,
        reply_to: None,
    }
}

/// Where a conversation takes place, if that is a surface of ours.
pub(crate) fn place(key: &SessionKey) -> Option<Address> {
    let chat = key.chat.clone()?;
    if key.platform.as_str() == PROGRAM {
        return Some(program(chat));
    }
    Surface::named(&key.platform).map(|surface| surface.address(chat))
}

/// Whoever runs the gateway: the holder of the operator key, and the page once it is logged in.
pub(crate) fn operator() -> Principal {
    principal(PAGE, "operator", "operator", Role::Owner)
}

/// Whoever holds a key that was made for them.
pub(crate) fn holder(key: &str, name: &str) -> Principal {
    principal(PROGRAM, key, name, Role::Member)
}

fn principal(platform: &str, user: &str, name: &str, role: Role) -> Principal {
    Principal {
        platform: platform.into(),
        account: ACCOUNT.into(),
        user: user.into(),
        alternate: None,
        display_name: Some(name.to_owned()),
        role,
    }
}
