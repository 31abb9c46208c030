//! Where an agent wants something sent: `platform[:chat[:thread]]`. Pure: a text in, a place or the words why not out.
//! There is no default: a platform without a chat is not a place.

use talaria_domain::names::{ChatId, PlatformName, ThreadId};

/// A place that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The chat service.
    pub platform: PlatformName,
    /// The chat.
    pub chat: ChatId,
    /// The thread in it.
    pub thread: Option<ThreadId>,
}

/// The place that this text names. A thread's id may have colons in it.
pub fn parse(text: &str) -> Result<Target, String> {
    let mut names = text.trim().splitn(3, ':');
    let platform = names.next().unwrap_or_default();
    let (chat, thread) = (names.next(), names.next());
    if platform.is_empty() || chat == Some("") || thread == Some("") {
        return Err(format!(
            "expected a target such as PLATFORM:CHAT or PLATFORM:CHAT:THREAD, found {text:?}"
        ));
    }
    let Some(chat) = chat else {
        return Err(format!(
            "say which chat: {platform}:CHAT, because there is no default one"
        ));
    };
    Ok(Target {
        platform: platform.into(),
        chat: chat.into(),
        thread: thread.map(Into::into),
    })
}

#[cfg(test)]
mod tests;
