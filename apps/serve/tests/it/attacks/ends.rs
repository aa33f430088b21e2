//! Tests that damage to acknowledged records is always detected.

use std::collections::BTreeMap;
use std::sync::Arc;

use pavior_serve::core::{ServiceRecord, StateSnapshot};
use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::frame::{self, Frame};
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{RecordStore, StoreError};

use crate::disk::{Simulated, files, opened, state_of};
use crate::random::Random;
use crate::records::{self, folder};

/// Returns the folder of a stopped service, containing several journal files and a snapshot.
fn stopped(seed: u64) -> (Simulated, StateSnapshot) {
    let disk = Simulated::default();
    let (groups, _) = records::groups(seed, 16);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    for (index, group) in groups.iter().enumerate() {
        journal.append(group).unwrap();
        if index % 5 == 4 {
            assert!(journal.rotate().unwrap());
            let history = journal.history();
            history.save(&state_of(&*history, u64::MAX).unwrap().snapshot()).unwrap();
        }
    }
    journal.close();
    let state = state_of(&*journal.history(), u64::MAX).unwrap().snapshot();
    (disk, state)
}

fn open(disk: &Simulated) -> Result<StateSnapshot, String> {
    opened(disk.clone()).map(|(_, state)| state.snapshot())
}

fn journals(disk: &Simulated) -> Vec<String> {
    let mut names = disk.list().unwrap();
    names.retain(|name| name.starts_with("journal-"));
    names.sort_unstable();
    names
}

/// Returns true if opening a changed folder fails with a message that names a file.
fn refused(disk: &Simulated) -> bool {
    open(disk).is_err_and(|reason| reason.contains("journal-") || reason.contains("snapshot-"))
}

/// The numbers of tried and missed damages, by kind.
type Damages = BTreeMap<&'static str, (usize, usize)>;

/// Damages a stopped service's folder in ways that must be detected, and counts them. The loss of
/// the oldest file may go undetected, because the service itself removes old history.
fn damage(disk: &Simulated, state: &StateSnapshot, counts: &mut Damages) {
    let mut count = |kind: &'static str, name: &str, bytes: Option<Vec<u8>>| {
        let copy = disk.copy();
        let may_be_lost = bytes.is_none() && name == records::FIRST;
        copy.change(name, |_| bytes);
        let (tried, missed) = counts.entry(kind).or_default();
        *tried += 1;
        let is_old = may_be_lost && open(&copy).as_ref() == Ok(state);
        *missed += usize::from(!is_old && !refused(&copy));
    };
    let mut random = Random(9);
    for name in journals(disk) {
        let bytes = disk.read(&name).unwrap();
        for length in 0..bytes.len() {
            count("file cut at every length", &name, Some(bytes[..length].to_vec()));
        }
        for size in [64, 512, 4096] {
            for start in (0..bytes.len()).step_by(size) {
                let mut zeroed = bytes.clone();
                let end = (start + size).min(bytes.len());
                zeroed[start..end].fill(0);
                count("block zeroed", &name, Some(zeroed));
            }
        }
        count("file removed", &name, None);
        let mut noise = |length: usize| (0..length).map(|_| random.below(256) as u8).collect();
        for length in [1, 100, bytes.len(), 20 << 10] {
            count("file replaced by noise", &name, Some(noise(length)));
        }
        let mut end = bytes.clone();
        let keep = bytes.len().saturating_sub(300);
        end.truncate(keep);
        end.extend::<Vec<u8>>(noise(bytes.len() - keep));
        count("last block replaced by noise", &name, Some(end));
    }
}

#[test]
fn loss_of_the_end_of_a_stopped_journal_is_detected() {
    let mut counts = Damages::new();
    for seed in 0..pavior_trials::size(2, 2, 40) as u64 {
        let (disk, state) = stopped(seed);
        assert_eq!(open(&disk.copy()).as_ref(), Ok(&state), "it opens as it is");
        damage(&disk, &state, &mut counts);
    }
    for (what, (tried, missed)) in counts {
        pavior_trials::attacked("data", &format!("stopped journal: {what}"), tried, missed);
    }
}

