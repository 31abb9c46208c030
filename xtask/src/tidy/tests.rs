//! Each rule on a text that breaks it and on one that keeps it, and all on this repository.
//!
//! The fixtures are scanned too when the repository is: what would break a rule at the start of
//! a line is not at the start of one here, and what would break it anywhere is in two halves.

use super::names::words;
use super::{Finding, SourceFile, command, findings, is_read, read_tree};
use super::{arrows, contents, migrations, names, platforms, polling};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(|finding| finding.line).collect()
}

/// The lines that a rule finds fault with in a text at a path.
fn faults(rule: fn(&SourceFile) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
    lines(&rule(&file(path, text)))
}

const NONE: [usize; 0] = [];

#[test]
fn tidy_holds_on_this_repository() {
    let files = read_tree(command::root()).unwrap();
    assert!(files.iter().any(|f| f.path == "xtask/src/tidy/tests.rs"));
    assert_eq!(findings(&files), []);
}

#[test]
fn findings_are_sorted_and_rules_for_rust_spare_other_files() {
    let marker = concat!("-- TO", "DO\n");
    let sql = file("crates/store/migrations/0001_data.sql", marker);
    let rust = file("crates/gateway/src/util.rs", "struct RunInfo;\n");
    let found = findings(&[sql, rust]);
    let places: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.line)).collect();
    let (rust, sql) = (
        "crates/gateway/src/util.rs",
        "crates/store/migrations/0001_data.sql",
    );
    assert_eq!(places, [(rust, 1), (rust, 1), (rust, 1), (sql, 1)]);
}

#[test]
fn only_sources_manifests_and_migrations_are_read() {
    for name in ["a/b.rs", "a/Cargo.toml", "m/0001_a.sql", "m/RELEASED"] {
        assert!(is_read(name), "{name}");
    }
    for name in ["README.md", "Cargo.lock", "web/page.css", "a/rs"] {
        assert!(!is_read(name), "{name}");
    }
}

#[test]
fn a_file_has_at_most_600_lines() {
    let path = "crates/store/src/lib.rs";
    let of = |lines| "//!\n".repeat(lines);
    assert_eq!(faults(contents::length_and_header, path, &of(600)), NONE);
    assert_eq!(faults(contents::length_and_header, path, &of(601)), [601]);
}

#[test]
fn a_file_has_a_header_within_three_lines() {
    let header = |text| faults(contents::length_and_header, "crates/store/src/lib.rs", text);
    assert_eq!(header("//! The ledger.\n"), NONE);
    assert_eq!(header("#![forbid(unsafe_code)]\n\n//! The ledger.\n"), NONE);
    assert_eq!(header("// one\n// two\n// three\n//! Late.\n"), [1]);
    assert_eq!(header("/// Not of the file.\nstruct A;\n"), [1]);
    assert_eq!(header(""), [1]);
}

#[test]
fn the_domain_and_files_that_say_so_are_pure() {
    let runtime = |path, text: &str| faults(contents::runtime_in_pure, path, text);
    let driver = "//! Drives.\nuse std::fs;\n";
    assert_eq!(runtime("crates/gateway/src/lanes/drive.rs", driver), NONE);
    assert_eq!(runtime("crates/domain/src/lib.rs", driver), [2]);

    let pure = "//! Decides.\n//!\n//! Pure: rows in, verdict out.\n\nfn decide() {}\n";
    let decide = "crates/gateway/src/lanes/decide.rs";
    assert_eq!(runtime(decide, pure), NONE);
    for impure in ["async fn a() {}", "a.await;", "use tokio::time;", "axum"] {
        assert_eq!(runtime(decide, &format!("{pure}{impure}\n")), [6]);
    }
    let elsewhere = "//! Drives.\n\n//! Pure: no header line.\nuse std::fs;\n";
    assert_eq!(runtime(decide, elsewhere), NONE);
}

