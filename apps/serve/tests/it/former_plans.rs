//! Checks that records and snapshots of plans, which earlier versions carried out, are refused
//! before anything is written. `pavior serve` at 231454ad, the last such version, wrote the files
//! in `tests/former_plans`: a lease was moved, and another lease's request was requeued.

use std::sync::Arc;

use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::frame::{self, Frame};
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::postgres::{PostgresStore, address};
use pavior_serve::storage::{RecordStore, StoreError};
use postgres::{Client, NoTls};

use crate::disk::{Simulated, files, state_of};
use crate::records::{FIRST, after_snapshot, folder};
use crate::takeover::{Database, patience};

/// The journal with all records of a plan.
const JOURNAL: &[u8] = include_bytes!("../former_plans/journal.log");
/// The last record during the plan, and its snapshot.
const UNDER_WAY: (u64, &[u8]) = (7, include_bytes!("../former_plans/under-way.json"));
/// The first record after the plan, and its snapshot.
const OVER: (u64, &[u8]) = (13, include_bytes!("../former_plans/over.json"));

/// Returns the journal's records as lines of JSON.
fn lines() -> Vec<String> {
    let text = String::from_utf8_lossy(JOURNAL);
    let records = text.lines().filter_map(|line| line.find("{\"seq\":").map(|at| &line[at..]));
    records.map(str::to_string).collect()
}

fn kind(line: &str) -> &str {
    let event = line.split("\"event\":").nth(1).unwrap();
    event.trim_start_matches(['{', '"']).split('"').next().unwrap()
}

/// Checks that a disk is refused and unchanged, both as it is and with a torn write at its end.
/// Returns the error.
fn refused(disk: &Simulated) -> StoreError {
    let torn = disk.copy();
    let last = disk.list().unwrap().into_iter().filter(|name| name.starts_with("journal-")).max();
    torn.change(&last.unwrap(), |mut bytes| {
        // The beginning of a frame, after the format frame.
        bytes.extend(&JOURNAL[65..150]);
        Some(bytes)
    });
    let [whole, torn] = [disk, &torn].map(|disk| {
        let before = files(disk);
        let refused = JournalStore::open(Arc::new(disk.clone())).err().expect("it is refused");
        assert_eq!(files(disk), before, "{refused}");
        refused
    });
    assert_eq!(whole, torn);
    whole
}

/// Checks that an error is about a plan, and names the location of the record.
fn is_of_plan(error: &StoreError, named: &str, what: &str) {
    let text = error.to_string();
    assert!(matches!(error, StoreError::Plan { .. }), "{text}");
    assert!(text.starts_with(&format!("{named}: found ")), "{text}");
    assert!(text.contains(&format!("found {what}")), "{text}");
    assert!(text.contains("docs/upgrading.md"), "{text}");
}

#[test]
fn a_journal_with_records_of_plans_is_refused_and_stays() {
    let expected = "record 4 of kind \"planned\" at offset ";
    is_of_plan(&refused(&folder(JOURNAL)), FIRST, expected);
    // The same applies without a mark.
    let unmarked = folder(JOURNAL);
    unmarked.change("mark", |_| None);
    is_of_plan(&refused(&unmarked), FIRST, expected);
    // The same applies with a later snapshot of the state.
    let disk = after_snapshot(OVER.0, OVER.1);
    disk.put(FIRST, JOURNAL);
    is_of_plan(&refused(&disk), FIRST, expected);
}

#[test]
fn each_kind_of_record_about_plans_is_named() {
    let lines = lines();
    let mut kinds = Vec::new();
    for line in &lines[3..] {
        let requeued = line.contains("\"why\":\"requeued\"");
        if !["planned", "moved", "plan-over"].contains(&kind(line)) && !requeued {
            continue;
        }
        let mut bytes = frame::format();
        let seq = &line[7..line.find(',').unwrap()];
        let line = line.replacen(&format!("\"seq\":{seq}"), "\"seq\":4", 1);
        let body = format!("{}\n{line}\n", lines[..3].join("\n"));
        bytes.extend(Frame { first: 1, count: 4, body: body.as_bytes() }.bytes());
        let expected = format!("record 4 of kind {:?} at offset ", kind(&line));
        is_of_plan(&refused(&folder(&bytes)), FIRST, &expected);
        kinds.push(kind(&line).to_string());
    }
    assert_eq!(kinds, ["planned", "ended", "moved", "plan-over"]);
}

