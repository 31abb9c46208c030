//! What a text says to whom: mentions and commands are found by the entities that the platform marks, never by looking
//! for a name in the text.
//!
//! Pure: a text and its entities in, words out.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::wire::{Entity, User};

/// A text as the agent gets it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// Without our own mention in front; links that were hidden behind words stand beside them.
    pub(super) text: String,
    /// Whether our account is mentioned.
    pub(super) is_mentioned: bool,
    /// Whether it is a command for another bot.
    pub(super) is_for_another: bool,
}

/// Reads a text that `me` heard.
pub(super) fn read(text: &str, entities: &[Entity], me: &User) -> Words {
    let mut words = Words {
        text: text.to_owned(),
        ..Words::default()
    };
    // From the end, so that a change moves nothing that is still to be looked at.
    let mut entities: Vec<_> = entities.iter().collect();
    entities.sort_by_key(|entity| entity.offset);
    for entity in entities.into_iter().rev() {
        if let Some(range) = range(text, entity)
            && let Some(marked) = text.get(range.clone())
        {
            mark(&mut words, (entity, me), (range, marked));
        }
    }
    words
}

fn mark(words: &mut Words, (entity, me): (&Entity, &User), (range, marked): (Range<usize>, &str)) {
    match entity.kind.as_str() {
        "text_link" => {
            let url = entity.url.as_ref().filter(|url| *url != marked);
            if let Some(url) = url
                && words.text.is_char_boundary(range.end)
            {
                words.text.insert_str(range.end, &format!(" ({url})"));
            }
        }
        "mention" if marked.strip_prefix('@').is_some_and(|name| is_me(name, me)) => {
            mentioned(words, range);
        }
        "text_mention" if entity.user.as_ref().is_some_and(|user| user.id == me.id) => {
            mentioned(words, range);
        }
        "bot_command" => match marked.split_once('@') {
            Some((command, name)) if is_me(name, me) => {
                words.is_mentioned = true;
                let name = range.start + command.len()..range.end;
                if words.text.get(name.clone()).is_some() {
                    words.text.replace_range(name, "");
                }
            }
            Some(_) if range.start == 0 => words.is_for_another = true,
            _ => {}
        },
        _ => {}
    }
}

fn mentioned(words: &mut Words, range: Range<usize>) {
    words.is_mentioned = true;
    if range.start == 0 {
        let rest = words.text.get(range.end..).unwrap_or_default();
        let rest = rest.trim_start_matches([',', ':']).trim_start();
        words.text = rest.to_owned();
    }
}

/// User names are the same in any case ("Usernames" in the FAQ).
fn is_me(name: &str, me: &User) -> bool {
    let ours = me.username.as_deref().unwrap_or_default();
    !ours.is_empty() && name.eq_ignore_ascii_case(ours)
}

/// Where an entity is, in bytes; none if that is not within the text.
fn range(text: &str, entity: &Entity) -> Option<Range<usize>> {
    let start = byte_at(text, entity.offset)?;
    let end = byte_at(text, entity.offset.checked_add(entity.length)?)?;
    (start < end).then_some(start..end)
}

fn byte_at(text: &str, utf16: usize) -> Option<usize> {
    let mut units = 0;
    for (at, letter) in text.char_indices() {
        if units >= utf16 {
            return (units == utf16).then_some(at);
        }
        units += letter.len_utf16();
    }
    (units == utf16).then_some(text.len())
}
