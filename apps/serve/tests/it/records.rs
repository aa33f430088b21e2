//! Builds random records, and journal files that contain them. Also tests unusual journal files.

use std::sync::Arc;

use pavior_serve::core::{ServiceRecord, StateSnapshot};
use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::frame::{self, Frame};
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{RecordStore, StoreError};

use crate::decisions::begin;
use crate::disk::Simulated;
use crate::random::{Random, command};

pub(crate) const FIRST: &str = "journal-00000000000000000001.log";

/// Returns a journal file with one frame per group.
pub(crate) fn file(groups: &[Vec<ServiceRecord>]) -> Vec<u8> {
    [frame::format(), frames(groups)].concat()
}

/// Returns one frame per group.
pub(crate) fn frames(groups: &[Vec<ServiceRecord>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for group in groups {
        let lines = group.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
        let body: String = lines.collect();
        let (first, count) = (group[0].seq, group.len() as u32);
        bytes.extend(Frame { first, count, body: body.as_bytes() }.bytes());
    }
    bytes
}

/// Returns the contents of a mark file.
pub(crate) fn mark(file: u64, length: usize, next: u64) -> Vec<u8> {
    let body = format!("0 {file} {length}\n");
    let mut bytes = Frame { first: next, count: 0, body: body.as_bytes() }.bytes();
    bytes.resize(8192, 0);
    bytes
}

/// Returns a folder that contains `bytes` as its first journal file, and the mark of a new journal.
pub(crate) fn folder(bytes: &[u8]) -> Simulated {
    let disk = Simulated::default();
    disk.put(FIRST, bytes);
    disk.put("mark", &mark(1, 0, 1));
    disk
}

/// Returns a folder with an empty journal and a snapshot of record `seq`, whose content is `bytes`.
pub(crate) fn after_snapshot(seq: u64, bytes: &[u8]) -> Simulated {
    let disk = Simulated::default();
    disk.put(&format!("snapshot-{seq:020}.json"), bytes);
    disk.put(&format!("journal-{:020}.log", seq + 1), &frame::format());
    disk.put("mark", &mark(seq + 1, frame::format().len(), seq + 1));
    disk
}

/// Returns groups of random records, and the state after them.
pub(crate) fn groups(seed: u64, many: usize) -> (Vec<Vec<ServiceRecord>>, StateSnapshot) {
    let (mut state, first) = begin(Some("fcfs"));
    let (mut groups, mut random, mut now) = (vec![vec![first]], Random(seed), 0);
    while groups.len() < many {
        let mut records = Vec::new();
        for _ in 0..=random.below(4) {
            now += random.below(50);
            let (caller, key, command) = command(&mut random, &state);
            state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        if !records.is_empty() {
            groups.push(records);
        }
    }
    (groups, state.snapshot())
}

#[test]
fn a_journal_without_a_format_frame_is_refused_and_unchanged() {
    let (groups, _) = groups(3, 12);
    let bytes = frames(&groups);
    // The journal is refused with or without a mark.
    for disk in [folder(&bytes), Simulated::default()] {
        disk.put(FIRST, &bytes);
        let refused = JournalStore::open(Arc::new(disk.clone())).err();
        assert!(matches!(refused, Some(StoreError::OtherVersion { .. })), "{refused:?}");
        assert_eq!(disk.read(FIRST).unwrap(), bytes);
    }
}

#[test]
fn a_truncated_write_is_cut_off_and_saved() {
    let (groups, _) = groups(1, 12);
    let whole = file(&groups);
    let before = file(&groups[..11]).len();
    for length in before + 1..whole.len() {
        let disk = folder(&whole[..length]);
        let (_, opened) = JournalStore::open(Arc::new(disk.clone())).unwrap();
        assert_eq!(opened.cut, (length - before) as u64);
        let kept = opened.kept.expect("the tail is saved");
        assert_eq!(kept, format!("{FIRST}.cut-{before:012}"));
        assert_eq!(disk.read(&kept).unwrap(), &whole[before..length]);
    }
}

#[test]
fn the_number_of_saved_cuts_is_bounded() {
    let disk = Simulated::default();
    let (groups, _) = groups(2, 40);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    for group in groups {
        journal.append(&group).unwrap();
        disk.change(FIRST, |mut bytes| {
            bytes.extend([7; 99]);
            Some(bytes)
        });
        journal = JournalStore::open(Arc::new(disk.clone())).unwrap().0;
    }
    let cuts = disk.list().unwrap().into_iter().filter(|name| name.contains(".cut-"));
    assert_eq!(cuts.count(), 8);
}
