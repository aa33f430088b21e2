//! A look-ahead scheduler that the yardstick can measure. It shows how much can be gained by using
//! far more computation than EASY does.
//!
//! ```sh
//! cargo run --release -p pavior-studies --example lookahead            # all synthetic scenarios
//! cargo run --release -p pavior-studies --example lookahead -- quick   # three, with 60 jobs each
//! cargo run --release -p pavior-studies --example lookahead -- FOLDER  # also those with logs
//! ```
//!
//! Before each decision, the scheduler considers several alternatives: starting the job that EASY
//! would choose, starting one of the oldest jobs that fit, and, if any job is running, starting no
//! job. It tries every alternative in the same few futures. In each future, EASY continues on a
//! copy of the machine. Run times are drawn as fractions of the estimates, based on past jobs, and
//! arriving jobs are drawn from earlier arrivals. The scheduler chooses the alternative after which
//! jobs start earliest on average; ties go to EASY's choice. Large jobs are protected from
//! starvation only by their weight in this average.
//!
//! Cost: at most f (o + 2) simulated futures per decision, where o is the number of oldest jobs
//! that are tried, and f is the number of futures per alternative. Each simulated future starts
//! every job once.
//!
//! Source: rollout of a base policy (Bertsekas, Tsitsiklis & Wu, "Rollout algorithms for
//! combinatorial optimization", Journal of Heuristics 3, 1997), with common random numbers.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use pavior::Stream;
use pavior::experiments::{Catalogue, Folder, InputFiles, NoProgress};
use pavior::files::Limits;
use pavior::scheduling::{
    Decision, Future, MachineView, Queue, Running, Scheduler, Selection, Start, entry,
};
use pavior::workload::Job;
use pavior::{JobId, Time};
use pavior_studies::yardstick::{Effort, Row, Yardstick, judge_all};

/// The amount of computation per decision.
#[derive(Clone, Copy)]
struct Thinking {
    /// The number of oldest jobs to try.
    oldest: usize,
    /// The number of futures per alternative.
    futures: usize,
    /// The number of jobs that a future includes from the front of the queue.
    seen: usize,
    /// The number of arriving jobs that a future includes.
    coming: usize,
}

/// The amounts of computation to compare.
const LEVELS: [(&str, Thinking); 3] = [
    ("look-ahead-2", Thinking { oldest: 3, futures: 2, seen: 32, coming: 16 }),
    ("look-ahead-8", Thinking { oldest: 6, futures: 8, seen: 64, coming: 48 }),
    ("look-ahead-32", Thinking { oldest: 10, futures: 32, seen: 96, coming: 96 }),
];
/// The id of the first drawn job, greater than the id of any real job.
const UNSEEN: u64 = 1 << 62;
/// The maximum number of attempts to draw a run time that exceeds the time for which a job has
/// already run.
const TRIES: usize = 16;
/// The maximum number of past arrivals, and also of past job ends, from which futures are drawn.
const PAST: usize = 256;

struct LookAhead {
    thinking: Thinking,
    easy: Selection,
    /// The latest arrivals, each with the time that had passed since the previous one.
    past: Vec<(Time, Job)>,
    last: Time,
    /// The time of the previous call.
    asked: Time,
    /// The jobs that were running at the previous call, with their start times and estimates.
    ran: BTreeMap<JobId, (Time, Time)>,
    /// The run times of the most recently ended jobs, as fractions of their estimates.
    shares: Vec<f64>,
    /// The largest job id seen so far.
    seen: Option<u64>,
    dice: Stream,
}

