//! Tests the online backup from docs/operating.md repeatedly under load.

use std::fs;
use std::path::Path;
use std::process::Command;

use pavior_serve::storage::disk::DiskFolder;

use crate::client::{number, until};
use crate::disk::opened;
use crate::kills::Load;
use crate::server::fresh;

/// Returns the backup commands exactly as documented.
fn documented() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
    let page = fs::read_to_string(page).expect("the page exists");
    let lines: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("mkdir -m 700 -p COPY"))
        .take_while(|line| !line.starts_with("```"))
        .collect();
    assert!(lines.len() > 1, "the page has a backup");
    lines.join("\n")
}

/// Runs the backup. Returns false if it must be repeated because a file has disappeared or been
/// replaced. Panics on any other failure.
fn copy(data: &Path, to: &Path) -> bool {
    let quoted = |path: &Path| format!("'{}'", path.display());
    let lines = documented().replace("DATA", &quoted(data)).replace("COPY", &quoted(to));
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &lines]).env("LC_ALL", "C");
    let output = shell.output().expect("the shell can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_gone = |line: &str| line.contains("No such file") || line.contains("was replaced");
    let is_repeated = !errors.is_empty() && errors.lines().all(is_gone);
    assert!(output.status.success() || is_repeated, "{errors}");
    output.status.success()
}

#[test]
fn a_backup_under_load_contains_all_acknowledged_records() {
    let (server, setup) = fresh(|setup| {
        setup.machine = "mesh:16x16".into();
        (setup.snapshot_every, setup.history) = (400, 4000);
    });
    let load = Load::start(&server, 4);
    let seq = || number(&server.client().get("/readyz").json()["seq"]);
    until("some records", || seq() >= 500);
    let (mut tried, mut failed, mut again) = (0, 0, 0);
    let copies = setup.data.with_extension("copies");
    let rounds = pavior_trials::size(15, 15, 200);
    while tried < rounds {
        let to = copies.join(format!("{}", tried + again));
        let before = seq();
        if !copy(&setup.data, &to) {
            again += 1;
            assert!(again < rounds, "a file disappears or is replaced only occasionally");
            continue;
        }
        tried += 1;
        let restored = DiskFolder::open(&to.join("journal"))
            .map_err(|error| error.to_string())
            .and_then(|disk| opened(disk).map(|(_, state)| state));
        let whole = restored.as_ref().is_ok_and(|state| state.seq() >= before);
        if !whole {
            println!("round {tried}: {:?}, at least {before}", restored.map(|state| state.seq()));
            failed += 1;
        }
        fs::remove_dir_all(&to).unwrap();
    }
    drop(load.end());
    println!("{again} copies repeated because a file had disappeared or was replaced");
    pavior_trials::attacked("data", "online backups under load", tried, failed);
}
