//! Advice based on rerunning a log's jobs with alternatives to the current configuration.
//!
//! The current configuration is a single point: a machine, a strategy, a scheduler and the jobs in
//! a log. Each alternative changes one setting and runs the same jobs. Every quantity is reported
//! as a paired difference from the current configuration, with an interval computed from pieces of
//! the run ([`Change`]). Each interval has confidence level 1 - 0.05/alternatives. With a
//! probability of 95%, all intervals for a given quantity are therefore correct simultaneously
//! (Bonferroni's inequality). Recommendations are based on these intervals alone.
//!
//! The cost is one simulation run per alternative, plus memory for all waits in each run.

mod alternatives;
mod command;
mod ledger;
mod page;
mod words;

use pavior_kernel::BadName;
use pavior_simulation::metrics::{MetricSpec, named};
use pavior_simulation::{Histories, RunError, Stop};
use pavior_workload::traces::Trace;
use rayon::prelude::*;
use thiserror::Error;

use self::alternatives::changes;
use self::ledger::{Ledger, Whole};
use crate::batches::{self, FEWEST_JOBS};
use crate::settings::JobSource;
use crate::{Environment, InputError, Keys, Point, Scenario, Setting, SettingError, Specification};

pub use crate::batches::{BATCHES, Batch, Change, Shown};
pub use alternatives::Topic;
pub use page::page;
pub use words::{cell, notes, recommendations, value};

/// An error that prevents advice from being generated.
#[derive(Debug, Error)]
pub enum AdviceError {
    /// A setting is invalid.
    #[error("{0}")]
    Setting(SettingError),
    /// The settings do not specify exactly one log and one machine.
    #[error("advice requires one log, one machine, one strategy and one scheduler")]
    NotALog,
    /// The log cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The current configuration cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A quantity used to compare alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The simulation metric's name, with its option.
    pub metric: String,
    /// The size range, in nodes, of the included jobs, or `None` for all jobs.
    pub nodes: Option<[u32; 2]>,
    /// The title to display.
    pub title: String,
    /// The unit to display.
    pub unit: &'static str,
    /// The divisor that converts the metric to the displayed unit.
    pub scale: f64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The command that reproduces these results.
    pub command: String,
    /// Each measure's value, in its metric's unit, or `None` if the measure does not apply.
    pub values: Vec<Option<f64>>,
    /// The number of jobs rejected because they could never fit.
    pub rejected: u64,
    /// The number of jobs that never started.
    pub stuck: u64,
}

/// An alternative that differs from the current configuration in a single setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The topic of the change.
    pub topic: Topic,
    /// A short name, such as `scheduler easy`.
    pub name: String,
    /// A description of the change that can follow the word "with".
    pub words: String,
    /// The result of the run with this change.
    pub run: Run,
    /// Each measure's difference from its current value, in the metric's unit, over the jobs that
    /// completed in both runs.
    pub changes: Vec<Option<Change>>,
}

/// The current configuration, all alternatives, and the differences between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The path to the log, as given.
    pub log: String,
    /// The simulated machine.
    pub machine: String,
    /// The strategy.
    pub strategy: String,
    /// The scheduler.
    pub scheduler: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The time from the first submission to the last, in seconds.
    pub span: f64,
    /// The measures used to compare configurations.
    pub measures: Vec<Measure>,
    /// The result under the current settings.
    pub present: Run,
    /// The alternatives that were run, in topic order.
    pub alternatives: Vec<Alternative>,
    /// Descriptions of alternatives that were skipped, with the reasons.
    pub left_out: Vec<String>,
    /// The confidence level of each interval, chosen so that, with a probability of 95%, all
    /// intervals for a given measure are correct simultaneously.
    pub level: f64,
}

/// The accepted probability that at least one of a measure's intervals is wrong.
const MISSES: f64 = 0.05;

/// Returns the default shape for counting boxes: half the machine along each axis.
fn usual_slots(point: &Point) -> String {
    let grid = point.settings().machine;
    let halves = grid.sides().map(|side| side.div_ceil(2).to_string());
    halves[..grid.axes()].join("x")
}

