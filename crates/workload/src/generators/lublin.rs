//! The Lublin-Feitelson model of rigid jobs on a parallel machine.
//!
//! **Sizes.** A job is serial with probability `serial`. Otherwise, the base-2 logarithm of its
//! size is two-stage uniform: uniform on [ulow, umed] with probability `uprob`, and uniform on
//! [umed, uhi] otherwise. A fraction `pow2` of all jobs have their logarithm rounded, which makes
//! the size a power of two.
//!
//! **Run times.** The natural logarithm of the run time in seconds is hyper-gamma. It is drawn from
//! gamma(a1, b1) with probability p = pa·size + pb (clamped to [0, 1]), and from gamma(a2, b2)
//! otherwise, so larger jobs tend to run longer. Values above 12 (45 hours) are redrawn.
//!
//! **Arrivals.** Each half hour of the day has a weight: the mass of gamma(anum, bnum) around it,
//! on a day that starts at 05:30. Weights are scaled to a mean of 1. A gap between arrivals is
//! exp(g) seconds, where g is drawn from gamma(aarr·arar, barr) and redrawn if it is above 13.
//! During each half hour, the gap elapses at a rate equal to the weight, so the same gap lasts
//! longer at night. By default, the log starts at midnight.
//!
//! ```text
//!   weight  ▁▁▁▁▁▁▁▁▁▁▁▁▂▃▄▅▆▇██████▇▇▆▆▅▅▄▄▃▃▃▂▂▂▂▁▁▁▁
//!           0       6        12       18        24 h
//! ```
//!
//! **Classes.** The model has one parameter set for all jobs together and separate sets for batch
//! and interactive jobs, which arrive independently. As in the published program, the queue (field
//! 15) is 1 for batch jobs, and 0 for interactive jobs and jobs without a class.
//!
//! Source: Lublin & Feitelson, "The workload on parallel supercomputers: modeling the
//! characteristics of rigid jobs", JPDC 63(11), 2003, and the parameters in the program published
//! with that paper.
//!
//! Deviations: in the program, uhi is set for a 128-node machine, and the user sets umed between
//! uhi-3.5 and uhi-1.5. Here, both are derived from the logarithm of the number of nodes. Their
//! distances from that logarithm are the same as for 128 nodes. A size that rounding would make
//! larger than the machine is halved. Arrivals are rounded down to seconds only on output, so that
//! rounding errors do not add up. Gamma values come from a different sampler. Cost: O(1) per job.

use std::iter::Peekable;

use pavior_kernel::{Entry, OptionSpec, Options, Stream, Values};

use super::{Generator, gamma};
use crate::TimeUnit;
use crate::traces::{Record, Tags};

pub(super) const ENTRY: Entry<Generator> = Entry {
    name: "lublin",
    title: "Lublin and Feitelson's model of rigid jobs (2003)",
    source: "",
    options: &[
        OptionSpec {
            key: "class",
            values: Values::OneOf(&["all", "batch", "interactive", "both"]),
            default: "all",
            meaning: "the job classes to model: all as one class, a single class, or both mixed",
            bare: true,
        },
        OptionSpec {
            key: "start",
            values: Values::Integer(0, 23),
            default: "0",
            meaning: "the hour of the day at which the log begins",
            bare: false,
        },
    ],
    variants: &[""],
    does: Generator { generate },
};

fn generate(
    options: &Options,
    nodes: u32,
    seed: u64,
    replication: u64,
) -> Box<dyn Iterator<Item = Record> + Send> {
    let start = options.integer("start") as usize;
    let jobs = |class| {
        let model = Lublin { start, ..Lublin::new(class, nodes) };
        LublinJobs::new(model, seed, replication)
    };
    match options.get("class") {
        "batch" => Box::new(numbered(jobs(Class::Batch))),
        "interactive" => Box::new(numbered(jobs(Class::Interactive))),
        "both" => {
            let batch = jobs(Class::Batch).peekable();
            let interactive = jobs(Class::Interactive).peekable();
            Box::new(numbered(Merged { batch, interactive }))
        }
        _ => Box::new(numbered(jobs(Class::All))),
    }
}

/// Numbers the jobs starting from 1, as in logs.
fn numbered(jobs: impl Iterator<Item = Record>) -> impl Iterator<Item = Record> {
    jobs.zip(1..).map(|(record, number)| Record { number, line: number, ..record })
}

/// Two endless streams of jobs, merged by submit time.
struct Merged {
    batch: Peekable<LublinJobs>,
    interactive: Peekable<LublinJobs>,
}

