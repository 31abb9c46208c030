//! Faults as they are written down, and in which order they happen.

use serde_json::json;

use super::{Fault, Faults, Mishap, On};

fn answer(status: u16, code: &str) -> Mishap {
    Mishap::Answer {
        status,
        code: code.to_owned(),
    }
}

#[test]
fn a_mishap_is_written_in_words() {
    for (text, mishap) in [
        ("429", answer(429, "")),
        ("401", answer(401, "")),
        ("409", answer(409, "")),
        ("500", answer(500, "")),
        ("400 markup", answer(400, "markup")),
        ("hang", Mishap::Hang),
        ("close", Mishap::Close),
        ("close_before_accept", Mishap::Close),
        ("drop_after_accept", Mishap::DropAfterAccept),
    ] {
        assert_eq!(text.parse(), Ok(mishap), "{text}");
    }
    for text in ["", "explode", "200", "1000", "markup 400"] {
        assert!(text.parse::<Mishap>().is_err(), "{text}");
    }
}

#[test]
fn a_fault_is_read_as_the_contract_writes_it() {
    let fault = json!({ "on": "send", "do": "429", "retry_after": 3, "times": 2 });
    let expected = Fault {
        on: On::Send,
        mishap: answer(429, ""),
        retry_after: Some(3),
        times: 2,
    };
    assert_eq!(serde_json::from_value::<Fault>(fault).unwrap(), expected);
    let short: Fault = serde_json::from_value(json!({ "on": "about", "do": "hang" })).unwrap();
    assert_eq!((short.times, short.retry_after), (1, None));
    let typo = json!({ "on": "send", "do": "429", "time": 2 });
    assert!(serde_json::from_value::<Fault>(typo).is_err());
}

#[test]
fn faults_happen_in_order_and_as_often_as_ordered() {
    let mut faults = Faults::default();
    let order = |on, mishap, times| Fault {
        on,
        mishap,
        retry_after: None,
        times,
    };
    faults.order(order(On::Send, Mishap::Hang, 2));
    faults.order(order(On::Send, Mishap::Close, 1));
    faults.order(order(On::Edit, Mishap::Close, 5));
    let mishaps: Vec<_> = std::iter::from_fn(|| faults.next(On::Send))
        .map(|fault| fault.mishap)
        .collect();
    assert_eq!(mishaps, [Mishap::Hang, Mishap::Hang, Mishap::Close]);
    assert!(faults.has(On::Edit));
    faults.order(order(On::Edit, Mishap::Close, 0));
    assert!(!faults.has(On::Edit));
}
