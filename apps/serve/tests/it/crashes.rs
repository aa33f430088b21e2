//! Tests the journal on a faulty disk, with random histories that end at a random disk operation.
//!
//! `PAVIOR_SIZE=long cargo test -p pavior-serve --test it -- crashes --nocapture` runs the long
//! form. A failure prints its seed.

use std::sync::Arc;

use pavior_serve::core::{ServiceRecord, ServiceState, StateSnapshot};
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{RecordStore, StoreError};
use pavior_trials::size;

use crate::decisions::begin;
use crate::disk::{Fault, Simulated, opened, state_of};
use crate::random::{Random, command};

/// The states that may be durable.
struct Known {
    /// The state after the last acknowledged group, and the state after the next one, which failed.
    acknowledged: StateSnapshot,
    attempted: Option<StateSnapshot>,
}

/// A history up to the fault.
struct Run {
    known: Known,
    state: ServiceState,
    journal: JournalStore,
    full: bool,
}

/// Runs groups of random commands until the disk fails.
fn run(disk: &Simulated, random: &mut Random, steps: u64) -> Option<Run> {
    // A fault may occur while the journal is being created.
    let Ok((mut journal, mut state)) = opened(disk.clone()) else { return None };
    if state.seq() == 0 {
        let (fresh, record) = begin(Some("fcfs"));
        journal.append(&[record]).ok()?;
        state = fresh;
    }
    let acknowledged = state.snapshot();
    let known = Known { acknowledged, attempted: None };
    let mut run = Run { known, state, journal, full: false };
    let mut now = 0;
    for _ in 0..steps {
        now += random.below(50);
        if !run.group(random, now) {
            return Some(run);
        }
        // Occasionally save a snapshot and remove old records.
        if random.one_in(6) {
            let snapshot = run.state.snapshot();
            let history = run.journal.history();
            let oldest = snapshot.seq.saturating_sub(random.below(40));
            let saved = run.journal.rotate().is_ok_and(|rotated| rotated)
                && history.save(&snapshot).and_then(|()| history.compact(oldest)).is_ok();
            if !saved && disk.is_dead() {
                return Some(run);
            }
        }
        if random.one_in(5) && run.journal.idle().is_err() && disk.is_dead() {
            return Some(run);
        }
    }
    Some(run)
}