/// Runs the current configuration, given by `present`, and all alternatives on the current thread
/// pool. `slots` is the shape of the boxes to count, such as `4x4x4`. Reports each run to the
/// environment's `progress`.
///
/// # Errors
/// Returns an error if a setting is invalid, if the settings do not specify exactly one log and one
/// machine, or if the log cannot be read. Also returns an error if the current configuration cannot
/// be run. Alternatives that cannot be run are skipped.
pub fn advise(
    present: &[Setting],
    slots: Option<&str>,
    environment: Environment<'_>,
) -> Result<Advice, AdviceError> {
    advise_among(present, slots, None, environment)
}

/// Works like [`advise`], but runs only a subset of the alternatives: `(names, most)` selects the
/// first `most` of the named alternatives that apply. Names are spelled as in the result, for
/// example `scheduler easy`.
///
/// # Errors
/// Returns the same errors as [`advise`].
pub fn advise_among(
    present: &[Setting],
    slots: Option<&str>,
    some: Option<(&[&str], usize)>,
    environment: Environment<'_>,
) -> Result<Advice, AdviceError> {
    let (placed, present): (Vec<Setting>, Vec<Setting>) =
        present.iter().cloned().partition(|setting| setting.key == "placed");
    let present = present.as_slice();
    let point = point_of(present).map_err(AdviceError::Setting)?.ok_or(AdviceError::NotALog)?;
    let trace = trace(&point, environment)?;
    let slots = slots.map_or_else(|| usual_slots(&point), str::to_string);
    let measures = Measures::new(&trace, &slots).map_err(|_| {
        AdviceError::Input(format!("--slots {slots}: expected a shape, such as 4x4x4").into())
    })?;
    let (mut tried, mut left_out) = tried(present, &point, placed.first());
    if let Some((names, most)) = some {
        let rank = |one: &Tried| names.iter().position(|name| *name == one.name);
        tried.retain(|one| rank(one).is_some());
        tried.sort_by_key(rank);
        tried.truncate(most);
    }
    let progress = environment.progress;
    progress.planned(tried.len() as u64 + 1);
    let first = measures.run(present, &point, &trace, environment)?;
    progress.done();
    let runs: Vec<Result<Raw, AdviceError>> = tried
        .par_iter()
        .with_max_len(1)
        .map(|one| {
            let run = measures.run(&one.settings, &one.point, &trace, environment);
            progress.done();
            run
        })
        .collect();
    let level = 1.0 - MISSES / tried.len().max(1) as f64;
    let mut alternatives = Vec::new();
    for (Tried { topic, name, words, .. }, run) in tried.into_iter().zip(runs) {
        match run {
            Ok(raw) => {
                let changes = measures.changes(&raw, &first, &trace, level);
                alternatives.push(Alternative { topic, name, words, run: raw.run, changes });
            }
            Err(AdviceError::Run(RunError::Stopped)) => return Err(RunError::Stopped.into()),
            Err(error) => left_out.push(format!("{words}: {error}")),
        }
    }
    let text = |name: &str| point.get(name).unwrap_or_default().to_string();
    let submits = || trace.records.iter().map(|record| record.submit);
    let span = submits().max().zip(submits().min()).map(|(last, first)| last.since(first));
    Ok(Advice {
        log: text("trace"),
        machine: text("machine"),
        strategy: text("strategy"),
        scheduler: text("scheduler"),
        jobs: trace.records.len() as u64,
        span: span.map_or(0.0, |span| pavior_workload::TimeUnit::SECOND.units(span)),
        measures: measures.list,
        present: first.run,
        alternatives,
        left_out,
        level,
    })
}

/// Returns the point that the settings describe, or `None` if they describe several points. If
/// `placed` is set, the point uses the logged placements.
fn point_of(settings: &[Setting]) -> Result<Option<Point>, SettingError> {
    let mut specification = Specification::from_settings(settings, "advise", Keys::Options)?;
    let count = 1 + usize::from(settings.iter().any(|setting| setting.key == "placed"));
    Ok(specification.points.pop().filter(|_| specification.points.len() + 1 == count))
}

