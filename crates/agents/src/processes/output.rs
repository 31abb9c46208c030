//! What a process printed, read from its file when it is asked for and never kept.

use std::io::{self, SeekFrom};
use std::path::Path;

use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

/// Bytes of the longest letter.
const LETTER: usize = 4;
const PIECE: usize = 64 * 1024;

/// The end of an output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Its text. What is no text is replaced by a mark.
    pub(crate) text: String,
    /// Whether something stands before it.
    pub(crate) is_cut: bool,
}

/// The last `most` characters. An output that cannot be read is empty.
pub(crate) async fn tail(path: &Path, most: usize) -> Tail {
    read_end(path, most).await.unwrap_or_default()
}

async fn read_end(path: &Path, most: usize) -> io::Result<Tail> {
    let mut file = File::open(path).await?;
    let length = file.metadata().await?.len();
    let span = u64::try_from(most.saturating_mul(LETTER)).unwrap_or(u64::MAX);
    let start = length.saturating_sub(span);
    file.seek(SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    file.take(length - start).read_to_end(&mut bytes).await?;
    Ok(end_of(&bytes, most, start > 0))
}

fn end_of(bytes: &[u8], most: usize, is_cut: bool) -> Tail {
    // The rest of a letter whose start is left out.
    let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let rest = if is_cut {
        bytes.iter().take_while(is_rest).count()
    } else {
        0
    };
    let text = String::from_utf8_lossy(bytes.get(rest..).unwrap_or_default());
    let text = text.replace("\r\n", "\n").replace('\0', "\u{fffd}");
    let excess = text.chars().count().saturating_sub(most);
    Tail {
        is_cut: is_cut || excess > 0,
        text: text.chars().skip(excess).collect(),
    }
}

/// Leaves the last `most` bytes of an output that nobody adds to any more.
pub(super) async fn shorten(path: &Path, most: u64) {
    if let Err(error) = keep_end(path, most).await {
        tracing::debug!(%error, "an output stays as long as it is");
    }
}

async fn keep_end(path: &Path, most: u64) -> io::Result<()> {
    let mut file = File::open(path).await?;
    let length = file.metadata().await?.len();
    if length <= most {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - most)).await?;
    let part = path.with_extension("part");
    let mut rest = File::create(&part).await?;
    tokio::io::copy(&mut file.take(most), &mut rest).await?;
    rest.flush().await?;
    tokio::fs::rename(part, path).await
}

/// Hands what stands after `from` to `take`, piece by piece, and answers where it ended.
pub(super) async fn read_on(
    path: &Path,
    from: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<u64> {
    let mut file = File::open(path).await?;
    // What is printed while it is read comes with the next look, so that this one has an end.
    let end = file.metadata().await?.len();
    let mut at = file.seek(SeekFrom::Start(from.min(end))).await?;
    let mut buffer = vec![0; PIECE];
    while at < end {
        let count = file.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        take(bytes);
        at += count as u64;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    //! The end of an output is whole letters.

    use super::{Tail, end_of, read_on, shorten, tail};

    fn cut(text: &str) -> Tail {
        Tail {
            text: text.to_owned(),
            is_cut: true,
        }
    }

    #[test]
    fn the_end_is_whole_letters() {
        let whole = Tail {
            text: "abc\u{e9}".to_owned(),
            is_cut: false,
        };
        assert_eq!(end_of("abc\u{e9}".as_bytes(), 10, false), whole);
        assert_eq!(end_of("abc\u{e9}".as_bytes(), 2, false), cut("c\u{e9}"));
        assert_eq!(end_of(&"\u{e9}x".as_bytes()[1..], 2, true), cut("x"));
        assert_eq!(end_of(b"a\r\nb\0", 10, true), cut("a\nb\u{fffd}"));
    }

    #[tokio::test]
    async fn a_long_output_is_read_from_its_end_and_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("output");
        std::fs::write(&path, "x".repeat(300_000) + "end").expect("written");
        let end = tail(&path, 5).await;
        assert_eq!(end, cut("xxend"));
        let mut count = 0;
        let at = read_on(&path, 100_000, |bytes| count += bytes.len()).await;
        assert_eq!((at.expect("read"), count), (300_003, 200_003));
        shorten(&path, 1_000_000).await;
        assert_eq!(std::fs::metadata(&path).expect("there").len(), 300_003);
        shorten(&path, 4).await;
        assert_eq!(std::fs::read(&path).expect("there"), b"xend");
        assert_eq!(
            tail(&directory.path().join("none"), 5).await,
            Tail::default()
        );
    }
}
