//! Going on from a conversation in another one: the new one has everything that was said, under numbers of its own, and
//! from there on the two have nothing to do with each other.

use talaria_domain::ids::SessionId;
use talaria_domain::principal::PrincipalKey;

use crate::error::Result;
use crate::sessions::{self, Opening};
use crate::transcripts::{self, Stretch, Utterance, Visibility};
use crate::tx::Tx;

/// How many entries are copied at a time.
const PAGE: u32 = 500;

/// Opens a conversation with the history of another one of the same owner. What was undone is left behind.
pub fn fork(
    tx: &mut Tx<'_>,
    owner: PrincipalKey,
    from: SessionId,
    opening: &Opening,
) -> Result<SessionId> {
    sessions::get_owned(tx, owner, from)?;
    let session = sessions::open_from(tx, opening, from)?;
    let (mut last, mut compacted) = (0, Vec::new());
    loop {
        let page = transcripts::page(tx, from, last, PAGE)?;
        let Some(end) = page.last() else {
            transcripts::hide(tx, session, &compacted, Visibility::Compacted)?;
            return Ok(session);
        };
        last = end.seq;
        for entry in page {
            if entry.visibility == Visibility::Undone {
                continue;
            }
            let said = Utterance {
                speaker: entry.speaker,
                text: entry.text,
                detail: entry.detail,
                // The run stays where it was.
                run: None,
                at: entry.at,
            };
            let seq = transcripts::append(tx, session, &said)?;
            if entry.visibility == Visibility::Compacted {
                compacted.push(Stretch::one(seq));
            }
        }
    }
}