#[test]
fn tests_do_not_sleep() {
    let sleep = |path, text: &str| faults(contents::sleep_in_tests, path, text);
    let thread = concat!("\nstd::thread::", "sleep(a);\n");
    let tokio = concat!("tokio::time::", "sleep(a).await;\n");
    for test in [
        "crates/store/tests/it/claim.rs",
        "crates/store/src/claim/tests.rs",
        "crates/store/src/claim_tests.rs",
    ] {
        assert_eq!(sleep(test, thread), [2]);
        assert_eq!(sleep(test, tokio), [1]);
        assert_eq!(sleep(test, "signal.wait();\n"), NONE);
    }
    assert_eq!(sleep("crates/store/src/contests.rs", thread), NONE);
}

/// The lines that are found in the body of a function on a message's way.
fn polls(body: &str) -> Vec<usize> {
    let text = format!("async fn wait() {{\n{body}\n}}\n");
    faults(polling::unexplained, "crates/gateway/src/lanes.rs", &text)
}

#[test]
fn a_tick_is_found_wherever_it_stands() {
    assert_eq!(polls("    let ticks = tokio::time::interval(PAUSE);"), [2]);
    assert_eq!(polls("    let ticks = interval_at(start, PAUSE);"), [2]);
    assert_eq!(
        polls("    stream.keep_alive(Alive::new().interval(ALIVE))"),
        NONE
    );
    assert_eq!(
        polls("    fn interval() {}\n    let a = shortest_interval(b);"),
        NONE
    );
}

#[test]
fn a_pause_is_found_in_a_loop_of_any_kind_and_only_there() {
    let pause = concat!("tokio::time::", "sleep(PAUSE).await;");
    assert_eq!(polls(&format!("    {pause}")), NONE);
    let before = format!("    loop {{\n        look();\n    }}\n    {pause}");
    assert_eq!(polls(&before), NONE);
    for start in [
        "loop {",
        "'again: loop {",
        "while is_away() {",
        "for job in jobs {",
    ] {
        let body = format!("    {start}\n        look();\n\n        {pause}\n    }}");
        assert_eq!(polls(&body), [5], "{start}");
    }
    let started = "    while let Err(error) = ledger\n        .read()\n        .await\n    {\n";
    assert_eq!(polls(&format!("{started}        {pause}\n    }}")), [6]);
    let deep =
        "    loop {\n        select! {\n            () = sleep(PAUSE) => {}\n        }\n    }";
    assert_eq!(polls(deep), [4]);
    assert_eq!(
        polls("    loop {\n        sleep_until(due).await;\n    }"),
        NONE
    );
}

#[test]
fn a_pause_with_a_reason_is_left_alone() {
    let with = |above: &str| {
        polls(&format!(
            "    loop {{\n        {above}\n        sleep(PAUSE).await;\n    }}"
        ))
    };
    assert_eq!(with("// Not polling: a lease is renewed."), NONE);
    assert_eq!(with("// Not polling: because"), [4]);
    assert_eq!(with("// Waits a moment, then looks again."), [4]);
    assert_eq!(with("look();"), [4]);
}

#[test]
fn only_the_way_of_a_message_is_kept_free_of_polling() {
    let text = "fn a() {\n    loop {\n        sleep(PAUSE).await;\n    }\n}\n";
    for (path, expected) in [
        ("crates/store/src/ledger.rs", &[3][..]),
        ("crates/agents/src/tools/terminal.rs", &[3]),
        ("crates/store/benches/ledger/main.rs", &[]),
        ("crates/store/src/ledger/tests.rs", &[]),
        ("crates/sim/src/time.rs", &[]),
        ("xtask/src/postgres.rs", &[]),
    ] {
        assert_eq!(faults(polling::unexplained, path, text), expected, "{path}");
    }
}

