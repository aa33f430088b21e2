//! The online backup of docs/service.md, again and again under load.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use pavior_serve::storage::RecordStore;
use pavior_serve::storage::disk::DiskFolder;
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::writer::recover;

use crate::client::Client;
use crate::decisions::limits;
use crate::kills::{Target, client};
use crate::server::fresh;

/// The lines of the documented backup, as they stand there.
fn documented() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let lines: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("mkdir -m 700 -p COPY"))
        .take_while(|line| !line.starts_with("```"))
        .collect();
    assert!(lines.len() > 1, "the page has a backup");
    lines.join("\n")
}

/// Carries the backup out; false if a file went meanwhile, and it is to be done again.
fn copy(data: &Path, to: &Path) -> bool {
    let quoted = |path: &Path| format!("'{}'", path.display());
    let lines = documented().replace("DATA", &quoted(data)).replace("COPY", &quoted(to));
    let output = Command::new("sh").args(["-e", "-c", &lines]).output().expect("there is a shell");
    output.status.success()
}

#[test]
fn a_backup_under_load_is_whole() {
    let (server, setup) = fresh(|setup| {
        setup.machine = "mesh:16x16".into();
        (setup.snapshot_every, setup.history) = (400, 4000);
    });
    let target = Target {
        address: Arc::new(Mutex::new(server.address.clone())),
        stop: Arc::new(AtomicBool::new(false)),
        answered: Arc::new(AtomicU64::new(0)),
    };
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let target = target.clone();
            std::thread::spawn(move || client(number, &target))
        })
        .collect();
    let seq = || Client::new(&server.address).get("/readyz").unwrap().json()["seq"].as_u64();
    while seq() < Some(500) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (mut tried, mut failed, mut again) = (0, 0, 0);
    let copies = setup.data.with_extension("copies");
    let rounds = pavior_trials::size(15, 200);
    while tried < rounds {
        let to = copies.join(format!("{}", tried + again));
        let before = seq().expect("a number");
        if !copy(&setup.data, &to) {
            again += 1;
            assert!(again < rounds, "a file goes meanwhile only now and then");
            continue;
        }
        tried += 1;
        let restored = DiskFolder::open(&to.join("journal"))
            .map_err(|error| error.to_string())
            .and_then(|disk| JournalStore::open(Arc::new(disk)).map_err(|error| error.to_string()))
            .and_then(|(journal, _)| {
                let state = recover(&*journal.history(), u64::MAX, &limits(), 1);
                state.map_err(|error| error.to_string())
            });
        let whole = restored.as_ref().is_ok_and(|state| state.seq() >= before);
        if !whole {
            println!("round {tried}: {:?}, at least {before}", restored.map(|state| state.seq()));
            failed += 1;
        }
        fs::remove_dir_all(&to).unwrap();
    }
    target.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for thread in threads {
        drop(thread.join().unwrap());
    }
    println!("{again} copies done again, for a file had gone");
    pavior_trials::attacked("data", "online backups under load", tried, failed);
}
