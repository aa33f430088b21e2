//! Tests that changed or missing database rows are detected.

use pavior_serve::core::{ServiceRecord, ServiceState};
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::postgres::{PostgresStore, address};
use postgres::{Client, NoTls};

use crate::disk::state_of;
use crate::records;
use crate::takeover::{Database, patience};

/// Statements that damage a database while no server uses it.
const DAMAGES: [&str; 18] = [
    "UPDATE pavior_journal SET record = replace(record, '\"at_ms\":', '\"at_ms\":1') WHERE seq = 3",
    "UPDATE pavior_journal SET record = replace(record, '\"at_ms\":', '\"at_ms\":1') WHERE seq =
        (SELECT max(seq) FROM pavior_journal)",
    "UPDATE pavior_journal SET record = replace(record, '\"at_ms\":', '\"at_ms\":1') WHERE seq =
        (SELECT min(seq) FROM pavior_snapshot) + 1",
    "UPDATE pavior_journal SET sum = sum + 1 WHERE seq = 5",
    "UPDATE pavior_journal AS a SET record = b.record FROM pavior_journal AS b
        WHERE a.seq = 4 AND b.seq = 5",
    "DELETE FROM pavior_journal WHERE seq = 1",
    "DELETE FROM pavior_journal WHERE seq < 4",
    "DELETE FROM pavior_journal WHERE seq = 6",
    "DELETE FROM pavior_journal WHERE seq = (SELECT max(seq) FROM pavior_journal)",
    "DELETE FROM pavior_journal WHERE seq > (SELECT min(seq) FROM pavior_snapshot)",
    "DELETE FROM pavior_journal WHERE seq <= (SELECT min(seq) FROM pavior_snapshot);
        DELETE FROM pavior_snapshot",
    "DELETE FROM pavior_journal",
    "DROP TABLE pavior_journal",
    "DROP TABLE pavior_journal; DROP TABLE pavior_snapshot",
    "UPDATE pavior_snapshot SET body = replace(body, '\"now_ms\":', '\"now_ms\":1')",
    "UPDATE pavior_snapshot SET chain = chain + 1",
    "UPDATE pavior_leader SET seq = seq - 1",
    "UPDATE pavior_leader SET sum = sum + 1",
];

fn store(url: &str, holder: &str, patience_s: f64) -> Result<PostgresStore, String> {
    let opened =
        address(url).and_then(|config| PostgresStore::open(config, holder, patience(patience_s)));
    opened.map_err(|error| error.to_string())
}

fn opened(url: &str) -> Result<ServiceState, String> {
    let mut store = store(url, "test", 3.0)?;
    let state = state_of(&*store.history(), u64::MAX);
    store.close();
    state
}

/// Stores records, with a snapshot of the first half.
fn fill(url: &str, records: &[ServiceRecord]) {
    let mut store = store(url, "test", 3.0).unwrap();
    let half = records.len() / 2;
    store.append(&records[..half]).unwrap();
    let history = store.history();
    history.save(&state_of(&*history, u64::MAX).unwrap().snapshot()).unwrap();
    for record in &records[half..] {
        store.append(std::slice::from_ref(record)).unwrap();
    }
    store.close();
}

#[test]
fn changed_and_missing_rows_are_found() {
    let Some(database) = Database::start() else { return };
    let (groups, state) = records::groups(8, 30);
    let mut admin = Client::connect(&database.url(), NoTls).unwrap();
    admin.batch_execute("CREATE DATABASE whole").unwrap();
    fill(&database.url_of("whole"), &groups.concat());
    let whole = opened(&database.url_of("whole"));
    assert_eq!(whole.map(|found| found.snapshot()), Ok(state));
    let (mut tried, mut failed) = (0, 0);
    for (index, damage) in DAMAGES.iter().enumerate() {
        let name = format!("try{index}");
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE whole")).unwrap();
        let url = database.url_of(&name);
        Client::connect(&url, NoTls).unwrap().batch_execute(damage).unwrap();
        tried += 1;
        let found = opened(&url);
        if found.is_ok() {
            println!("not detected: {damage}");
            failed += 1;
        }
    }
    pavior_trials::attacked("data", "rows of PostgreSQL changed or removed", tried, failed);
}

/// The tables of a build from before 0.1.0.
const FORMER: &str = "
    CREATE TABLE pavior_leader (one boolean PRIMARY KEY DEFAULT true CHECK (one),
        epoch bigint NOT NULL, holder text NOT NULL, beat timestamptz NOT NULL);
    CREATE TABLE pavior_journal (
        seq bigint PRIMARY KEY, epoch bigint NOT NULL, record text NOT NULL);
    CREATE TABLE pavior_snapshot (seq bigint PRIMARY KEY, body text NOT NULL);
    INSERT INTO pavior_leader VALUES (true, 1, 'former', clock_timestamp());";

#[test]
fn tables_of_a_build_before_the_first_release_are_refused() {
    let Some(database) = Database::start() else { return };
    Client::connect(&database.url(), NoTls).unwrap().batch_execute(FORMER).unwrap();
    let said = opened(&database.url()).err().expect("it is refused");
    assert!(said.contains("builds before 0.1.0"), "{said}");
}
