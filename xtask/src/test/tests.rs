//! Counting on what real test binaries print, and what is said of a failure.

use super::sentence;
use super::tally::Tally;

fn tally(lines: &str) -> Tally {
    let mut tally = Tally::default();
    lines.lines().for_each(|line| tally.read(line));
    tally.end();
    tally
}

const TWO_BINARIES_AND_DOC_TESTS: &str = "
running 3 tests
test claim::a_lease_is_taken_once::sqlite ... ok
test claim::a_lease_is_taken_once::postgres ... ok
test claim::sqlite_is_not_an_engine_here ... ok

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s


running 2 tests
test words::sqlite - should panic ... ok
test words::postgres ... FAILED

failures:

---- words::postgres stdout ----
thread 'words::postgres' panicked at src/words.rs:3:5:
expected 12 passed; found 13

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests talaria_domain

running 1 test
test crates/domain/src/id.rs - id::Id (line 9) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s

all doctests ran in 0.42s; merged doctests compilation took 0.30s
";

#[test]
fn totals_are_over_all_binaries_and_doc_tests() {
    let tally = tally(TWO_BINARIES_AND_DOC_TESTS);
    assert_eq!(tally.totals(), "5 passed, 1 failed");
}

#[test]
fn only_passed_tests_named_for_an_engine_count_for_it() {
    let tally = tally(TWO_BINARIES_AND_DOC_TESTS);
    let expected = "store tests: 2 on sqlite, 1 on postgres";
    assert_eq!(tally.engines(), expected);
}

#[test]
fn engines_must_have_passed_the_same_number_of_tests_and_some() {
    let sqlite = "test a::sqlite ... ok\n";
    let postgres = "test a::postgres ... ok\n";
    assert!(tally(&[sqlite, postgres].concat()).check_engines().is_ok());
    assert!(
        tally(&[sqlite, sqlite, postgres].concat())
            .check_engines()
            .is_err()
    );
    assert!(tally(sqlite).check_engines().is_err());
    assert!(tally("").check_engines().is_err());
}

#[test]
fn a_binary_that_dies_has_failed_what_it_did_not_report() {
    let died = "running 4 tests\ntest a ... ok\n";
    let next = "running 1 test\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored";
    assert_eq!(tally(died).totals(), "1 passed, 3 failed");
    assert_eq!(tally(&[died, next].concat()).totals(), "2 passed, 3 failed");
}

#[test]
fn nothing_has_begun_before_a_binary_runs() {
    assert!(!tally("   Compiling talaria-store\n").is_begun());
    assert!(!tally("running from my shadow\n").is_begun());
    assert!(tally("running 0 tests\n").is_begun());
}

#[test]
fn a_failed_step_is_told_in_one_sentence_with_its_cause() {
    let error = anyhow::anyhow!("a disk").context("cannot write");
    assert_eq!(
        sentence("docs", &error, "cargo doc"),
        "error: the step `docs` failed: cannot write: a disk; repeat it alone with `cargo doc`"
    );
}
