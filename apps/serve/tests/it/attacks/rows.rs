//! Tests that changed or missing database rows are detected.

use pavior_serve::core::{ServiceRecord, ServiceState};
use pavior_serve::storage::postgres::PostgresStore;
use pavior_serve::storage::{RecordStore, frame};
use postgres::{Client, NoTls};

use crate::disk::state_of;
use crate::records;
use crate::takeover::{Database, timeouts};

/// The seed for the random groups of records, and the number of groups.
const SEED: u64 = 8;
const GROUPS: usize = 30;

/// An assignment that changes a record's time, substituted for `ALTER` in the statements.
const ALTER: &str = "record = replace(record, '\"at_ms\":', '\"at_ms\":1')";

/// Ways to damage an idle database, each with a name and SQL statements.
const DAMAGES: &[(&str, &str)] = &[
    ("an early record altered", "UPDATE pavior_journal SET ALTER WHERE seq = 3"),
    (
        "the last record altered",
        "UPDATE pavior_journal SET ALTER WHERE seq = (SELECT max(seq) FROM pavior_journal)",
    ),
    (
        "the first record after the snapshot altered",
        "UPDATE pavior_journal SET ALTER WHERE seq = (SELECT min(seq) FROM pavior_snapshot) + 1",
    ),
    ("a checksum altered", "UPDATE pavior_journal SET sum = sum + 1 WHERE seq = 5"),
    (
        "a record replaced by the next",
        "UPDATE pavior_journal AS a SET record = b.record FROM pavior_journal AS b
            WHERE a.seq = 4 AND b.seq = 5",
    ),
    ("the first record removed", "DELETE FROM pavior_journal WHERE seq = 1"),
    ("the first three records removed", "DELETE FROM pavior_journal WHERE seq < 4"),
    ("an early record removed", "DELETE FROM pavior_journal WHERE seq = 6"),
    (
        "the last record removed",
        "DELETE FROM pavior_journal WHERE seq = (SELECT max(seq) FROM pavior_journal)",
    ),
    (
        "all records after the snapshot removed",
        "DELETE FROM pavior_journal WHERE seq > (SELECT min(seq) FROM pavior_snapshot)",
    ),
    (
        "the snapshot and all records before it removed",
        "DELETE FROM pavior_journal WHERE seq <= (SELECT min(seq) FROM pavior_snapshot);
            DELETE FROM pavior_snapshot",
    ),
    ("all records removed", "DELETE FROM pavior_journal"),
    ("the journal dropped", "DROP TABLE pavior_journal"),
    ("both tables dropped", "DROP TABLE pavior_journal; DROP TABLE pavior_snapshot"),
    (
        "the snapshot altered",
        "UPDATE pavior_snapshot SET body = replace(body, '\"now_ms\":', '\"now_ms\":1')",
    ),
    ("the snapshot's checksum altered", "UPDATE pavior_snapshot SET chain = chain + 1"),
    ("the leader's last record altered", "UPDATE pavior_leader SET seq = seq - 1"),
    ("the leader's checksum altered", "UPDATE pavior_leader SET sum = sum + 1"),
];

fn store(url: &str) -> Result<PostgresStore, String> {
    let opened = PostgresStore::open(url.parse().unwrap(), "test", timeouts(3.0));
    opened.map_err(|error| error.to_string())
}

fn opened(url: &str) -> Result<ServiceState, String> {
    let mut store = store(url)?;
    let state = state_of(&*store.history(), u64::MAX);
    store.close();
    state
}

/// Stores records, with a snapshot of the first half.
fn fill(url: &str, records: &[ServiceRecord]) {
    let mut store = store(url).unwrap();
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
fn changed_and_missing_rows_are_detected() {
    let Some(database) = Database::start() else { return };
    let (groups, state) = records::groups(SEED, GROUPS);
    let mut admin = Client::connect(&database.url(), NoTls).unwrap();
    admin.batch_execute("CREATE DATABASE whole").unwrap();
    fill(&database.url_of("whole"), &groups.concat());
    let whole = opened(&database.url_of("whole"));
    assert_eq!(whole.map(|found| found.snapshot()), Ok(state));
    // The next snapshot is due at the same time as without a restart.
    let mut again = store(&database.url_of("whole")).unwrap();
    let later = &groups.concat()[groups.concat().len() / 2..];
    let texts = later.iter().map(|record| serde_json::to_string(record).unwrap().len() as u64);
    assert_eq!(again.size(), texts.sum::<u64>());
    again.close();
    drop(again);
    let (mut tried, mut failed) = (0, 0);
    for (index, (damage, statement)) in DAMAGES.iter().enumerate() {
        let name = format!("try{index}");
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE whole")).unwrap();
        let url = database.url_of(&name);
        let statement = statement.replace("ALTER", ALTER);
        Client::connect(&url, NoTls).unwrap().batch_execute(&statement).unwrap();
        tried += 1;
        // Any other error, such as a refused connection, does not count as detection.
        let error = opened(&url).err().unwrap_or_default();
        if !(error.starts_with("pavior_") && error.contains(" is damaged at offset ")) {
            println!("not detected: {damage}: {error}");
            failed += 1;
        }
    }
    pavior_trials::attacked("data", "rows of PostgreSQL changed or removed", tried, failed);
}

#[test]
fn rows_of_an_unknown_kind_are_refused_and_unchanged() {
    let Some(database) = Database::start() else { return };
    let url = database.url();
    let (groups, _) = records::groups(SEED, GROUPS);
    fill(&url, &groups.concat());
    let mut client = Client::connect(&url, NoTls).unwrap();
    // Give the last record an unknown kind and a valid checksum, as a newer writer would.
    let query = "SELECT seq, record, (SELECT sum FROM pavior_journal WHERE seq = last.seq - 1)
        FROM pavior_journal AS last ORDER BY seq DESC LIMIT 1";
    let row = client.query_one(query, &[]).unwrap();
    let (seq, record, before): (i64, String, i64) = (row.get(0), row.get(1), row.get(2));
    // An event is either an object whose only member is named after its kind, or the kind alone.
    let known = record;
    let record = known.replacen("\"event\":{\"", "\"event\":{\"novel-", 1);
    let record = record.replacen("\"event\":\"", "\"event\":\"novel-", 1);
    assert_ne!(record, known);
    let chained = [&before.to_le_bytes()[..], &seq.to_le_bytes(), record.as_bytes()].concat();
    let sum = frame::sum(&chained) as i64;
    let update = "UPDATE pavior_journal SET record = $1, sum = $2 WHERE seq = $3";
    client.execute(update, &[&record, &sum, &seq]).unwrap();
    client.execute("UPDATE pavior_leader SET sum = $1", &[&sum]).unwrap();
    let error = opened(&url).err().expect("the row is refused");
    let kind = format!("pavior_journal: found record {seq} of kind \"novel-");
    assert!(error.starts_with(&kind), "{error}");
    let version = format!("at offset {seq}; this was written by another version");
    assert!(error.contains(&version), "{error}");
    let stored = client.query_one("SELECT record FROM pavior_journal WHERE seq = $1", &[&seq]);
    assert_eq!(stored.unwrap().get::<_, String>(0), record);
}