/// Replaces the magic of all frames in a file and recomputes their checksums.
fn other_magic(bytes: &[u8]) -> Vec<u8> {
    let mut other = bytes.to_vec();
    for start in 0..bytes.len().saturating_sub(31) {
        if bytes[start..].starts_with(b"pvj1") {
            other[start + 3] = b'2';
            let sum = frame::sum(&other[start..start + 24]).to_le_bytes();
            other[start + 24..start + 32].copy_from_slice(&sum);
        }
    }
    other
}

#[test]
fn other_formats_and_random_bytes_are_not_cut_off() {
    let (mut tried, mut failed) = (0, 0);
    for seed in 0..pavior_trials::size(3, 3, 60) as u64 {
        let (groups, _) = records::groups(seed, 40);
        let whole = records::file(&groups);
        let mut random = Random(seed);
        let noise: Vec<u8> = (0..20 << 10).map(|_| random.below(256) as u8).collect();
        let mut judge = |disk: Simulated, other: bool| {
            let before = disk.read(records::FIRST).unwrap();
            let opened = JournalStore::open(Arc::new(disk.clone())).map(drop);
            let right = match opened {
                Err(StoreError::OtherVersion { file, .. }) => other && file == records::FIRST,
                Err(StoreError::Damaged { file, .. }) => !other && file == records::FIRST,
                _ => false,
            };
            let kept = disk.read(records::FIRST).unwrap() == before;
            tried += 1;
            failed += usize::from(!right || !kept);
        };
        // Change the whole file, or only the part after its first frames.
        judge(folder(&other_magic(&whole)), true);
        let some = records::file(&groups[..20]);
        judge(folder(&[&some[..], &other_magic(&whole[some.len()..])].concat()), true);
        judge(folder(&noise), false);
        judge(folder(&vec![0; 20 << 10]), false);
        let long = noise.repeat(60);
        judge(folder(&[&some[..], &long].concat()), false);
        // Repeat the checks with a mark file.
        let marked = Simulated::default();
        drop(JournalStore::open(Arc::new(marked.clone())).unwrap());
        marked.change(records::FIRST, |bytes| Some(other_magic(&bytes)));
        judge(marked.copy(), true);
        marked.change(records::FIRST, |_| Some(noise.clone()));
        judge(marked, false);
    }
    pavior_trials::attacked("data", "another format or noise in a journal", tried, failed);
}

#[test]
fn at_most_one_write_is_cut_off() {
    let disk = Simulated::default();
    let (groups, _) = records::groups(5, 3);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    for group in &groups {
        journal.append(group).unwrap();
    }
    let acknowledged = disk.read(records::FIRST).unwrap().len();
    // Write a group larger than any unannounced tail that may be cut off.
    let seq = groups.last().unwrap().last().unwrap().seq + 1;
    let mut large = groups[0][0].clone();
    large.seq = seq;
    let large: Vec<ServiceRecord> =
        (0..9000).map(|index| ServiceRecord { seq: seq + index, ..large.clone() }).collect();
    journal.append(&large).unwrap();
    let whole = disk.read(records::FIRST).unwrap();
    assert!(
        whole.len() - acknowledged > frame::MAX_UNANNOUNCED,
        "{} bytes",
        whole.len() - acknowledged
    );
    // Even if the first sectors were never written, the group is a tail, because it was announced.
    let announced = frame::announcement(seq, whole.len()).len();
    let frame = acknowledged + announced;
    let (mut tried, mut failed) = (0, 0);
    let mut judge = |bytes: Vec<u8>, cut: bool| {
        let copy = disk.copy();
        copy.change(records::FIRST, |_| Some(bytes));
        let opened = JournalStore::open(Arc::new(copy)).map(|(_, opened)| opened.cut > 0);
        tried += 1;
        failed += usize::from(opened.unwrap_or(false) != cut);
    };
    for lost in [64, 4096, 1 << 20] {
        let mut torn = whole.clone();
        torn[frame..frame + lost].fill(0);
        judge(torn.clone(), true);
        // More bytes than announced count as damage.
        torn.extend([9; 100]);
        judge(torn, false);
    }
    for short in [1, 100, 4096, 1 << 20] {
        judge(whole[..whole.len() - short].to_vec(), true);
        // Without the announcement, there are more bytes than one write can leave behind.
        let mut unannounced = whole[..acknowledged].to_vec();
        unannounced.extend(vec![0; 64]);
        unannounced.extend(&whole[frame + 64..]);
        judge(unannounced, false);
    }
    pavior_trials::attacked("data", "tails of one write and of more", tried, failed);
}

