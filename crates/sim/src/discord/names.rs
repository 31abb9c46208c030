//! Names and snowflakes. A name that is a number is its own; every other is given one, the same each time.
//!
//! Pure: a name in, a number out.

#[cfg(test)]
mod tests;

/// Where the snowflakes of messages begin.
const MESSAGES: u64 = 1_310_000_000_000_000_000;
/// Where those of interactions and sessions begin.
const OTHERS: u64 = 1_320_000_000_000_000_000;
/// Where those of names begin, and how many there are.
const NAMES: u64 = 1_100_000_000_000_000_000;
const NAMED: u64 = 100_000_000_000_000_000;

/// The id of the message with this number. Room is left behind each for its files.
pub(super) fn message_id(number: u64) -> String {
    (MESSAGES + (number << 22)).to_string()
}

/// The id of anything else with this number.
pub(super) fn other_id(number: u64) -> String {
    (OTHERS + (number << 22)).to_string()
}

/// The id of the chat with this name.
pub fn chat_id(name: &str) -> String {
    id("chat", name)
}

/// The id of the thread with this name.
pub fn thread_id(name: &str) -> String {
    id("thread", name)
}

/// The id of the person or bot with this name.
pub fn user_id(name: &str) -> String {
    id("user", name)
}

fn id(kind: &str, name: &str) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return name.to_owned();
    }
    // FNV-1a: stable, short, and good enough for a few names.
    let bytes = kind.bytes().chain([0]).chain(name.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (NAMES + hash % NAMED).to_string()
}