impl Scheduler for LookAhead {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.learn(now, queue, running);
        let oldest: Vec<usize> = (0..queue.len().min(self.thinking.oldest))
            .filter(|&index| queue.get(index).is_some_and(|job| view.can_start(job).is_ok()))
            .collect();
        let first = self.base().next(now, queue, running, view);
        // A future includes only the oldest jobs.
        if first.as_ref().map_or(oldest.is_empty(), |start| start.index >= self.thinking.seen) {
            return first;
        }
        // If no job is running, there may be no further event to trigger another decision.
        let wait = (!running.is_empty()).then_some(None);
        let others = oldest.into_iter().map(|index| Some(Start::at(index))).chain(wait);
        let mut tries = vec![first];
        for other in others {
            if !tries.contains(&other) {
                tries.push(other);
            }
        }
        let futures: Vec<Drawn> =
            (0..self.thinking.futures).map(|_| self.draw(now, queue, running)).collect();
        let cost = |start: &Option<Start>| -> f64 {
            let runs = futures.iter();
            runs.map(|future| self.cost(now, (queue, running), view, start.as_ref(), future)).sum()
        };
        let costs: Vec<f64> = tries.iter().map(cost).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let best = costs.iter().position(|&cost| cost <= least)?;
        tries.swap_remove(best)
    }
}

impl LookAhead {
    fn new(thinking: Thinking) -> LookAhead {
        LookAhead {
            thinking,
            easy: "easy".parse().expect("EASY is built in"),
            past: Vec::new(),
            last: Time::ZERO,
            asked: Time::ZERO,
            ran: BTreeMap::new(),
            shares: Vec::new(),
            seen: None,
            dice: Stream::new(1, 0, "look-ahead"),
        }
    }

    /// Creates a new EASY scheduler without any state.
    fn base(&self) -> Box<dyn Scheduler> {
        self.easy.build(()).expect("EASY needs no environment")
    }

    /// Records which jobs have arrived or ended since the last call.
    fn learn(&mut self, now: Time, queue: &Queue, running: &Running) {
        let (shares, asked) = (&mut self.shares, self.asked);
        self.ran.retain(|&job, &mut (start, said)| {
            let runs = running.get(job).is_some();
            if !runs && said > Time::ZERO {
                // The scheduler is not called while no job is waiting, so the job may have ended
                // well before `now`.
                let length = now.since(start).min(said.max(asked.since(start)));
                shares.push(length.0 as f64 / said.0 as f64);
            }
            runs
        });
        for one in running.by_estimated_end() {
            self.ran.insert(one.job.id, (one.start, one.job.estimate));
        }
        let old = shares.len().saturating_sub(PAST);
        shares.drain(..old);
        self.asked = now;
        let news = queue.iter().filter(|job| self.seen.is_none_or(|seen| job.id.0 > seen));
        for job in news.cloned().collect::<Vec<Job>>() {
            self.seen = Some(job.id.0);
            self.past.push((job.arrival.since(self.last), job.clone()));
            self.last = job.arrival;
        }
        let old = self.past.len().saturating_sub(PAST);
        self.past.drain(..old);
    }

    /// Draws future arrivals: the jobs from past jobs, and the intervals from past intervals.
    fn arrivals(&mut self, now: Time) -> Vec<Job> {
        let (past, mut at) = (self.past.len() as u64, now);
        let mut come = Vec::with_capacity(self.thinking.coming);
        for id in (UNSEEN..).take(if past == 0 { 0 } else { self.thinking.coming }) {
            let gap = self.past[self.dice.below(past) as usize].0;
            let job = self.past[self.dice.below(past) as usize].1.clone();
            at = at.saturating_add(gap.max(Time(1)));
            come.push(Job { id: JobId(id), arrival: at, ..job });
        }
        come
    }

    /// Draws a future: arriving jobs, and the run times of arriving, waiting and running jobs.
    fn draw(&mut self, now: Time, queue: &Queue, running: &Running) -> Drawn {
        let coming = self.arrivals(now);
        let mut lengths = HashMap::new();
        for job in queue.iter().take(self.thinking.seen).chain(&coming) {
            lengths.insert(job.id, self.length(job.estimate, Time::ZERO));
        }
        for one in running.by_estimated_end() {
            let so_far = now.since(one.start);
            lengths.insert(one.job.id, self.length(one.job.estimate, so_far));
        }
        Drawn { coming, lengths }
    }

    /// Draws a job's run time from its estimate, given that it has already run for `so_far`.
    fn length(&mut self, said: Time, so_far: Time) -> Time {
        for _ in 0..TRIES {
            if self.shares.is_empty() {
                return said;
            }
            let share = self.shares[self.dice.below(self.shares.len() as u64) as usize];
            let length = Time((said.0 as f64 * share).round() as u64);
            if length > so_far {
                return length;
            }
        }
        said
    }