#[test]
fn nothing_unfinished_is_left() {
    let unfinished = |text: &str| {
        let files = [file("crates/store/src/lib.rs", text)];
        lines(&contents::unfinished(&files))
    };
    for left in [
        concat!("// TO", "DO: later"),
        concat!("// FIX", "ME"),
        concat!("// XX", "X"),
        concat!("to", "do!()"),
        concat!("unimple", "mented!()"),
        concat!("#[ig", "nore = \"slow\"]"),
    ] {
        assert_eq!(unfinished(&format!("fn a() {{}}\n{left}\n")), [2], "{left}");
    }
    assert_eq!(unfinished("// the todo list of a board\n"), NONE);
}

#[test]
fn words_of_identifiers() {
    let cases = [
        ("HTTPServerV2", "http server v2"),
        ("session_manager", "session manager"),
        ("SessionManager", "session manager"),
        ("MAX_INFO", "max info"),
        ("Metadata", "metadata"),
        ("new", "new"),
        ("talaria-store", "talaria store"),
        ("", ""),
    ];
    for (identifier, expected) in cases {
        assert_eq!(words(identifier).join(" "), expected);
    }
}

#[test]
fn items_with_banned_names_are_found() {
    let items = |text: &str| faults(names::banned_in_items, "crates/store/src/lib.rs", text);
    for banned in [
        "pub struct SessionManager {",
        "    fn new_session() {}",
        "fn old_rows<'a>(a: &'a str) {}",
        "pub(crate) const fn row_data() {}",
        "pub async unsafe fn run_helper() {}",
        "const BASE: u8 = 1;",
        "static mut CORE: u8 = 1;",
        "mod common;",
        "enum ApiV2 {",
        "trait StoreImpl {}",
        "type RequestHandler = u8;",
    ] {
        assert_eq!(items(&format!("\n{banned}\n")), [2], "{banned}");
    }
}

#[test]
fn items_with_good_names_and_uses_of_others_are_not_found() {
    let items = |text: &str| faults(names::banned_in_items, "crates/store/src/lib.rs", text);
    for good in [
        "pub fn new() -> Self {",
        "struct Database;",
        "struct Metadata {",
        "fn information() {}",
        "fn renew_lease() {}",
        "const fn base64() {}",
        "use axum::handler::Handler;",
        "impl Data for Row {}",
        "// fn helper() is gone",
        "let base = 1;",
        "const _: () = ();",
    ] {
        assert_eq!(items(good), NONE, "{good}");
    }
}

#[test]
fn paths_with_banned_names_are_found() {
    let path = |path| faults(names::banned_in_path, path, "");
    assert_eq!(path("crates/store/src/util.rs"), [1]);
    assert_eq!(path("crates/store/tests/common/mod.rs"), [1]);
    assert_eq!(path("crates/store/src/new_ledger.rs"), [1]);
    assert_eq!(path("crates/store/src/database.rs"), NONE);
    assert_eq!(path("crates/store/src/renewal.rs"), NONE);
}

#[test]
fn handlers_are_for_http() {
    let items = |path| faults(names::banned_in_items, path, "fn health_handler() {}\n");
    assert_eq!(items("crates/gateway/src/lib.rs"), [1]);
    assert_eq!(items("crates/server/src/operator/health.rs"), NONE);
}

fn stray_lines(path: &str, text: &str) -> Vec<usize> {
    let platforms = ["telegram", "whatsapp", "home_assistant"];
    let config = |name| file(&format!("crates/platforms/src/{name}/config.rs"), "");
    let mut files: Vec<_> = platforms.into_iter().map(config).collect();
    files.push(file("crates/platforms/src/markup/split.rs", ""));
    files.push(file(path, text));
    lines(&platforms::strays(&files))
}

