//! The pictures that a model is shown with a turn. Those that are kept here are read and become addresses with the
//! picture in them; what is too large for that, or no picture that models know, is named in the prompt and nothing else.

#[cfg(test)]
mod tests;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use talaria_domain::runner::Turn;

use super::prompt::{Picture, pictures};

/// The most bytes of one picture.
const MOST_BYTES: u64 = 5 << 20;
/// The most bytes of all of them: more no server takes in one request.
const MOST_IN_ALL: u64 = 20 << 20;

/// Addresses of the pictures that came with what is said.
pub(super) async fn images(turn: &Turn) -> Vec<String> {
    let (mut shown, mut room) = (Vec::new(), MOST_IN_ALL);
    for picture in pictures(turn) {
        match picture {
            Picture::Address(address) => shown.push(address.to_owned()),
            Picture::Kept(path) => {
                if let Some(bytes) = read(path, room.min(MOST_BYTES)).await
                    && let Some(media_type) = media_type(&bytes)
                {
                    room = room.saturating_sub(bytes.len() as u64);
                    let base64 = STANDARD.encode(&bytes);
                    shown.push(format!("data:{media_type};base64,{base64}"));
                }
            }
        }
    }
    shown
}

/// What is in a file, if it is there and not larger than this.
async fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let found = tokio::fs::metadata(path).await.ok()?;
    if !found.is_file() || found.len() > most {
        return None;
    }
    tokio::fs::read(path).await.ok()
}

/// What kind of picture it is, by its first bytes: what a sender says about it is often wrong, and a server refuses all
/// of a request for it. These four are the kinds that models know.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