fn trace(
    point: &Point,
    environment: Environment<'_>,
) -> Result<std::sync::Arc<Trace>, AdviceError> {
    let jobs = point.settings().jobs().ok_or(AdviceError::NotALog)?;
    let JobSource::Log(log) = &jobs.source else { return Err(AdviceError::NotALog) };
    Ok(log.request.trace(environment.files, 0)?)
}

/// An alternative that has not been run yet.
struct Tried {
    topic: Topic,
    name: String,
    words: String,
    settings: Vec<Setting>,
    point: Point,
}

/// Returns the alternatives to run, and those that do not apply. A change that has no effect is in
/// neither list.
fn tried(
    present: &[Setting],
    point: &Point,
    placed: Option<&Setting>,
) -> (Vec<Tried>, Vec<String>) {
    let (mut tried, mut left_out): (Vec<Tried>, _) = (Vec::new(), Vec::new());
    for change in changes(point, placed) {
        let settings = change.applied(present);
        let (topic, name, words) = (change.topic, change.name, change.words);
        match point_of(&settings) {
            Ok(Some(other)) => {
                let known = other == *point || tried.iter().any(|one| one.point == other);
                if !known {
                    tried.push(Tried { topic, name, words, settings, point: other });
                }
            }
            Ok(None) => {}
            Err(error) => left_out.push(format!("{words}: {}", error.reason)),
        }
    }
    (tried, left_out)
}

/// The measures and their metrics.
struct Measures {
    list: Vec<Measure>,
    /// The metrics computed piece by piece. They come after the waits in the list of measures.
    pieces: Vec<(&'static MetricSpec, Whole)>,
}

/// A run, with all the data needed to compare it with other runs.
struct Raw {
    run: Run,
    waits: Vec<Option<f64>>,
    pieces: Vec<Vec<Batch>>,
}

const HOUR: f64 = 3600.0;

impl Measures {
    fn new(trace: &Trace, slots: &str) -> Result<Measures, BadName> {
        let waiting =
            |metric: String, nodes, title| Measure { metric, nodes, title, unit: "h", scale: HOUR };
        let mut list = vec![waiting("waiting".to_string(), None, "waiting".to_string())];
        list.extend(thirds(trace).into_iter().map(|[least, most]| {
            let title = if least == most { format!("{most}") } else { format!("{least}-{most}") };
            waiting(format!("waiting_of:{least}-{most}"), Some([least, most]), title + " nodes")
        }));
        let of_slots = format!("slots_arriving:{slots}");
        let all = [
            // The last piece ends at the last arrival, as `utilization_arriving` does.
            ("utilization_arriving", "utilization", Whole::Average, "utilization", "%", 0.01),
            (&of_slots, &of_slots, Whole::Mean, &format!("slots {slots}"), "", 1.0),
            ("node_time_lost", "node_time_lost", Whole::Sum, "lost", "node-h", HOUR),
        ];
        let mut pieces = Vec::new();
        for (simulated, own, whole, title, unit, scale) in all {
            pieces.push((named(own)?, whole));
            let (metric, title) = (simulated.to_string(), title.to_string());
            list.push(Measure { metric, nodes: None, title, unit, scale });
        }
        Ok(Measures { list, pieces })
    }

    /// Returns the number of measures that are wait times.
    fn waits(&self) -> usize {
        self.list.len() - self.pieces.len()
    }

