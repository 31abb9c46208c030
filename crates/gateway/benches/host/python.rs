//! The same calls in Python: on structures of ours, and on those of other people where somebody says where they are.

use std::process::Command;

use crate::{GRANTS, KEYS, Plan};

const OURS: &str = include_str!("equal.py");
/// Where a Python file is that has the same four functions as `equal.py`, over the classes to compare with.
const OTHERS: &str = "TALARIA_SEED_CLASSES";

/// Measures and prints; `checks` is what a check costs here, in nanoseconds.
pub(crate) fn measure(plan: Plan, checks: f64) {
    println!("\nthe same in Python, in memory and without a process in between");
    let Some(ours) = run("", plan) else {
        println!("not measured: there is no python3 here");
        return;
    };
    tell("equal structures:", ours, checks);
    match std::env::var(OTHERS) {
        Err(_) => println!("other classes:     not measured, {OTHERS} names no file"),
        Ok(file) => match run(&file, plan) {
            Some(others) => tell("other classes:", others, checks),
            None => println!("other classes:     not measured, {file} cannot be run"),
        },
    }
}

fn tell(name: &str, (check, state): (f64, f64), checks: f64) {
    println!(
        "{name:<18} check {check:.0} ns, {:.1} times as long; state {:.0} a second",
        check / checks,
        1e9 / state
    );
}

/// Nanoseconds of a check and of a state call.
fn run(file: &str, plan: Plan) -> Option<(f64, f64)> {
    let numbers = [plan.runs, GRANTS, KEYS, plan.checks / 10, plan.values];
    let mut python = Command::new("python3");
    python.args(["-c", OURS, file]);
    python.args(numbers.map(|number| number.to_string()));
    let output = python.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (check, state) = text.trim().split_once(' ')?;
    Some((check.parse().ok()?, state.parse().ok()?))
}
