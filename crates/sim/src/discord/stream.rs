//! The gateway's `zlib-stream` ("Gateway", transport compression), for clients that want it: one zlib stream for the whole
//! connection, flushed behind every payload. Nothing is made smaller: every block is a stored one.
//!
//! Pure: payloads in, bytes out.

#[cfg(test)]
mod tests;

/// How much fits into a stored block.
const BLOCK: usize = 65_535;

/// A stream that is written to.
#[derive(Debug, Default)]
pub(super) struct ZlibStream {
    has_begun: bool,
}

impl ZlibStream {
    /// The bytes of the next payload.
    pub(super) fn write(&mut self, payload: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(payload.len() + 16);
        if !self.has_begun {
            self.has_begun = true;
            bytes.extend([0x78, 0x01]);
        }
        for block in payload.as_bytes().chunks(BLOCK) {
            stored(&mut bytes, block);
        }
        // An empty block is what a flush leaves behind; it ends with 00 00 FF FF.
        stored(&mut bytes, &[]);
        bytes
    }
}

fn stored(bytes: &mut Vec<u8>, block: &[u8]) {
    let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
    bytes.push(0);
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(block);
}