impl Iterator for Merged {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let (batch, interactive) = (self.batch.peek()?.submit, self.interactive.peek()?.submit);
        if batch < interactive { self.batch.next() } else { self.interactive.next() }
    }
}

/// The class of jobs that a parameter set describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// All jobs on a machine.
    All,
    /// Batch jobs.
    Batch,
    /// Interactive jobs.
    Interactive,
}

/// The model's parameters, with the names used by its authors.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::{Class, Lublin, LublinJobs};
/// // Fewer serial jobs than in the paper.
/// let model = Lublin { serial: 0.1, ..Lublin::new(Class::All, 256) };
/// assert_eq!(LublinJobs::new(model, 1, 0).take(5).count(), 5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lublin {
    /// The class of jobs.
    pub class: Class,
    /// The number of nodes in the machine.
    pub nodes: u32,
    /// The probability of a serial job.
    pub serial: f64,
    /// The probability that a job is parallel and its size is a power of two.
    pub pow2: f64,
    /// The minimum logarithm of a parallel job's size.
    pub ulow: f64,
    /// The logarithm at which the first of the two uniform stages ends.
    pub umed: f64,
    /// The maximum logarithm of a size.
    pub uhi: f64,
    /// The probability of the first stage.
    pub uprob: f64,
    /// The shape and scale for shorter run times.
    pub short: (f64, f64),
    /// The shape and scale for longer run times.
    pub long: (f64, f64),
    /// The parameters `pa` and `pb`. A run time is short with probability pa·size + pb.
    pub short_share: (f64, f64),
    /// The values `aarr·arar` and `barr`: the shape and scale for the logarithm of a gap.
    pub gap: (f64, f64),
    /// The parameters `anum` and `bnum`: the shape and scale of the daily cycle, in half hours.
    pub day: (f64, f64),
    /// The hour of the day at which the log starts.
    pub start: usize,
}

impl Lublin {
    /// Returns the published parameters, adapted to a machine with at least 2 nodes. On a
    /// single-node machine, jobs are drawn as if there were 2 nodes, but each job gets one node.
    pub fn new(class: Class, nodes: u32) -> Lublin {
        let log = libm::log2(f64::from(nodes.max(2)));
        // On small machines, the second stage would start too low, so it is given half the range.
        let umed = |uhi: f64, ulow: f64, below: f64| (uhi - below).max(f64::midpoint(ulow, uhi));
        match class {
            Class::All => Lublin {
                class,
                nodes,
                serial: 0.244,
                pow2: 0.576,
                ulow: 0.8,
                umed: umed(log, 0.8, 2.5),
                uhi: log,
                uprob: 0.86,
                short: (4.2, 0.94),
                long: (312.0, 0.03),
                short_share: (-0.0054, 0.78),
                gap: (10.2303 * 1.0225, 0.4871),
                day: (8.1737, 3.9631),
                start: 0,
            },
            Class::Batch => Lublin {
                class,
                nodes,
                serial: 0.2927,
                pow2: 0.6686,
                ulow: 1.2,
                umed: umed(log, 1.2, 2.0),
                uhi: log,
                uprob: 0.875,
                short: (6.57, 0.823),
                long: (639.1, 0.0156),
                short_share: (-0.003, 0.6986),
                gap: (6.0415 * 1.0519, 0.8531),
                day: (6.1271, 5.2740),
                start: 0,
            },
            Class::Interactive => {
                let uhi = (log - 1.5).max(1.0);
                Lublin {
                    class,
                    nodes,
                    serial: 0.1541,
                    pow2: 0.625,
                    ulow: 1.0,
                    umed: umed(uhi, 1.0, 2.5),
                    uhi,
                    uprob: 0.705,
                    short: (3.8351, 0.6605),
                    long: (7.073, 0.6856),
                    short_share: (-0.0118, 0.9156),
                    gap: (6.5510 * 0.9797, 0.6621),
                    day: (8.9186, 3.6680),
                    start: 0,
                }
            }
        }
    }

    /// Returns a weight for each half hour of the day. The weights have a mean of 1.
    pub fn weights(&self) -> [f64; BUCKETS] {
        let (shape, scale) = self.day;
        let mut weights = [0.0; BUCKETS];
        for i in DAY_START..BUCKETS + DAY_START {
            let at = |x: f64| gamma::cdf(i as f64 + x, shape, scale);
            weights[(i - 1) % BUCKETS] = at(0.5) - at(-0.5);
        }
        let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
        weights.map(|weight| weight / mean)
    }
}

