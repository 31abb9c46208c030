//! What a message says: its text, what comes with it, what it answers. A message that says nothing to anybody (somebody
//! came, a picture was pinned) has no content.
//!
//! Pure: a message in, content out.

use talaria_domain::event::{Attachment, AttachmentKind, Content, Mention, Quote};

use super::{Listener, person, principal};
use crate::telegram::wire::{
    Answered, External, File, Message, PhotoSize, Said, Sticker, TextQuote,
};
use crate::telegram::words;

/// Reads what a message says; none if that is nothing, or nothing for us.
pub(super) fn read(listener: Listener<'_>, message: Message) -> Option<Content> {
    let Message {
        said,
        reply_to_message,
        external_reply,
        quote,
        message_thread_id,
        is_topic_message,
        ..
    } = message;
    let (text, entities) = match (&said.text, &said.caption) {
        (Some(text), _) => (text.as_str(), said.entities.as_slice()),
        (None, Some(caption)) => (caption.as_str(), said.caption_entities.as_slice()),
        (None, None) => ("", [].as_slice()),
    };
    let words = words::read(text, entities, listener.me);
    if words.is_for_another {
        return None;
    }
    let thing = thing(&said);
    let text = if words.text.is_empty() {
        thing.unwrap_or_default()
    } else {
        words.text
    };
    let attachments = attachments(said);
    if text.is_empty() && attachments.is_empty() && !words.is_mentioned {
        return None;
    }
    let root = message_thread_id.filter(|_| is_topic_message);
    let answered = reply_to_message.map(|answered| *answered);
    let answered =
        answered.filter(|it| it.forum_topic_created.is_none() && Some(it.message_id) != root);
    let from = answered.as_ref().and_then(|it| it.from.as_ref());
    let mention = if words.is_mentioned {
        Mention::Direct
    } else if from.is_some_and(|from| from.id == listener.me.id) {
        Mention::Reply
    } else {
        Mention::Absent
    };
    Some(Content {
        text,
        attachments,
        quote: cited(listener, (answered, external_reply), quote),
        mention,
        ..Content::default()
    })
}

fn cited(
    listener: Listener<'_>,
    (answered, external): (Option<Answered>, Option<External>),
    passage: Option<TextQuote>,
) -> Option<Quote> {
    let passage = passage.map(|quote| quote.text);
    if let Some(answered) = answered {
        let author = match (&answered.from, &answered.sender_chat) {
            (Some(user), None) => Some(person(listener, user)),
            (user, chat) => principal(listener, (user.as_ref(), chat.as_ref())),
        };
        let whole = answered.text.or(answered.caption);
        return Some(Quote {
            message: answered.message_id.to_string().into(),
            author,
            text: passage.or(whole),
        });
    }
    let External { chat, message_id } = external?;
    let chat = chat.map_or_else(String::new, |chat| chat.id.to_string());
    let id = message_id.map_or_else(String::new, |id| id.to_string());
    Some(Quote {
        message: format!("{chat}:{id}").into(),
        author: None,
        text: passage,
    })
}

/// What is neither text nor a file, in words.
fn thing(said: &Said) -> Option<String> {
    if let Some(sticker) = &said.sticker {
        return sticker.emoji.clone();
    }
    if let Some(venue) = &said.venue {
        return Some(format!("[place: {}, {}]", venue.title, venue.address));
    }
    if let Some(at) = &said.location {
        return Some(format!("[location: {}, {}]", at.latitude, at.longitude));
    }
    if let Some(contact) = &said.contact {
        let (name, number) = (&contact.first_name, &contact.phone_number);
        return Some(format!("[contact: {name}, {number}]"));
    }
    if let Some(poll) = &said.poll {
        return Some(format!("[poll: {}]", poll.question));
    }
    let dice = said.dice.as_ref()?;
    Some(format!("{} {}", dice.emoji, dice.value))
}

fn attachments(said: Said) -> Vec<Attachment> {
    let Said {
        photo,
        document,
        animation,
        audio,
        voice,
        video,
        video_note,
        sticker,
        ..
    } = said;
    // An animation is a document as well, for programs that know of none.
    let document = document.filter(|_| animation.is_none());
    let document = document.map(|file| {
        let kind = kind_of(file.mime_type.as_deref().unwrap_or_default());
        whole(file, kind, None)
    });
    let video_kind = |file| whole(file, AttachmentKind::Video, Some("video/mp4"));
    [
        largest(photo).map(picture),
        document,
        animation.map(video_kind),
        audio.map(|file| whole(file, AttachmentKind::Audio, None)),
        voice.map(|file| whole(file, AttachmentKind::Voice, Some("audio/ogg"))),
        video.map(video_kind),
        video_note.map(video_kind),
        sticker.map(stuck),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn kind_of(media_type: &str) -> AttachmentKind {
    match media_type.split('/').next().unwrap_or_default() {
        "image" => AttachmentKind::Image,
        "audio" => AttachmentKind::Audio,
        "video" => AttachmentKind::Video,
        _ => AttachmentKind::File,
    }
}

fn whole(file: File, kind: AttachmentKind, usual: Option<&str>) -> Attachment {
    Attachment {
        kind,
        locator: file.file_id,
        file_name: file.file_name,
        media_type: file.mime_type.or_else(|| usual.map(str::to_owned)),
        size_bytes: file.file_size,
        kept: None,
    }
}

fn largest(sizes: Vec<PhotoSize>) -> Option<PhotoSize> {
    let area = |size: &PhotoSize| size.width.saturating_mul(size.height);
    sizes.into_iter().max_by_key(area)
}

fn picture(size: PhotoSize) -> Attachment {
    Attachment {
        kind: AttachmentKind::Image,
        locator: size.file_id,
        file_name: None,
        media_type: Some("image/jpeg".to_owned()),
        size_bytes: size.file_size,
        kept: None,
    }
}

fn stuck(sticker: Sticker) -> Attachment {
    let (kind, media_type) = match (sticker.is_video, sticker.is_animated) {
        (true, _) => (AttachmentKind::Video, "video/webm"),
        (_, true) => (AttachmentKind::File, "application/x-tgsticker"),
        _ => (AttachmentKind::Image, "image/webp"),
    };
    Attachment {
        kind,
        locator: sticker.file_id,
        file_name: None,
        media_type: Some(media_type.to_owned()),
        size_bytes: sticker.file_size,
        kept: None,
    }
}