/// Returns copies of JSON text, each with a member added to a different object.
fn with_members(text: &str) -> Vec<String> {
    let places = text.match_indices('{').map(|(at, _)| at + 1);
    let inside = |at: usize| {
        // Skip braces in the body of a stored reply, because the body is a string.
        let quotes = text[..at].replace("\\\"", "").matches('"').count();
        quotes % 2 == 0
    };
    let with = |at: usize| format!("{}\"novel\":1,{}", &text[..at], &text[at..]);
    places.filter(|&at| inside(at)).map(with).collect()
}

/// Returns a folder with a snapshot up to record `seq`, followed by an empty journal.
fn after_snapshot(seq: u64, text: &str) -> Simulated {
    let bytes = format!("{text}{:016x}\n", frame::sum(text.as_bytes()));
    records::after_snapshot(seq, bytes.as_bytes())
}

#[test]
fn unknown_members_and_kinds_are_refused_before_anything_is_written() {
    let (groups, state) = records::groups(11, pavior_trials::size(60, 60, 600));
    let records: Vec<ServiceRecord> = groups.into_iter().flatten().collect();
    let (mut tried, mut failed) = (0, 0);
    // The last file ends with garbage, which must not be cut off until everything has been read.
    let mut judge = |disk: &Simulated, file: &str, named: &str| {
        let last = journals(disk).pop().unwrap();
        disk.change(&last, |bytes| Some([&bytes[..], &[9; 50]].concat()));
        let before = files(disk);
        let error = open(disk).err().unwrap_or_default();
        let place = error.starts_with(file) && error.contains(named);
        let kept = files(disk) == before;
        tried += 1;
        failed += usize::from(!place || !kept || !error.contains("written by another version"));
    };
    let snapshot = serde_json::to_string(&state).unwrap();
    for record in &records {
        let text = serde_json::to_string(record).unwrap();
        let mut others = with_members(&text);
        let novel = text.replacen("\"event\":{\"", "\"event\":{\"novel-", 1);
        others.push(novel.clone());
        let (before, after) = records.split_at(record.seq as usize - 1);
        let before = if before.is_empty() { Vec::new() } else { vec![before.to_vec()] };
        for other in others.iter().filter(|other| **other != text) {
            let mut bytes = records::file(&before);
            let body = format!("{other}\n");
            bytes.extend(Frame { first: record.seq, count: 1, body: body.as_bytes() }.bytes());
            let named = format!("found record {} of kind \"", record.seq);
            judge(&folder(&bytes), records::FIRST, &named);
            if *other == novel && after.len() > 1 {
                // These records precede the last snapshot, which is readable.
                bytes.extend(records::frames(&[after[1..].to_vec()]));
                let disk = after_snapshot(state.seq, &snapshot);
                disk.put(records::FIRST, &bytes);
                judge(&disk, records::FIRST, &(named + "novel-"));
            }
        }
    }
    for other in with_members(&snapshot) {
        judge(&after_snapshot(state.seq, &other), "snapshot-", "found a snapshot (");
    }
    pavior_trials::attacked("data", "unknown members and kinds of records", tried, failed);
}
