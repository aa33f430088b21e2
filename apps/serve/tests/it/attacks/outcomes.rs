//! Tests writes whose outcome is unknown: on a failing disk, and with a database that stops in the
//! middle of a commit.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pavior_serve::core::{
    Ask, Caller, Command, Event, FormattedReply, IdempotencyKey, JobName, LeaseRequest,
    ServiceLimits,
};
use pavior_serve::service::format_reply;
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::writer::{CallerCommand, Unavailable, WriterHandle};
use pavior_trials::{attacked, size};
use serde_json::json;

use crate::bare_writer::{BareWriter, StartClock, wait};
use crate::client::{Client, holder, until, watch_until};
use crate::disk::{Fault, Simulated};
use crate::random::Random;
use crate::server::Server;
use crate::takeover::{Database, ready, setup};

const CLOCK: StartClock = StartClock { wall_ms: 1_790_000_000_000, confirmed: false };

type Outcome = Result<FormattedReply, Unavailable>;

/// Starts a writer on a disk, runs a function that uses it, and stops the writer.
fn with_writer<T>(disk: &Simulated, act: impl AsyncFnOnce(&WriterHandle) -> T) -> Option<T> {
    let limits = ServiceLimits::default();
    let running = BareWriter::start(disk.clone(), CLOCK, limits)?;
    let done = wait(act(&running.writer));
    running.stop().unwrap();
    Some(done)
}

/// Returns a keyed request for a job. The key and the job have the given number.
fn ask(number: u64) -> CallerCommand {
    let job = Some(JobName::Number(number as i64));
    let command = Command::Lease(LeaseRequest { job, ..LeaseRequest::of(Ask::Shape([1, 1, 1])) });
    let key =
        Some(IdempotencyKey { key: format!("k{number}"), digest: number, write: format_reply });
    CallerCommand { caller: Caller::OPERATOR, key, command }
}

async fn answer(writer: &WriterHandle, number: u64) -> Outcome {
    writer.carry_out(ask(number)).await.map(|answer| format_reply(&answer.reply))
}

/// Counts each job's grants in the journal.
fn granted(disk: &Simulated) -> HashMap<u64, u32> {
    let (store, _) = JournalStore::open(Arc::new(disk.clone())).expect("the journal is undamaged");
    let mut jobs = HashMap::new();
    let scan = store.history().scan(0, &mut |record| {
        if let Event::Granted { lease } = &record.event
            && let Some(JobName::Number(job)) = lease.job
        {
            *jobs.entry(job as u64).or_insert(0) += 1;
        }
        Ok(true)
    });
    scan.expect("the records can be read");
    jobs
}

/// Returns true if any copy of the request succeeded or may have succeeded.
fn twice(outcomes: &[(u64, Outcome)], number: u64) -> bool {
    let same = outcomes.iter().filter(|(other, _)| *other == number);
    same.into_iter().any(|(_, outcome)| matches!(outcome, Ok(_) | Err(Unavailable::Unknown(_))))
}