/// The number of half hours in a day.
const BUCKETS: usize = 48;
/// The half hour in which the model's day starts: 05:30.
const DAY_START: usize = 11;
const SECONDS_IN_BUCKET: f64 = 1800.0;
/// The maximum natural logarithms of a run time and a gap, with both times in seconds.
const LONGEST_RUN: f64 = 12.0;
const LONGEST_GAP: f64 = 13.0;

/// An endless stream of jobs drawn from the model, in submission order. Times are whole seconds.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::{Class, Lublin, LublinJobs};
/// let jobs: Vec<_> = LublinJobs::new(Lublin::new(Class::All, 256), 1, 0).take(10).collect();
/// assert!(jobs.iter().all(|job| (1..=256).contains(&job.nodes)));
/// ```
pub struct LublinJobs {
    model: Lublin,
    weights: [f64; BUCKETS],
    /// The half hour of the last arrival, counted from the start of the log, and the part of that
    /// half hour's weight that was already used.
    bucket: u64,
    used: f64,
    arrivals: Stream,
    sizes: Stream,
    runs: Stream,
}

impl LublinJobs {
    /// Creates the stream of jobs for the given replication.
    pub fn new(model: Lublin, seed: u64, replication: u64) -> LublinJobs {
        // Each class has its own random streams, so `both` produces exactly the jobs that the two
        // classes would produce separately.
        let stream = |part: &str| {
            Stream::new(seed, replication, &format!("lublin {:?} {part}", model.class))
        };
        let (arrivals, sizes, runs) = (stream("arrivals"), stream("sizes"), stream("runs"));
        let weights = model.weights();
        LublinJobs { model, weights, bucket: 0, used: 0.0, arrivals, sizes, runs }
    }

    /// Returns the next submit time, in seconds from the start of the log.
    fn submit(&mut self) -> u64 {
        let (shape, scale) = self.model.gap;
        let gap = below(LONGEST_GAP, || gamma::sample(shape, scale, &mut self.arrivals));
        self.used += libm::exp(gap) / SECONDS_IN_BUCKET;
        let start = (self.model.start * BUCKETS / 24) as u64;
        let weight = |bucket: u64| self.weights[((bucket + start) % BUCKETS as u64) as usize];
        while self.used > weight(self.bucket) {
            self.used -= weight(self.bucket);
            self.bucket += 1;
        }
        ((self.bucket as f64 + self.used / weight(self.bucket)) * SECONDS_IN_BUCKET) as u64
    }

    fn size(&mut self) -> u32 {
        let Lublin { serial, pow2, ulow, umed, uhi, uprob, nodes, .. } = self.model;
        let draw = &mut self.sizes;
        // Every job uses three draws.
        let (kind, stage, at) = (draw.unit(), draw.unit(), draw.unit());
        if kind < serial {
            return 1;
        }
        let (low, high) = if stage < uprob { (ulow, umed) } else { (umed, uhi) };
        let mut log = low + at * (high - low);
        if kind < serial + pow2 {
            log = log.round();
        }
        let size = libm::exp2(log).round() as u32;
        if size > nodes { size / 2 } else { size }
    }

    /// Returns a job's run time in whole seconds, given its size.
    fn run(&mut self, size: u32) -> u64 {
        let Lublin { short, long, short_share: (slope, at_zero), .. } = self.model;
        let share = slope * f64::from(size) + at_zero;
        let draw = &mut self.runs;
        let log = below(LONGEST_RUN, || {
            let (shape, scale) = if draw.unit() < share { short } else { long };
            gamma::sample(shape, scale, draw)
        });
        libm::exp(log) as u64
    }
}

/// Returns the first drawn value that does not exceed `limit`.
fn below(limit: f64, mut draw: impl FnMut() -> f64) -> f64 {
    loop {
        let value = draw();
        if value <= limit {
            return value;
        }
    }
}

impl Iterator for LublinJobs {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let submit = TimeUnit::SECOND.time(self.submit() as f64);
        let nodes = self.size();
        let run = TimeUnit::SECOND.time(self.run(nodes) as f64);
        let queue = i64::from(self.model.class == Class::Batch);
        Some(Record {
            number: 0,
            line: 0,
            submit,
            run,
            estimate: None,
            nodes,
            shape: None,
            freedom: None,
            tags: Tags { status: 1, queue, ..Tags::UNKNOWN },
            wait: None,
            dependency: None,
        })
    }
}
