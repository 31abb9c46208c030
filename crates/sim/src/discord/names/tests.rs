//! Ids look like Discord's, and stay.

use super::{chat_id, message_id, thread_id, user_id};

#[test]
fn a_number_is_itself_and_a_name_has_one() {
    assert_eq!(chat_id("42"), "42");
    assert_eq!(user_id("ada"), user_id("ada"));
    assert_ne!(user_id("ada"), chat_id("ada"));
    assert_ne!(thread_id("ada"), chat_id("ada"));
    assert_eq!(user_id("ada").len(), 19);
}

#[test]
fn messages_are_in_order_and_leave_room_for_files() {
    let number = |id: String| id.parse::<u64>().unwrap();
    assert!(number(message_id(2)) > number(message_id(1)) + 10);
}