    /// Simulates a decision in a given future. Returns the sum of the start times of the oldest
    /// waiting jobs and the arriving jobs.
    fn cost(
        &self,
        now: Time,
        (queue, running): (&Queue, &Running),
        view: &MachineView<'_>,
        start: Option<&Start>,
        future: &Drawn,
    ) -> f64 {
        let mut oldest = Queue::new();
        queue.iter().take(self.thinking.seen).for_each(|job| oldest.push(job.clone()));
        let after = if start.is_none() { Some(now) } else { None };
        let scheduler = Box::new(DelayedStart { after, base: self.base() });
        let Ok(mut dispatcher) = view.what_if(&oldest, running, scheduler) else {
            return f64::INFINITY;
        };
        let (left, sum) = (Cell::new(oldest.len() + future.coming.len()), Cell::new(0.0));
        let began = |at: Time| {
            sum.set(sum.get() + at.since(now).0 as f64);
            left.set(left.get() - 1);
            left.get() > 0
        };
        if let Some(start) = start {
            let begun = dispatcher.choose(now, start.clone()).and_then(Decision::start);
            if begun.is_err() {
                return f64::INFINITY;
            }
            began(now);
        }
        let arrivals = future.coming.iter().cloned();
        let length = |job: &Job, _: Option<Time>| {
            future.lengths.get(&job.id).copied().unwrap_or(job.estimate).max(Time(1))
        };
        let end = Time::MAX;
        let future = Future { dispatcher, now, moves: Vec::new(), arrivals, length, end };
        let ran = future.run(|_, at| began(at));
        if ran.is_err() { f64::INFINITY } else { sum.get() }
    }
}

/// A random future: arrivals and run times.
struct Drawn {
    /// The arriving jobs.
    coming: Vec<Job>,
    /// The run times of arriving, waiting and running jobs.
    lengths: HashMap<JobId, Time>,
}

/// An EASY scheduler that starts jobs only after a given time.
struct DelayedStart {
    after: Option<Time>,
    base: Box<dyn Scheduler>,
}

impl Scheduler for DelayedStart {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        if self.after.is_some_and(|after| now <= after) {
            return None;
        }
        self.base.next(now, queue, running, view)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "quick");
    let folder = words.iter().find(|word| *word != "quick");
    let logs = folder.map(|path| Folder::new(path, Limits::LINES));
    let effort = if quick { Effort::QUICK } else { Effort::FULL };
    let mut catalogue = Catalogue::default();
    for (name, thinking) in LEVELS {
        catalogue.schedulers.add(entry(name, move || LookAhead::new(thinking)))?;
    }
    let instances =
        Yardstick::built_in().draw(logs.as_ref().map(|logs| logs as &dyn InputFiles), effort)?;
    let board = judge_all(&instances, &catalogue, &["tff".to_string()], effort, &NoProgress)?;
    let names = LEVELS.map(|(name, _)| name);
    println!("scenario,bound_h,easy_h,{},best,easy_behind_h,half_width_h", names.join(","));
    for instance in &instances {
        let mut rows = board.rows.iter().filter(|row| row.scenario == instance.name).peekable();
        let Some(best) = rows.peek().map(|row| row.scheduler.clone()) else { continue };
        let rows: Vec<&Row> = rows.collect();
        let of = |scheduler: &str| rows.iter().find(|row| row.scheduler == scheduler);
        let Some(easy) = of("easy") else { continue };
        let hours = |seconds: f64| format!("{:.3}", seconds / 3600.0);
        let turnaround = |name| of(name).map_or(String::new(), |row| hours(row.turnaround));
        let behind = easy.behind.as_ref();
        let mut cells = vec![instance.name.clone(), hours(easy.bound), hours(easy.turnaround)];
        cells.extend(names.map(turnaround));
        cells.push(best);
        cells.push(behind.map_or(String::new(), |change| hours(change.difference)));
        let half_width = behind.and_then(|change| change.half_width);
        cells.push(half_width.map_or(String::new(), hours));
        println!("{}", cells.join(","));
    }
    Ok(())
}