    fn run(
        &self,
        settings: &[Setting],
        point: &Point,
        trace: &Trace,
        environment: Environment<'_>,
    ) -> Result<Raw, AdviceError> {
        let histories = Histories::default();
        let scenario = Scenario::new(point.settings(), false, environment.files, &histories)?;
        let context = scenario.context().ok_or(AdviceError::NotALog)?;
        let mut ledger = Ledger::new(&context, trace.records.len(), &self.pieces);
        let stop = environment.stop.cloned().unwrap_or_else(Stop::default);
        let sample = scenario.observed(0, &mut ledger, &stop)?;
        let (waits, pieces) = ledger.into_parts();
        let mean_of = |measure: &Measure| {
            let waits = of_sizes(trace, &waits, measure.nodes).map(|(_, wait)| wait);
            let (sum, count) = waits.fold((0.0, 0_u64), |(sum, n), wait| (sum + wait, n + 1));
            (count > 0).then(|| sum / count as f64)
        };
        let mut values: Vec<Option<f64>> = self.list[..self.waits()].iter().map(mean_of).collect();
        values.extend(self.pieces.iter().zip(&pieces).map(|((_, whole), batches)| match whole {
            Whole::Average | Whole::Mean => batches::mean(batches),
            Whole::Sum => Some(batches.iter().map(|batch| batch.sum).sum()),
        }));
        let command = command::simulate(settings, &self.list);
        let run = Run { command, values, rejected: sample.rejected, stuck: sample.waiting };
        Ok(Raw { run, waits, pieces })
    }

    /// Returns the differences between two runs, one per measure.
    fn changes(
        &self,
        other: &Raw,
        present: &Raw,
        trace: &Trace,
        level: f64,
    ) -> Vec<Option<Change>> {
        let few = trace.records.len() < FEWEST_JOBS;
        let of_waits = self.list[..self.waits()].iter().map(|measure| {
            let [a, b] = paired(trace, [&other.waits, &present.waits], measure.nodes);
            Change::of(&a, &b, level)
        });
        let of_pieces = self.pieces.iter().zip(other.pieces.iter().zip(&present.pieces));
        let of_pieces = of_pieces.map(|((_, whole), (a, b))| {
            let factor = if *whole == Whole::Sum { BATCHES as f64 } else { 1.0 };
            Change::of(a, b, level).map(|change| change.times(factor))
        });
        let known = |change: Change| {
            let half_width = change.half_width.filter(|_| !few);
            Change { half_width, ..change }
        };
        of_waits.chain(of_pieces).map(|change| change.map(known)).collect()
    }
}

/// Returns the log index and the wait of each completed job in a size range.
fn of_sizes<'t>(
    trace: &'t Trace,
    waits: &'t [Option<f64>],
    nodes: Option<[u32; 2]>,
) -> impl Iterator<Item = (usize, f64)> + 't {
    let has = move |own: u32| nodes.is_none_or(|[least, most]| (least..=most).contains(&own));
    let jobs = trace.records.iter().zip(waits).enumerate();
    jobs.filter_map(move |(job, (record, wait))| {
        Some((job, (*wait)?)).filter(|_| has(record.nodes))
    })
}

/// Returns the waits, piece by piece, of the jobs that completed in both runs.
fn paired(trace: &Trace, [a, b]: [&[Option<f64>]; 2], nodes: Option<[u32; 2]>) -> [Vec<Batch>; 2] {
    let mut pieces = [vec![Batch::default(); BATCHES], vec![Batch::default(); BATCHES]];
    let jobs = trace.records.len() as u64;
    for (job, own) in of_sizes(trace, a, nodes) {
        let Some(present) = b[job] else { continue };
        let piece = Ledger::piece(job as u64, jobs);
        for (all, wait) in pieces.iter_mut().zip([own, present]) {
            all[piece].sum += wait;
            all[piece].of += 1.0;
        }
    }
    pieces
}

/// Divides the jobs into thirds by size, and returns the smallest and largest node counts in each
/// third. Jobs of the same size are in the same third, so there may be fewer than three thirds.
fn thirds(trace: &Trace) -> Vec<[u32; 2]> {
    let mut nodes: Vec<u32> = trace.records.iter().map(|record| record.nodes).collect();
    nodes.sort_unstable();
    let third = pavior_answers::forecasts::thirds(&nodes);
    let mut all: Vec<(usize, [u32; 2])> = Vec::new();
    for &own in &nodes {
        match all.last_mut() {
            Some((known, [_, most])) if *known == third(own) => *most = own,
            _ => all.push((third(own), [own, own])),
        }
    }
    all.into_iter().map(|(_, sizes)| sizes).collect()
}
