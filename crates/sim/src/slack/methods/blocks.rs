//! Blocks and their limits ("Section block", "Actions block", "Button element").
//!
//! Pure: a list in, the same list or what is wrong with it out.

use serde_json::Value;

use super::{Arguments, No};

const MOST_BLOCKS: usize = 50;
const MOST_SECTION_CHARS: usize = 3_000;
const MOST_ELEMENTS: usize = 25;
const MOST_LABEL_CHARS: usize = 75;
const MOST_VALUE_CHARS: usize = 2_000;

pub(super) type Blocks = Vec<Value>;

/// The blocks that were asked for; none if there are none.
pub(super) fn read(asked: &Arguments) -> Result<Blocks, No> {
    let blocks = match asked.get("blocks") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(_) => return Err("invalid_blocks_format".into()),
    };
    let wrong = |note: String| No {
        code: "invalid_blocks",
        notes: vec![format!("[ERROR] {note}")],
    };
    if blocks.len() > MOST_BLOCKS {
        return Err(wrong(format!("no more than {MOST_BLOCKS} items allowed")));
    }
    for (at, block) in blocks.iter().enumerate() {
        check(block).map_err(|why| wrong(format!("{why} [json-pointer:/blocks/{at}]")))?;
    }
    Ok(blocks)
}

fn check(block: &Value) -> Result<(), &'static str> {
    match block["type"].as_str() {
        Some("section") => length(&block["text"]["text"], MOST_SECTION_CHARS),
        Some("actions") => {
            let elements = block["elements"].as_array().ok_or("missing elements")?;
            if elements.is_empty() || elements.len() > MOST_ELEMENTS {
                return Err("wrong number of elements");
            }
            let mut names = Vec::new();
            for element in elements {
                length(&element["text"]["text"], MOST_LABEL_CHARS)?;
                let value = element["value"].as_str().unwrap_or_default();
                if value.chars().count() > MOST_VALUE_CHARS {
                    return Err("must be less than 2001 characters");
                }
                names.push(element["action_id"].as_str());
            }
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            let is_unique = names.len() == all;
            is_unique.then_some(()).ok_or("duplicate action_id")
        }
        Some("divider" | "context" | "header" | "image" | "rich_text" | "markdown") => Ok(()),
        _ => Err("unsupported type"),
    }
}

fn length(text: &Value, most: usize) -> Result<(), &'static str> {
    match text.as_str().map(|text| text.chars().count()) {
        None | Some(0) => Err("missing text"),
        Some(length) if length > most => Err("text is too long"),
        Some(_) => Ok(()),
    }
}

/// What people read in them.
pub(super) fn words(blocks: &Blocks) -> String {
    let text = |block: &Value| block["text"]["text"].as_str().map(str::to_owned);
    blocks.iter().filter_map(text).collect()
}

/// What people can press in them: what each says, and what it carries.
pub(super) fn buttons(blocks: &Blocks) -> Vec<(String, String)> {
    let elements = blocks
        .iter()
        .filter_map(|block| block["elements"].as_array());
    let button = |element: &Value| {
        let says = element["text"]["text"].as_str()?.to_owned();
        Some((says, element["value"].as_str()?.to_owned()))
    };
    elements.flatten().filter_map(button).collect()
}
