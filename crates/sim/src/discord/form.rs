//! Reads a form with files in it ("API Reference", uploading files).
//!
//! Pure: bytes in, fields out.

#[cfg(test)]
mod tests;

/// A field of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: String,
    /// The file's name, if it is one.
    pub(super) file_name: Option<String>,
    /// The media type, if there is one.
    pub(super) media_type: Option<String>,
    /// What is in it.
    pub(super) content: Vec<u8>,
}

/// The fields of a form with this media type; none if it is not one.
pub(super) fn fields(media_type: &str, body: &[u8]) -> Option<Vec<Field>> {
    let (_, boundary) = media_type.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    let line = format!("--{boundary}");
    let mut rest = after(body, line.as_bytes())?;
    let mut fields = Vec::new();
    while !rest.starts_with(b"--") {
        let part = after(rest, b"\r\n")?;
        let end = find(part, format!("\r\n{line}").as_bytes())?;
        fields.push(field(part.get(..end)?)?);
        rest = part.get(end + 2 + line.len()..)?;
    }
    Some(fields)
}

fn field(part: &[u8]) -> Option<Field> {
    let end = find(part, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(part.get(..end)?);
    let mut field = Field {
        name: String::new(),
        file_name: None,
        media_type: None,
        content: part.get(end + 4..)?.to_vec(),
    };
    for line in head.lines() {
        let (name, value) = line.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-disposition" => {
                field.name = quoted(value, "; name=\"")?;
                field.file_name = quoted(value, "; filename=\"");
            }
            "content-type" => field.media_type = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    Some(field)
}

fn quoted(value: &str, opening: &str) -> Option<String> {
    let (_, rest) = value.split_once(opening)?;
    Some(rest.split('"').next()?.to_owned())
}

fn after<'a>(text: &'a [u8], pattern: &[u8]) -> Option<&'a [u8]> {
    let at = find(text, pattern)?;
    text.get(at + pattern.len()..)
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|it| it == pattern)
}