impl Run {
    /// Decides some commands and makes them durable. Returns false after a permanent failure.
    fn group(&mut self, random: &mut Random, now: u64) -> bool {
        let mut records: Vec<ServiceRecord> = Vec::new();
        for _ in 0..=random.below(4) {
            let (caller, key, command) = command(random, &self.state);
            self.state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        match self.journal.append(&records) {
            Ok(()) => {
                self.known.acknowledged = self.state.snapshot();
                true
            }
            Err(StoreError::Full(_)) => {
                // Like the writer, return to the durable state.
                let durable = self.known.acknowledged.seq;
                let back = state_of(&*self.journal.history(), durable);
                self.state = back.expect("what is durable can be read");
                self.full = true;
                true
            }
            Err(_) => {
                self.known.attempted = Some(self.state.snapshot());
                false
            }
        }
    }
}

/// Compares the data after a crash with the states that may be durable.
fn judge(run: &Run, after: &Simulated) -> Result<(), String> {
    let (mut journal, mut state) = opened(after.clone())?;
    state.validate();
    let found = state.snapshot();
    let known = &run.known;
    let as_acknowledged = found == known.acknowledged;
    let as_attempted = known.attempted.as_ref() == Some(&found);
    if !as_acknowledged && !as_attempted {
        return Err(format!(
            "record {} was acknowledged, {} found",
            known.acknowledged.seq, found.seq
        ));
    }
    // The service continues from the recovered state.
    let (mut records, mut random) = (Vec::new(), Random(1));
    for _ in 0..5 {
        let (caller, key, command) = command(&mut random, &state);
        state.decide(found.now_ms + 1, &caller, key.as_ref(), command, &mut records);
    }
    journal.append(&records).map_err(|error| error.to_string())?;
    state.validate();
    Ok(())
}

#[test]
fn nothing_acknowledged_is_lost_in_a_crash() {
    let (mut crashes, mut attempted, mut errors, mut full, mut judged) = (0, 0, 0, 0, 0u64);
    for seed in 0..size(300, 1500, 10_000) {
        let mut random = Random(seed);
        let disk = Simulated::default();
        let fault = [Fault::Crash, Fault::Crash, Fault::Error, Fault::Full][seed as usize % 4];
        disk.fault_after(random.below(160), fault);
        let Some(run) = run(&disk, &mut random, 40) else {
            // The fault occurred before the first acknowledgment, so any contents must open.
            disk.mend();
            for _ in 0..3 {
                let opened = opened(disk.after_crash(&mut random));
                judged += 1;
                assert!(opened.is_ok_and(|(_, state)| state.seq() <= 1), "seed {seed}, {fault:?}");
            }
            continue;
        };
        crashes += u64::from(disk.is_dead());
        attempted += u64::from(run.known.attempted.is_some());
        errors += u64::from(fault == Fault::Error);
        full += u64::from(run.full);
        disk.mend();
        for _ in 0..3 {
            let after = disk.after_crash(&mut random);
            judged += 1;
            judge(&run, &after).unwrap_or_else(|error| panic!("seed {seed}, {fault:?}: {error}"));
        }
    }
    println!(
        "{crashes} crashes, {errors} I/O errors, {full} full disks; {attempted} during a write; \
         {judged} disks checked"
    );
    assert!(crashes > 0 && errors > 0 && full > 0 && attempted > 0);
}

#[test]
fn every_turned_bit_is_found_or_was_never_acknowledged() {
    let (histories, commands) = size((1, 5), (1, 5), (20, 12));
    let (mut bits, mut tails) = (0u64, 0u64);
    for seed in 0..histories {
        let mut random = Random(seed + 7000);
        let disk = Simulated::default();
        let run = run(&disk, &mut random, commands).expect("nothing fails");
        let clean = disk.copy();
        let names = pavior_serve::storage::disk::Disk::list(&clean).expect("it can be listed");
        for name in names {
            let length = pavior_serve::storage::disk::Disk::read(&clean, &name).unwrap().len();
            for bit in 0..length * 8 {
                let turned = clean.copy();
                turned.flip(&name, bit);
                bits += 1;
                let Ok((_, state)) = opened(turned) else { continue };
                // A file that is not refused must not have lost acknowledged records.
                assert_eq!(
                    state.snapshot(),
                    run.known.acknowledged,
                    "seed {seed}: bit {bit} of {name} was not found"
                );
                tails += 1;
            }
        }
    }
    println!("{bits} bits flipped, {tails} of them without effect on acknowledged records");
    assert!(bits > 10_000);
}

#[test]
fn damage_names_its_place() {
    let disk = Simulated::default();
    let mut random = Random(3);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    let (mut state, first) = begin(None);
    journal.append(&[first]).unwrap();
    let length = |disk: &Simulated| {
        let name = "journal-00000000000000000001.log";
        pavior_serve::storage::disk::Disk::read(disk, name).unwrap().len()
    };
    let offset = length(&disk);
    for now in 0..3 {
        let mut records = Vec::new();
        while records.is_empty() {
            let (caller, key, command) = command(&mut random, &state);
            state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        journal.append(&records).unwrap();
    }
    // Two flipped bits in the second frame, which other frames follow.
    disk.flip("journal-00000000000000000001.log", (offset + 40) * 8);
    disk.flip("journal-00000000000000000001.log", (offset + 41) * 8);
    let error = JournalStore::open(Arc::new(disk)).err().expect("it is damaged");
    let StoreError::Damaged { file, offset: found, .. } = error else { panic!("{error}") };
    assert_eq!((file.as_str(), found), ("journal-00000000000000000001.log", offset as u64));
}

#[test]
fn what_a_failed_sync_left_in_memory_alone_is_made_durable_at_the_next_start() {
    let disk = Simulated::default();
    let (mut journal, _) = opened(disk.clone()).unwrap();
    let (_, first) = begin(None);
    journal.append(std::slice::from_ref(&first)).unwrap();
    let at = |seq| ServiceRecord { seq, ..first.clone() };
    // The write succeeds, but the sync fails.
    disk.fault_after(1, Fault::Error);
    assert!(matches!(journal.append(&[at(2)]), Err(StoreError::Unknown(_))));
    drop(journal);
    let (mut journal, opened) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    assert_eq!(opened.last, 2, "the system shows the record as written");
    journal.append(&[at(3)]).unwrap();
    let after = disk.after_crash(&mut Random(1));
    let (_, opened) = JournalStore::open(Arc::new(after)).unwrap();
    assert_eq!(opened.last, 3);
}
