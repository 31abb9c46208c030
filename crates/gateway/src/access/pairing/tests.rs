//! A code's whole life, by the clock in hand.

use talaria_domain::address::ChatKind;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn person(user: &str) -> Principal {
    on("bot", user)
}

fn on(account: &str, user: &str) -> Principal {
    Principal {
        platform: "example".into(),
        account: account.into(),
        user: user.into(),
        alternate: None,
        display_name: None,
        role: Role::Guest,
    }
}

fn chat(who: &Principal) -> Address {
    Address {
        platform: who.platform.clone(),
        account: who.account.clone(),
        chat_kind: ChatKind::Direct,
        chat: who.user.as_str().into(),
        thread: None,
        reply_to: None,
    }
}

fn ask_at(register: &mut Register, who: &Principal, now: Timestamp) -> Asked {
    let mut chance: Chance = [7; LETTERS + SALT];
    for (at, byte) in who.user.as_str().bytes().enumerate() {
        chance[at % LETTERS] = byte;
    }
    chance[7] = u8::try_from(now.as_millis() / 1_000 % 32).unwrap();
    register.ask((who, &chat(who)), now, &chance)
}

fn code_of(asked: Asked) -> String {
    match asked {
        Asked::Code(code) => code,
        other => panic!("expected a code, found {other:?}"),
    }
}

#[test]
fn a_code_has_eight_letters_that_nobody_mixes_up() {
    for byte in 0..=u8::MAX {
        let code = code(&[byte; LETTERS + SALT]);
        assert_eq!(code.len(), LETTERS);
        assert!(!code.contains(['0', 'O', '1', 'I']), "{code}");
    }
    let letters: std::collections::BTreeSet<u8> = ALPHABET.iter().copied().collect();
    assert_eq!(letters.len(), 32, "no letter is more likely than another");
}

#[test]
fn a_code_is_kept_as_a_hash_and_found_however_it_is_written() {
    let mut register = Register::default();
    let code = code_of(ask_at(&mut register, &person("dora"), NOW));
    let kept = serde_json::to_string(&register).unwrap();
    assert!(!kept.contains(&code), "{kept}");
    let mut register: Register = serde_json::from_str(&kept).unwrap();
    let written = format!("  {}\n", code.to_lowercase());
    let request = register.take(&written, NOW).unwrap();
    assert_eq!(request.principal.user.as_str(), "dora");
    assert_eq!(
        register.take(&code, NOW),
        Err(NotFound::Wrong),
        "it works once"
    );
}

#[test]
fn a_code_is_good_for_an_hour() {
    let mut register = Register::default();
    let code = code_of(ask_at(&mut register, &person("dora"), NOW));
    let last = NOW.plus(GOOD_FOR).minus(Duration::from_millis(1));
    assert!(register.clone().take(&code, last).is_ok());
    assert_eq!(register.waiting(NOW.plus(GOOD_FOR)).count(), 0);
    assert_eq!(
        register.take(&code, NOW.plus(GOOD_FOR)),
        Err(NotFound::Wrong)
    );
}

#[test]
fn three_wait_for_an_account_and_the_fourth_is_told_to_come_back_once() {
    let mut register = Register::default();
    for who in ["a", "b", "c"] {
        code_of(ask_at(&mut register, &person(who), NOW));
    }
    assert_eq!(ask_at(&mut register, &person("d"), NOW), Asked::Later);
    assert_eq!(ask_at(&mut register, &person("d"), NOW), Asked::Silence);
    code_of(ask_at(&mut register, &on("other", "d"), NOW));
    register.take_user(person("b").key(), NOW).unwrap();
    let later = NOW.plus(SILENCE);
    code_of(ask_at(&mut register, &person("d"), later));
}

#[test]
fn nobody_asks_twice_within_ten_minutes_and_a_new_code_ends_the_old_one() {
    let mut register = Register::default();
    let dora = person("dora");
    let first = code_of(ask_at(&mut register, &dora, NOW));
    let soon = NOW.plus(SILENCE).minus(Duration::from_millis(1));
    assert_eq!(ask_at(&mut register, &dora, soon), Asked::Silence);
    let later = NOW.plus(SILENCE).plus(Duration::from_secs(1));
    let second = code_of(ask_at(&mut register, &dora, later));
    assert_ne!(first, second);
    assert_eq!(register.waiting(later).count(), 1);
    assert_eq!(register.take(&first, later), Err(NotFound::Wrong));
    assert!(register.take(&second, later).is_ok());
}

#[test]
fn whoever_guesses_is_locked_out_for_an_hour_and_so_is_everybody_who_asks() {
    let mut register = Register::default();
    let code = code_of(ask_at(&mut register, &person("dora"), NOW));
    for guess in 1..=MOST_WRONG {
        assert_eq!(
            register.take("WRONGONE", NOW),
            Err(NotFound::Wrong),
            "{guess}"
        );
    }
    let until = NOW.plus(LOCKED_FOR);
    assert_eq!(register.take(&code, NOW), Err(NotFound::Locked { until }));
    assert_eq!(register.locked_until(NOW), Some(until));
    assert_eq!(ask_at(&mut register, &person("emil"), NOW), Asked::Later);
    assert!(
        register
            .clone()
            .take_user(person("dora").key(), NOW)
            .is_some(),
        "who is named by id was not guessed"
    );
    assert_eq!(register.locked_until(until), None);
    let code = code_of(ask_at(&mut register, &person("fred"), until));
    assert!(register.take(&code, until).is_ok());
}

#[test]
fn wrong_codes_of_long_ago_do_not_count() {
    let mut register = Register::default();
    for _ in 1..MOST_WRONG {
        register.take("WRONGONE", NOW).unwrap_err();
    }
    let later = NOW.plus(WRONG_WITHIN);
    register.take("WRONGONE", later).unwrap_err();
    assert_eq!(register.locked_until(later), None);
}

#[test]
fn a_crowd_of_strangers_is_not_remembered_for_ever() {
    let mut register = Register::default();
    for number in 0..MOST_ASKED {
        ask_at(&mut register, &person(&format!("s{number}")), NOW);
    }
    assert_eq!(
        ask_at(&mut register, &person("one more"), NOW),
        Asked::Silence
    );
    assert_eq!(register.asked.len(), MOST_ASKED);
    let later = NOW.plus(SILENCE);
    assert_eq!(
        ask_at(&mut register, &person("one more"), later),
        Asked::Later
    );
}
