//! The format before the mark: how a former program wrote a folder, and how it reads one.

use std::sync::Arc;

use pavior_serve::core::{ServiceRecord, StateSnapshot};
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::frame::{self, Found, Frame};
use pavior_serve::storage::journal::JournalStore;

use crate::decisions::begin;
use crate::disk::{Fault, Simulated, opened};
use crate::random::{Random, command};

pub(crate) const FIRST: &str = "journal-00000000000000000001.log";

/// The bytes of a former program's file: a frame a group, and a seal if it had rested.
pub(crate) fn file(groups: &[Vec<ServiceRecord>], sealed: bool) -> Vec<u8> {
    let (mut bytes, mut next) = (Vec::new(), 1);
    for group in groups {
        let lines = group.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
        let body: String = lines.collect();
        next = group[0].seq;
        let count = group.len() as u32;
        bytes.extend(Frame { first: next, count, body: body.as_bytes() }.bytes());
        next += u64::from(count);
    }
    if sealed {
        bytes.extend(Frame { first: next, count: 0, body: b"" }.bytes());
    }
    bytes
}

/// Groups of random records, and the state after them.
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

/// Whether a name is that of a file of the journal, and not that of a cut beside it.
fn is_journal(name: &str) -> bool {
    let digits = name.strip_prefix("journal-").and_then(|rest| rest.strip_suffix(".log"));
    digits.is_some_and(|digits| digits.len() == 20)
}

/// What a former program does with a folder: the number of the last record, or why it refuses. It
/// cuts off, without a word of what it was, all that this takes for a tail.
pub(crate) fn opens(disk: &dyn Disk) -> Result<u64, String> {
    let mut names = disk.list().unwrap();
    names.retain(|name| is_journal(name));
    names.sort_unstable();
    let start = |name: &str| name["journal-".len()..][..20].parse::<u64>().unwrap();
    let Some(first) = names.first() else { return Ok(0) };
    let mut next = start(first);
    for (index, name) in names.iter().enumerate() {
        let (bytes, last) = (disk.read(name).unwrap(), index + 1 == names.len());
        if start(name) != next {
            return Err(format!("{name} begins elsewhere than at {next}"));
        }
        let mut offset = 0;
        loop {
            match frame::at(&bytes, offset) {
                Found::Flipped => return Err("one bit is turned".into()),
                Found::Nothing | Found::Foreign if !last => return Err("no frame".into()),
                Found::Nothing | Found::Foreign if frame::follows(&bytes, offset) => {
                    return Err("one follows".into());
                }
                Found::End | Found::Nothing | Found::Foreign => break,
                Found::Frame(frame, end) => {
                    if frame.first != next {
                        return Err(format!("record {} stands where {next} belongs", frame.first));
                    }
                    for line in frame.body.split_inclusive(|&byte| byte == b'\n') {
                        serde_json::from_slice::<ServiceRecord>(line)
                            .map_err(|error| error.to_string())?;
                    }
                    next += u64::from(frame.count);
                    offset = end;
                }
            }
        }
    }
    Ok(next - 1)
}

fn open(disk: &Simulated) -> Result<(JournalStore, StateSnapshot), String> {
    opened(disk.clone()).map(|(journal, state)| (journal, state.snapshot()))
}

#[test]
fn a_folder_of_a_former_program_opens_and_is_then_refused_by_it() {
    for seed in 0..20 {
        let (groups, state) = groups(seed, 12);
        for sealed in [true, false] {
            let disk = Simulated::default();
            disk.put(FIRST, &file(&groups, sealed));
            assert_eq!(opens(&disk), Ok(state.seq), "so the former program reads it");
            let (mut journal, found) = open(&disk).unwrap();
            assert_eq!(found, state, "seed {seed}");
            // From the first moment on, and also with more records.
            opens(&disk).expect_err("a former program reads the new format");
            let next = ServiceRecord { seq: state.seq + 1, ..groups[0][0].clone() };
            journal.append(&[next]).unwrap();
            journal.close();
            opens(&disk).expect_err("a former program reads the new format");
            assert_eq!(open(&disk).unwrap().1.seq, state.seq + 1);
        }
    }
}

#[test]
fn a_tail_of_a_former_program_is_cut_and_kept() {
    let (groups, _) = groups(1, 12);
    let whole = file(&groups, false);
    let before = file(&groups[..11], false).len();
    for length in before + 1..whole.len() {
        let disk = Simulated::default();
        disk.put(FIRST, &whole[..length]);
        let (_, opened) = JournalStore::open(Arc::new(disk.clone())).unwrap();
        assert_eq!(opened.cut, (length - before) as u64);
        let kept = opened.kept.expect("it is kept");
        assert_eq!(kept, format!("{FIRST}.cut-{before:012}"));
        assert_eq!(disk.read(&kept).unwrap(), &whole[before..length]);
    }
}

#[test]
fn cuts_are_bounded() {
    let disk = Simulated::default();
    let (groups, _) = groups(2, 40);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    for group in groups {
        journal.append(&group).unwrap();
        let name = {
            let mut names = disk.list().unwrap();
            names.retain(|name| is_journal(name));
            names.pop().unwrap()
        };
        disk.change(&name, |mut bytes| {
            bytes.extend([7; 99]);
            Some(bytes)
        });
        journal = JournalStore::open(Arc::new(disk.clone())).unwrap().0;
    }
    let cuts = disk.list().unwrap().into_iter().filter(|name| name.contains(".cut-"));
    assert_eq!(cuts.count(), 8);
}

#[test]
fn a_takeover_of_a_former_folder_survives_a_crash_at_any_operation() {
    let mut random = Random(77);
    for seed in 0..4 {
        let (groups, state) = groups(seed, 10);
        for fault in [Fault::Crash, Fault::Error, Fault::Full] {
            for operation in 0..30 {
                let disk = Simulated::default();
                disk.put(FIRST, &file(&groups, seed % 2 == 0));
                disk.fault_after(operation, fault);
                let _ = JournalStore::open(Arc::new(disk.clone()));
                disk.mend();
                for _ in 0..3 {
                    let after = disk.after_crash(&mut random);
                    let found = open(&after).map(|(_, found)| found);
                    let what = format!("seed {seed}, {fault:?} at operation {operation}");
                    assert_eq!(found.as_ref(), Ok(&state), "{what}");
                    // And once more: what was begun is taken over, too.
                    assert_eq!(open(&after).map(|(_, found)| found).as_ref(), Ok(&state), "{what}");
                }
            }
        }
    }
}