#[test]
fn a_platform_is_not_named_outside_its_folder() {
    for text in [
        "// as Telegram does",
        "use talaria_platforms::telegram::Adapter;",
        "struct TelegramAdapter;",
        "const TELEGRAM_LIMIT: u8 = 1;",
        "struct WhatsAppAdapter;",
        "\"whatsapp\" => 1,",
        "enum A { HomeAssistant }",
        "// home-assistant",
    ] {
        let lines = stray_lines("crates/gateway/src/intake.rs", &format!("\n{text}\n"));
        assert_eq!(lines, [2], "{text}");
    }
    let other = stray_lines(
        "crates/platforms/src/whatsapp/send.rs",
        "// unlike Telegram",
    );
    assert_eq!(other, [1]);
}

#[test]
fn a_platform_is_named_at_home_in_the_list_and_in_tests() {
    for path in [
        "crates/platforms/src/telegram/send.rs",
        "crates/platforms/src/lib.rs",
        "crates/sim/src/telegram/vendor.rs",
        "crates/gateway/tests/it/duplicate_update.rs",
        "crates/gateway/src/intake/tests.rs",
        "docs/telegram.md",
    ] {
        assert_eq!(stray_lines(path, "telegram"), NONE, "{path}");
    }
    for text in ["telegrams", "split markup", "home, assistant"] {
        assert_eq!(stray_lines("crates/gateway/src/intake.rs", text), NONE);
    }
}

fn arrow_lines(name: &str, text: &str) -> Vec<usize> {
    let manifest = file(&format!("crates/{name}/Cargo.toml"), text);
    lines(&arrows::wrong(&[manifest]))
}

#[test]
fn crates_depend_along_the_arrows() {
    let on = |name: &str| format!("[package]\nname = \"a\"\n\n[dependencies]\n{name}\n");
    let store = on("talaria-store.workspace = true");
    assert_eq!(arrow_lines("platforms", &store), [5]);
    assert_eq!(arrow_lines("agents", &store), [5]);
    assert_eq!(arrow_lines("domain", &store), [5]);
    assert_eq!(arrow_lines("gateway", &store), NONE);
    assert_eq!(arrow_lines("talaria", &store), NONE);
    assert_eq!(arrow_lines("sim", &on("talaria.workspace = true")), [5]);
    assert_eq!(
        arrow_lines("store", &on("# talaria-server is above us")),
        NONE
    );
}

#[test]
fn arrows_hold_in_every_spelling_of_a_dependency_but_not_for_tests() {
    let renamed = "[dependencies]\nledger = { package = \"talaria-store\", path = \"../store\" }\n";
    let table = "[dependencies.talaria-store]\nworkspace = true\n";
    let target = "[target.'cfg(unix)'.dependencies]\ntalaria-store.workspace = true\n";
    assert_eq!(arrow_lines("agents", renamed), [2]);
    assert_eq!(arrow_lines("agents", table), [1]);
    assert_eq!(arrow_lines("agents", target), [2]);
    let tests = "[dev-dependencies]\ntalaria-store.workspace = true\n\n[dependencies]\n";
    assert_eq!(arrow_lines("agents", tests), NONE);
}

#[test]
fn a_crate_without_a_line_in_the_arrows_is_found() {
    assert_eq!(arrow_lines("extras", "[package]\n"), [1]);
}

fn released(list: &str) -> Vec<usize> {
    let files = [
        file("crates/store/migrations/0001_ledger.sql", "foobar"),
        file("crates/store/migrations/RELEASED", list),
    ];
    lines(&migrations::changed(&files))
}

#[test]
fn a_released_migration_stays_as_it_is() {
    assert_eq!(released("85944171f73967e8  0001_ledger.sql\n"), NONE);
    let changed = "85944171f73967e8  0001_ledger.sql\n0000000000000000  0001_ledger.sql\n";
    assert_eq!(released(changed), [2]);
    assert_eq!(released("85944171f73967e8  0002_gone.sql\n"), [1]);
    assert_eq!(released("85944171f73967e8 0001_ledger.sql\n"), [1]);
    assert_eq!(released(""), NONE);
    assert_eq!(migrations::changed(&[]), []);
}

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(migrations::fnv1a(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(migrations::fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
}
