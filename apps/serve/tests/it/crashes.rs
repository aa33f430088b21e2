//! Tests the journal on a faulty disk, with random histories that stop at a random disk operation.
//!
//! `PAVIOR_SIZE=long cargo test -p pavior-serve --test it -- crashes --nocapture` runs the long
//! version. A failure prints its seed.

use std::sync::Arc;

use pavior_serve::core::{ServiceRecord, ServiceState, StateSnapshot};
use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{RecordStore, StoreError};
use pavior_trials::size;

use crate::decisions::begin;
use crate::disk::{Fault, Simulated, opened, state_of};
use crate::random::{Random, command};
use crate::records::FIRST;

/// The states that may be on the disk after a crash.
struct DurableStates {
    /// The state after the last acknowledged group.
    acknowledged: StateSnapshot,
    attempted: Option<StateSnapshot>,
}

/// A random history that ends when the disk fails.
struct Run {
    states: DurableStates,
    state: ServiceState,
    journal: JournalStore,
    full: bool,
}

/// Runs random groups of commands until the disk fails.
fn run(disk: &Simulated, random: &mut Random, steps: u64) -> Option<Run> {
    // A fault may occur while the journal is being created.
    let Ok((mut journal, mut state)) = opened(disk.clone()) else { return None };
    if state.seq() == 0 {
        let (fresh, record) = begin(Some("fcfs"));
        journal.append(&[record]).ok()?;
        state = fresh;
    }
    let acknowledged = state.snapshot();
    let states = DurableStates { acknowledged, attempted: None };
    let mut run = Run { states, state, journal, full: false };
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
    /// Executes commands and makes them durable. Returns false after a permanent failure.
    fn group(&mut self, random: &mut Random, now: u64) -> bool {
        let mut records: Vec<ServiceRecord> = Vec::new();
        for _ in 0..=random.below(4) {
            let (caller, key, command) = command(random, &self.state);
            self.state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        match self.journal.append(&records) {
            Ok(()) => {
                self.states.acknowledged = self.state.snapshot();
                true
            }
            Err(StoreError::Full(_)) => {
                // Roll back to the durable state, as the writer does.
                let durable = self.states.acknowledged.seq;
                let back = state_of(&*self.journal.history(), durable);
                self.state = back.expect("durable records can be read");
                self.full = true;
                true
            }
            Err(_) => {
                self.states.attempted = Some(self.state.snapshot());
                false
            }
        }
    }
}

/// Checks that the data left after a crash matches one of the states that could be durable.
fn check(run: &Run, after: &Simulated) -> Result<(), String> {
    let (mut journal, mut state) = opened(after.clone())?;
    state.validate();
    let found = state.snapshot();
    let states = &run.states;
    let is_acknowledged = found == states.acknowledged;
    let is_attempted = states.attempted.as_ref() == Some(&found);
    if !is_acknowledged && !is_attempted {
        return Err(format!(
            "record {} was acknowledged, {} found",
            states.acknowledged.seq, found.seq
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
    let (mut crashes, mut attempted, mut errors, mut full, mut checked) = (0, 0, 0, 0, 0u64);
    for seed in 0..size(300, 1500, 10_000) {
        let mut random = Random(seed);
        let disk = Simulated::default();
        let fault = [Fault::Crash, Fault::Crash, Fault::Error, Fault::Full][seed as usize % 4];
        disk.fault_after(random.below(160), fault);
        let Some(run) = run(&disk, &mut random, 40) else {
            // Nothing was acknowledged, so the journal must open with at most one record.
            disk.mend();
            for _ in 0..3 {
                let opened = opened(disk.after_crash(&mut random));
                checked += 1;
                assert!(opened.is_ok_and(|(_, state)| state.seq() <= 1), "seed {seed}, {fault:?}");
            }
            continue;
        };
        crashes += u64::from(disk.is_dead());
        attempted += u64::from(run.states.attempted.is_some());
        errors += u64::from(fault == Fault::Error);
        full += u64::from(run.full);
        disk.mend();
        for _ in 0..3 {
            let after = disk.after_crash(&mut random);
            checked += 1;
            check(&run, &after).unwrap_or_else(|error| panic!("seed {seed}, {fault:?}: {error}"));
        }
    }
    println!(
        "{crashes} crashes, {errors} I/O errors, {full} full disks; {attempted} during a write; \
         {checked} disks checked"
    );
    assert!(crashes > 0 && errors > 0 && full > 0 && attempted > 0);
}

#[test]
fn every_flipped_bit_is_detected_or_was_never_acknowledged() {
    let (histories, commands) = size((1, 5), (1, 5), (20, 12));
    let (mut bits, mut tails) = (0u64, 0u64);
    for seed in 0..histories {
        let mut random = Random(seed + 7000);
        let disk = Simulated::default();
        let run = run(&disk, &mut random, commands).expect("the disk does not fail");
        let clean = disk.copy();
        let names = clean.list().unwrap();
        for name in names {
            let length = clean.read(&name).unwrap().len();
            for bit in 0..length * 8 {
                let flipped = clean.copy();
                flipped.flip(&name, bit);
                bits += 1;
                let Ok((_, state)) = opened(flipped) else { continue };
                // If the file is accepted, it must contain every acknowledged record.
                assert_eq!(
                    state.snapshot(),
                    run.states.acknowledged,
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
fn damage_is_reported_with_its_file_and_offset() {
    let disk = Simulated::default();
    let mut random = Random(3);
    let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
    let (mut state, first) = begin(None);
    journal.append(&[first]).unwrap();
    let offset = disk.read(FIRST).unwrap().len();
    for now in 0..3 {
        let mut records = Vec::new();
        while records.is_empty() {
            let (caller, key, command) = command(&mut random, &state);
            state.decide(now, &caller, key.as_ref(), command, &mut records);
        }
        journal.append(&records).unwrap();
    }
    // Flip two bits in the second frame, which is followed by other frames.
    disk.flip(FIRST, (offset + 40) * 8);
    disk.flip(FIRST, (offset + 41) * 8);
    let error = JournalStore::open(Arc::new(disk)).err().expect("the damage is found");
    let StoreError::Damaged { file, offset: found, .. } = error else { panic!("{error}") };
    assert_eq!((file.as_str(), found), (FIRST, offset as u64));
}

#[test]
fn a_record_whose_sync_failed_is_made_durable_at_the_next_start() {
    let disk = Simulated::default();
    let (mut journal, _) = opened(disk.clone()).unwrap();
    let (_, first) = begin(None);
    journal.append(std::slice::from_ref(&first)).unwrap();
    let at = |seq| ServiceRecord { seq, ..first.clone() };
    // The write succeeds, but the sync fails.
    disk.fault_after(1, Fault::Error);
    assert!(matches!(journal.append(&[at(2)]), Err(StoreError::Unknown(_))));
    drop(journal);
    let (mut journal, state) = opened(disk.clone()).unwrap();
    assert_eq!(state.seq(), 2, "the system shows the record as written");
    journal.append(&[at(3)]).unwrap();
    let after = disk.after_crash(&mut Random(1));
    assert_eq!(opened(after).unwrap().1.seq(), 3);
}
