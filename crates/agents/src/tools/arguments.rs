//! Reads what a model gave a tool, and says what was expected where that is something else.
//!
//! Pure: JSON and schema in, arguments or a sentence out.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments as the tool knows them, or a sentence for the model.
pub(super) fn read<T: DeserializeOwned>(arguments: &Value, schema: &Value) -> Result<T, String> {
    let wrong = match arguments {
        Value::Object(_) => match T::deserialize(arguments) {
            Ok(read) => return Ok(read),
            Err(error) => error.to_string(),
        },
        Value::String(_) => "they are not valid JSON".to_owned(),
        _ => "they are not an object".to_owned(),
    };
    Err(format!(
        "wrong arguments: {wrong}; expected {}",
        expected(schema)
    ))
}

fn expected(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<_> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let one = |(name, property): (&String, &Value)| {
        let kind = property["type"].as_str().unwrap_or("any");
        let is_required = required.iter().any(|known| *known == name);
        format!(
            "`{name}` ({kind}{})",
            if is_required { ", required" } else { "" }
        )
    };
    let all: Vec<_> = properties.into_iter().flatten().map(one).collect();
    match all.as_slice() {
        [] => "an empty object".to_owned(),
        all => format!("an object with {}", all.join(", ")),
    }
}
