//! What the benchmark compares the ledger with is what the ledger does. Whoever changes a statement hears of it here, and
//! not when somebody measures next.

#[path = "../../benches/ledger/texts.rs"]
mod texts;

#[test]
fn the_bare_loop_runs_the_statements_of_the_store() {
    texts::check();
}
