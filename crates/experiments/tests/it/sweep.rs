//! Tests of sweeps. Their samples must not depend on threads, interruptions or shards.

use std::io;

use pavior_experiments::{
    Environment, JournalEntry, NoStore, Shard, Span, Specification, Store, SweepError, Table,
    differences,
};
use pavior_simulation::Stop;

use crate::whole;

/// An in-memory store that fails when it is full.
struct Memory {
    kept: Vec<JournalEntry>,
    room: usize,
}

impl Memory {
    fn new(room: usize) -> Memory {
        Memory { kept: Vec::new(), room }
    }
}

impl Store for Memory {
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()> {
        if self.kept.len() == self.room {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        self.kept.push(entry.clone());
        Ok(())
    }
}

fn experiment() -> Specification {
    let text = "machine = 'mesh:6x6'\nstrategy = ['ff', 'tff', 'bl']\nload = [0.3, 1, 2.5]\n\
                jobs = 60\ntiming = false\nprecision = 0.35\nmax-replications = 12\n";
    Specification::parse(text, "test").unwrap()
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn threads_do_not_matter() {
    let experiment = experiment();
    let one = in_pool(1, || whole(&experiment));
    assert!(one == in_pool(2, || whole(&experiment)));
    assert!(one == in_pool(7, || whole(&experiment)));
    // Some points need more replications than others.
    let counts: Vec<usize> = one.iter().map(Vec::len).collect();
    assert!(counts.iter().min() < counts.iter().max(), "{counts:?}");
    assert!(counts.iter().all(|count| (5..=12).contains(count)), "{counts:?}");
}

#[test]
fn interruptions_lose_and_repeat_nothing() {
    let experiment = experiment();
    let uninterrupted = whole(&experiment);
    let total: usize = uninterrupted.iter().map(Vec::len).sum();
    let mut known: Vec<JournalEntry> = Vec::new();
    let mut stops = 0;
    let samples = loop {
        let mut store = Memory::new(7);
        let result = in_pool(3, || {
            experiment.run(known.clone(), Shard::WHOLE, Environment::PLAIN, &mut store)
        });
        for entry in store.kept {
            let repeated = known
                .iter()
                .any(|old| (old.point, old.replication) == (entry.point, entry.replication));
            assert!(!repeated, "{entry:?} was run twice");
            known.push(entry);
        }
        match result {
            Ok(samples) => break samples,
            Err(SweepError::Store(error)) => {
                assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                stops += 1;
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert!(samples == uninterrupted);
    assert_eq!(known.len(), total);
    assert_eq!(stops, (total - 1) / 7);
}

#[test]
fn shards_make_a_whole() {
    let experiment = experiment();
    let mut entries = Vec::new();
    for index in 1..=4 {
        let mut store = Memory::new(usize::MAX);
        let shard = Shard { index, of: 4 };
        let samples = experiment.run(Vec::new(), shard, Environment::PLAIN, &mut store).unwrap();
        assert!(samples.iter().enumerate().all(|(i, s)| shard.has(i) != s.is_empty()));
        entries.extend(store.kept);
    }
    let missing: Vec<JournalEntry> =
        entries.iter().filter(|entry| entry.point != 4).cloned().collect();
    // Only the missing point's first batch is wanted until the batch's results are known.
    let wanted = vec![Span { point: 4, first: 0, end: 5 }];
    assert_eq!(experiment.wanted(missing.clone()), wanted);
    assert_eq!(experiment.complete(missing), Err(wanted));
    assert!(experiment.complete(entries) == Ok(whole(&experiment)));
}

#[test]
fn tables_read_back_the_same() {
    let experiment = experiment();
    let samples = whole(&experiment);
    let table = Table::of(&experiment, &samples);
    let mut csv = Vec::new();
    table.to_csv(&mut csv).unwrap();
    assert_eq!(Table::from_csv(csv.as_slice()).unwrap(), table);
    let mut replications = Vec::new();
    experiment.write_replications(&samples, &mut replications).unwrap();
    let nothing: Option<&[u8]> = None;
    let entries = experiment.read_replications(replications.as_slice(), nothing).unwrap().entries;
    let back = experiment.complete(entries).unwrap();
    for (a, b) in back.iter().flatten().zip(samples.iter().flatten()) {
        assert_eq!(a, b);
    }
    assert!(back == samples);
    // A change to any byte of a line is detected, and the number of the line is reported.
    let body = replications.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for index in (body..replications.len() - 1).step_by(pavior_trials::size(49, 7, 7)) {
        let mut changed = replications.clone();
        changed[index] ^= 1;
        let line = changed[..index].split(|&byte| byte == b'\n').count() as u64;
        let found = experiment.read_replications(changed.as_slice(), nothing).unwrap();
        assert!(found.damaged.contains(&line), "byte {index}: {:?}", found.damaged);
    }
}

#[test]
fn a_parameter_may_have_the_name_of_a_metric() {
    let text = "machine = 'mesh:4x4'\nstrategy = 'ff'\nservice = ['constant', 'exponential']\n\
                jobs = 9\nreplications = 2\ntiming = false\nmetrics = ['service', 'waiting']\n";
    let experiment = Specification::parse(text, "test").unwrap();
    let samples = whole(&experiment);
    let mut replications = Vec::new();
    experiment.write_replications(&samples, &mut replications).unwrap();
    let nothing: Option<&[u8]> = None;
    let entries = experiment.read_replications(replications.as_slice(), nothing).unwrap().entries;
    assert!(experiment.complete(entries).unwrap() == samples);
}

#[test]
fn missed_targets_are_said() {
    let text = "machine = 'mesh:6x6'\nstrategy = ['ff', 'tff']\nload = 2\njobs = 30\n\
                timing = false\nprecision = 0.001\nmax-replications = 6\n";
    let experiment = Specification::parse(text, "test").unwrap();
    let table = Table::of(&experiment, &whole(&experiment));
    assert!(table.rows.iter().all(|row| row.target_missed && row.replications == 6));
}

#[test]
fn equal_strategies_do_not_differ() {
    let text = "machine = 'mesh:6x6'\nstrategy = ['tff', 'tff:plain', 'ff']\nload = 2\njobs = 60\n\
                timing = false\n";
    let experiment = Specification::parse(text, "test").unwrap();
    let all = differences(&experiment, &whole(&experiment));
    let turnaround = |strategy: &str| {
        let of = |one: &&pavior_experiments::Difference| {
            one.metric == "turnaround" && one.values[1] == strategy
        };
        all.iter().find(of).unwrap().paired
    };
    let same = turnaround("tff:plain");
    assert_eq!((same.difference, same.difference_ci95, same.ratio), (0.0, Some(0.0), Some(1.0)));
    let worse = turnaround("ff");
    assert!(worse.difference > worse.difference_ci95.unwrap());
    assert_eq!(all.iter().filter(|one| one.values[1] == "tff").count(), 0);
}

#[test]
fn a_log_that_cannot_be_read_is_said() {
    let experiment = Specification::parse("trace = 'none.swf'\nstrategy = 'ff'", "test").unwrap();
    let result = experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore);
    assert_eq!(result.unwrap_err().to_string(), "none.swf: reading files is not supported here");
}

#[test]
fn the_first_run_that_cannot_go_on_is_said_whatever_the_threads() {
    let text = "machine = 'torus:5x5'\nstrategy = ['naive', 'tff', 'random']\n\
                pattern = 'all-to-all'\nservice = 'iterations:2'\nsending = 'pipelined'\n\
                lanes = 1\njobs = 30\nload = [0.0005, 0.005]\ntiming = false\nreplications = 4\n";
    let experiment = Specification::parse(text, "test").unwrap();
    let run = |threads| {
        let result = in_pool(threads, || {
            experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)
        });
        let Err(SweepError::Run { point, replication, error }) = result else {
            panic!("one virtual channel deadlocks");
        };
        (point, replication, error.to_string())
    };
    let one = run(1);
    assert!(one.2.contains("deadlock"), "{one:?}");
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn a_sweep_is_stopped_from_outside() {
    let experiment = Specification::parse("jobs = 1000000000", "test").unwrap();
    let stop = Stop::default();
    let environment = Environment { stop: Some(&stop), ..Environment::PLAIN };
    let result = std::thread::scope(|scope| {
        let sweep =
            scope.spawn(|| experiment.run(Vec::new(), Shard::WHOLE, environment, &mut NoStore));
        std::thread::sleep(std::time::Duration::from_millis(50));
        stop.set();
        sweep.join().unwrap()
    });
    assert!(matches!(result, Err(SweepError::Stopped)));
}

#[test]
fn many_replications_of_a_point_cost_no_more_each() {
    // The time per replication must not grow with the number of replications: 50,000 of them should
    // take seconds, not minutes.
    let text = "machine = 'mesh:2x2'\nstrategy = 'ff'\njobs = 1\nload = 1\ntiming = false\n\
                replications = 50000\nmetrics = 'turnaround'\n";
    let samples = whole(&Specification::parse(text, "test").unwrap());
    assert_eq!(samples[0].len(), 50_000);
}
