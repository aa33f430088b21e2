//! Tests the data folder's lock and permissions, and changes to the folder by other programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pavior_serve::storage::disk::DiskFolder;
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{RecordStore, StoreError};

use crate::client::until;
use crate::records;
use crate::server::{Server, Setup, fresh};

/// Requests a lease and returns the reply's status.
fn grant(server: &Server) -> u16 {
    server.client().post("/v1/leases", r#"{"nodes":1}"#).status
}

#[test]
fn a_second_server_does_not_start_after_the_lock_is_removed() {
    let (server, setup) = fresh(|_| {});
    assert_eq!(grant(&server), 201);
    let lock = setup.data.join("journal/lock");
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    let log = Server::refused(&setup);
    assert!(log.contains("another process is using it"), "{log}");
    assert_eq!(grant(&server), 201);
}

type Change = fn(&Path);

#[test]
fn the_service_is_read_only_after_its_folder_is_removed_or_replaced() {
    let changes: [(&str, Change); 5] = [
        ("the folder is removed", |data| fs::remove_dir_all(data).unwrap()),
        ("the records are removed", |data| fs::remove_dir_all(data.join("journal")).unwrap()),
        ("the journal is removed", |data| {
            fs::remove_file(data.join("journal").join(records::FIRST)).unwrap();
        }),
        ("the folder is moved", |data| fs::rename(data, data.with_extension("moved")).unwrap()),
        ("the folder is replaced by a copy", |data| {
            let moved = data.with_extension("moved");
            fs::rename(data, &moved).unwrap();
            fs::create_dir_all(data.join("journal")).unwrap();
            for entry in fs::read_dir(moved.join("journal")).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), data.join("journal").join(entry.file_name())).unwrap();
            }
        }),
    ];
    for (what, change) in changes {
        let (server, setup) = fresh(|_| {});
        assert_eq!(grant(&server), 201);
        change(&setup.data);
        let mut client = server.client();
        let refused = client.post("/v1/leases", r#"{"nodes":1}"#);
        assert_eq!(refused.status, 503, "{what}: {}", refused.text);
        let detail = refused.json().to_string();
        assert!(detail.contains("removed or replaced"), "{what}: {detail}");
        assert_eq!(client.get("/readyz").status, 503, "{what}");
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn only_the_owner_can_read_the_records() {
    let (server, setup) = fresh(|setup| setup.snapshot_every = 5);
    for _ in 0..12 {
        assert_eq!(grant(&server), 201);
    }
    let records = setup.data.join("journal");
    let check_modes = |what: &str| {
        assert_eq!(mode(&records), 0o700, "{what}");
        let mut names = Vec::new();
        for entry in fs::read_dir(&records).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{what}: {}", path.display());
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
        names
    };
    let mut server = server;
    server.stop();
    let names = check_modes("after creation");
    for kind in ["journal-", "snapshot-", "mark", "lock"] {
        assert!(names.iter().any(|name| name.starts_with(kind)), "{kind} is in {names:?}");
    }
    assert_eq!(mode(&setup.data), 0o755);
    // The next start removes other users' access and logs the change.
    fs::set_permissions(&records, fs::Permissions::from_mode(0o755)).unwrap();
    for name in names {
        fs::set_permissions(records.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let log = setup.data.with_extension("tightened");
    let again = Server::start(&Setup { log: Some(log.clone()), ..setup.clone() });
    check_modes("after a restart");
    assert_eq!(grant(&again), 201);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("removed other users' access to files"), "{log}");
}

#[test]
fn a_snapshot_that_could_not_be_saved_is_saved_later() {
    // The records' total size triggers a snapshot long before their number would.
    let (server, setup) = fresh(|setup| {
        setup.log = Some(setup.data.with_extension("snapshots"));
        setup.history_bytes = 1;
    });
    let obstacle = setup.data.join("journal/snapshot.new");
    fs::create_dir(&obstacle).unwrap();
    let mut client = server.client();
    until("a failure", || {
        let lease = client.lease(r#"{"nodes":4}"#);
        client.end(&lease);
        fs::read_to_string(setup.log.as_ref().unwrap()).unwrap().contains("cannot save a snapshot")
    });
    fs::remove_dir(&obstacle).unwrap();
    let names = || fs::read_dir(setup.data.join("journal")).unwrap().flatten();
    until("a snapshot", || {
        names().any(|entry| entry.file_name().to_string_lossy().starts_with("snapshot-"))
    });
}

#[test]
fn a_server_does_not_start_without_its_earlier_records() {
    let (mut server, setup) = fresh(|_| {});
    assert_eq!(grant(&server), 201);
    server.stop();
    fs::remove_dir_all(setup.data.join("journal")).unwrap();
    let log = Server::refused(&setup);
    assert!(log.contains("is missing"), "{log}");
    fs::create_dir(setup.data.join("journal")).unwrap();
    let log = Server::refused(&setup);
    assert!(log.contains("no journal in "), "{log}");
}

#[test]
fn a_folder_stays_locked_after_its_lock_file_is_removed() {
    let folder = tempfile::TempDir::new().unwrap();
    let disk = DiskFolder::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("lock")).unwrap();
    let error = DiskFolder::open(folder.path()).err().expect("the folder is locked");
    assert!(error.to_string().contains("another process"), "{error}");
    let (mut journal, _) = JournalStore::open(std::sync::Arc::new(disk)).unwrap();
    fs::remove_file(folder.path().join(records::FIRST)).unwrap();
    let error = journal.idle().expect_err("the journal file was removed");
    assert!(matches!(error, StoreError::Failed(_)), "{error}");
}

#[test]
fn a_file_in_place_of_the_folder_is_refused_with_its_option() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("data");
    fs::write(&file, "precious").unwrap();
    let log = Server::refused(&Setup::new(&file));
    let named = format!("--data {}: it is not a directory", file.display());
    assert!(log.contains(&named), "{log}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}