#[test]
fn a_snapshot_with_a_plan_under_way_is_refused_and_one_with_plans_that_are_over_is_read() {
    let error = refused(&after_snapshot(UNDER_WAY.0, UNDER_WAY.1));
    let name = format!("snapshot-{:020}.json", UNDER_WAY.0);
    is_of_plan(&error, &name, "plan 3 (under way) at offset ");

    assert!(String::from_utf8_lossy(OVER.1).contains("\"plans\":[{\"id\":3,"));
    let disk = after_snapshot(OVER.0, OVER.1);
    let (journal, _) = JournalStore::open(Arc::new(disk)).unwrap();
    let state = state_of(&*journal.history(), u64::MAX).unwrap().snapshot();
    assert_eq!((state.seq, state.leases.len(), state.waiting.len()), (OVER.0, 1, 1));
    assert_eq!(state.reservations.len(), 1, "the reservation made by the plan is kept");
    assert!(!serde_json::to_string(&state).unwrap().contains("plans"));
    // A snapshot with an empty list of plans is accepted.
    let text = String::from_utf8_lossy(OVER.1);
    let (at, end) = (text.find("\"plans\":[").unwrap() + 9, text.find("],\"kept\":").unwrap());
    let body = text[..at].to_string() + &text[end..text.len() - 17];
    let sum = frame::sum(body.as_bytes());
    let disk = after_snapshot(OVER.0, format!("{body}{sum:016x}\n").as_bytes());
    let (journal, _) = JournalStore::open(Arc::new(disk)).unwrap();
    assert_eq!(state_of(&*journal.history(), u64::MAX).unwrap().snapshot(), state);
}

fn rows(client: &mut Client) -> Vec<String> {
    let tables = ["pavior_leader", "pavior_journal", "pavior_snapshot"];
    let all = tables.map(|table| {
        let query = format!("SELECT t::text FROM {table} AS t ORDER BY 1");
        let found = client.query(query.as_str(), &[]).unwrap();
        found.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()
    });
    all.concat()
}

/// Returns a row's checksum, given the previous row's.
fn chained(before: i64, seq: usize, text: &str) -> i64 {
    let seq = (seq as u64).to_le_bytes();
    frame::sum(&[&before.to_le_bytes()[..], &seq, text.as_bytes()].concat()) as i64
}

/// Fills a database with records, or with a snapshot in place of the first ones.
fn fill(url: &str, lines: &[String], snapshot: Option<(u64, &[u8])>) -> Client {
    PostgresStore::open(address(url).unwrap(), "test", patience(3.0)).unwrap().close();
    let mut client = Client::connect(url, NoTls).unwrap();
    let (mut sum, mut last) = (0, 0);
    let count = snapshot.map_or(lines.len(), |(seq, _)| seq as usize);
    for (line, seq) in lines[..count].iter().zip(1..) {
        (sum, last) = (chained(sum, seq, line), seq as i64);
        let insert = "INSERT INTO pavior_journal VALUES ($1, 1, $2, $3)";
        client.execute(insert, &[&last, line, &sum]).unwrap();
    }
    if let Some((_, bytes)) = snapshot {
        let text = std::str::from_utf8(&bytes[..bytes.len() - 17]).unwrap();
        let own = chained(sum, count, text);
        let insert = "INSERT INTO pavior_snapshot VALUES ($1, $2, $3, $4)";
        client.execute(insert, &[&last, &text, &sum, &own]).unwrap();
        client.execute("DELETE FROM pavior_journal", &[]).unwrap();
    }
    let update = "UPDATE pavior_leader SET seq = $1, sum = $2";
    client.execute(update, &[&last, &sum]).unwrap();
    client
}

#[test]
fn rows_of_plans_and_of_unknown_kinds_are_refused_and_stay() {
    let Some(database) = Database::start() else { return };
    let mut admin = Client::connect(&database.url(), NoTls).unwrap();
    let mut refused = |name: &str, lines: &[String], snapshot: Option<(u64, &[u8])>| {
        admin.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        let url = database.url_of(name);
        let mut client = fill(&url, lines, snapshot);
        let before = rows(&mut client);
        let opened = PostgresStore::open(address(&url).unwrap(), "test", patience(3.0));
        assert_eq!(rows(&mut client), before, "{name}");
        opened.err().expect("it is refused")
    };
    let mut lines = lines();
    let error = refused("records", &lines, None);
    is_of_plan(&error, "pavior_journal", "record 4 of kind \"planned\" at offset ");
    let error = refused("state", &lines, Some(UNDER_WAY));
    is_of_plan(&error, "pavior_snapshot", "plan 3 (under way) at offset ");
    lines[3] = lines[3].replace("planned", "novel");
    let error = refused("novel", &lines, None).to_string();
    let place = "pavior_journal: found record 4 of kind \"novel\"";
    assert!(error.starts_with(place), "{error}");
    assert!(error.contains("at offset 4, written by another version"), "{error}");
}