#[test]
fn a_reply_says_whether_a_command_survived_a_failing_disk() {
    let (mut tried, mut failed, mut unknown, mut carried_out) = (0, 0, 0, 0);
    for seed in 0..size(150, 150, 5000) as u64 {
        let mut random = Random(seed);
        let disk = Simulated::default();
        with_writer(&disk, async |_| ()).expect("the disk does not fail yet");
        disk.fault_after(6 + random.below(30), Fault::Error);
        let outcomes = with_writer(&disk, async |writer| {
            let mut outcomes: Vec<(u64, Outcome)> = Vec::new();
            for group in 0..8 {
                let numbers: Vec<u64> = (group * 4..group * 4 + 4).collect();
                // Two requests in each group are sent twice, with the same key.
                let sent = numbers.iter().chain(&numbers[..2]);
                let all = sent.map(|&number| async move { (number, answer(writer, number).await) });
                outcomes.extend(join_all(all).await);
            }
            outcomes
        });
        disk.mend();
        let Some(outcomes) = outcomes else { continue };
        // Either only the process restarts, or there is also a power failure.
        let after = if random.one_in(2) { disk.copy() } else { disk.after_crash(&mut random) };
        let found = granted(&after);
        for (number, outcome) in &outcomes {
            tried += 1;
            let there = found.get(number).copied().unwrap_or(0);
            failed += usize::from(match outcome {
                Ok(_) => there != 1,
                Err(Unavailable::Unknown(_)) => {
                    unknown += 1;
                    carried_out += there;
                    there > 1
                }
                // The other request with the same key may have succeeded.
                Err(_) => there != 0 && !twice(&outcomes, *number),
            });
        }
        // After every request has been retried with the same key, each has been executed exactly
        // once.
        let again = with_writer(&after, async |writer| {
            let mut again = Vec::new();
            for (number, _) in &outcomes {
                again.push(answer(writer, *number).await.expect("the disk does not fail any more"));
            }
            again
        });
        let again = again.expect("the journal can be opened");
        for ((_, outcome), again) in outcomes.iter().zip(&again) {
            failed += usize::from(outcome.as_ref().is_ok_and(|first| first != again));
        }
        failed += granted(&after).values().filter(|&&count| count != 1).count();
    }
    println!("{unknown} unknown outcomes, of which {carried_out} were carried out");
    assert!(unknown > 20 && carried_out > 0 && carried_out < unknown);
    attacked("data", "503s from a failing disk that misreport the outcome", tried, failed);
}

#[test]
fn a_service_whose_writer_panics_is_not_ready() {
    let disk = Simulated::default();
    let running = BareWriter::start(disk.clone(), CLOCK, ServiceLimits::default()).unwrap();
    let writer = &running.writer;
    assert!(wait(answer(writer, 1)).is_ok() && writer.unavailable().is_none());
    disk.fault_after(0, Fault::Panic);
    let broken = wait(answer(writer, 2));
    assert!(matches!(broken, Err(Unavailable::Unknown(_))), "{broken:?}");
    until("the end of the writer", || writer.unavailable().is_some());
    let refused = wait(answer(writer, 3)).err();
    assert!(matches!(refused, Some(Unavailable::ReadOnly(_))), "{refused:?}");
    // Acknowledged records remain readable.
    assert_eq!(wait(writer.view()).unwrap().leases.len(), 1);
    running.stop().expect_err("the writer has panicked");
    // After a restart, the service keeps working, and a client that retries gets its answer.
    let again = with_writer(&disk, async |writer| answer(writer, 2).await);
    assert!(again.is_some_and(|answer| answer.is_ok()));
    assert_eq!(granted(&disk), HashMap::from([(1, 1), (2, 1)]));
}

/// Checks that every command is answered even if the service stops or the queue is full, and that a
/// rejected command is never executed.
#[test]
fn every_command_is_answered_when_the_service_stops() {
    let (mut stopped, mut busy) = (0, 0);
    for round in 0..100 {
        let disk = Simulated::default();
        let limits = ServiceLimits::default();
        let running = BareWriter::with_queue(2, disk.clone(), CLOCK, limits).unwrap();
        let writer = &running.writer;
        let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
            let some = |first: u64| wait(join_all((first..first + 8).map(|n| answer(writer, n))));
            let all: Vec<_> = (0..4).map(|sender| scope.spawn(move || some(8 * sender))).collect();
            if round % 2 == 0 {
                writer.stop();
            }
            all.into_iter().flat_map(|one| one.join().unwrap()).collect()
        });
        let writer = running.writer.clone();
        running.stop().unwrap();
        let found = granted(&disk);
        for (number, outcome) in (0..).zip(&outcomes) {
            assert_eq!(found.get(&number), outcome.is_ok().then_some(&1), "{number}: {outcome:?}");
            stopped += u32::from(matches!(outcome, Err(Unavailable::Stopping)));
            busy += u32::from(matches!(outcome, Err(Unavailable::Busy)));
        }
        assert!(round % 2 == 0 || outcomes.iter().any(Result::is_ok), "two commands fit");
        assert_eq!(wait(answer(&writer, 99)), Err(Unavailable::Stopping));
    }
    assert!(stopped > 0 && busy > 0, "{stopped} {busy}");
}

/// The outcomes of the clients' requests, by job.
#[derive(Default)]
struct Notes {
    granted: HashMap<u64, u64>,
    /// Jobs whose requests were reported as not executed and were then abandoned.
    not_done: HashSet<u64>,
    unknown: HashSet<u64>,
}

/// Sends keyed requests. Abandons some of the failed ones and retries the others until answered.
fn client(address: &str, number: u64, stop: &AtomicBool, notes: &Mutex<Notes>) {
    let mut random = Random(number);
    let mut client = Client::new(address);
    for count in 0.. {
        let job = number * 1_000_000 + count;
        let (key, body) = (format!("job-{job}"), json!({ "nodes": 1, "job": job }));
        loop {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let reply = client.keyed("/v1/leases", &body, &key);
            let answer = reply.json();
            if reply.status == 201 {
                notes.lock().unwrap().granted.insert(job, holder(&answer).0);
                let _ = client.try_end(&answer);
                break;
            }
            assert_eq!(reply.status, 503, "{answer}");
            let unknown = answer["reason"] == "outcome-unknown";
            if unknown {
                notes.lock().unwrap().unknown.insert(job);
            }
            if random.one_in(2) {
                let known = !unknown && !notes.lock().unwrap().unknown.contains(&job);
                if known {
                    notes.lock().unwrap().not_done.insert(job);
                }
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_reply_says_whether_a_command_survived_a_killed_database() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start(&setup(&database, folder.path(), "a"));
    until("the leader", || ready(&server.address));
    let (stop, notes) = (AtomicBool::new(false), Mutex::new(Notes::default()));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 1..=6 {
            let (address, stop, notes) = (&server.address, &stop, &notes);
            scope.spawn(move || client(address, number, stop, notes));
        }
        for round in 0..size(2, 2, 24) {
            std::thread::sleep(Duration::from_millis(300));
            if round % 4 == 3 {
                database.crash();
            } else {
                database.cut();
            }
            until("the restart of decisions", || ready(&server.address));
        }
        std::thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::Relaxed);
    });
    until("an answer", || server.client().get("/v1/machine").status == 200);
    let seq = server.client().seq();
    // One more record is needed to end the watch.
    let mut node = 0;
    until("a record", || {
        node += 1;
        let body = json!({ "node": [31, node % 32] });
        server.client().post("/v1/nodes/fail", body).status == 200
    });
    let mut found: HashMap<u64, Vec<u64>> = HashMap::new();
    for (_, kind, event) in watch_until(&server.address, "/v1/watch?after=0", |_, id| id > seq) {
        if kind == "granted"
            && let Some(job) = event["lease"]["job"].as_u64()
        {
            found.entry(job).or_default().push(holder(&event["lease"]).0);
        }
    }
    let notes = notes.into_inner().unwrap();
    let tried = notes.granted.len() + notes.not_done.len() + notes.unknown.len();
    let mut failed = found.values().filter(|leases| leases.len() > 1).count();
    failed += notes.not_done.iter().filter(|job| found.contains_key(job)).count();
    failed += notes.granted.iter().filter(|(job, id)| found.get(job) != Some(&vec![**id])).count();
    let carried_out = notes.unknown.iter().filter(|job| found.contains_key(job)).count();
    println!(
        "{} granted, {} not carried out, {} unknown ({carried_out} carried out) in {:?}",
        notes.granted.len(),
        notes.not_done.len(),
        notes.unknown.len(),
        began.elapsed()
    );
    attacked("data", "503s from a database cut in a commit that misreport it", tried, failed);
}
