//! The board, which lists the runs in every scenario and their distances from the bounds.

use std::collections::BTreeMap;

use pavior::Sides;
use pavior::experiments::advice::Change;
use pavior::experiments::{Catalogue, Point, Progress, Scenario};
use pavior::simulation::{Fate, Histories, JobRecord, Stop};
use pavior::strategies::claim::{BoxGroup, Claim};
use pavior::workload::TimeUnit;
use pavior::{Grid, Request};
use rayon::prelude::*;
use serde::Serialize;

use super::Effort;
use super::bootstrap::change;
use super::bounds::{Last, Prices, SCALE, Task, ascend, makespan};
use super::set::{Instance, YardstickError};

/// The schedulers under which every strategy is run.
const SCHEDULERS: [&str; 2] = ["fcfs", "easy"];
/// The number of top-ranked strategies to run under every scheduler: this many from all strategies,
/// and this many from those that assign boxes.
const BEST: usize = 5;
/// The maximum share of unfinished jobs at which a run is still compared.
const MAX_UNFINISHED_SHARE: f64 = 0.02;

/// A proven bound, in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proven<P> {
    /// The bound.
    pub claim: i64,
    /// The proof.
    pub proof: P,
}

/// The bounds for a scenario, in the format read by `examples/bounds.py`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// The scenario.
    pub scenario: String,
    /// The CRC-64 checksum of the scenario's jobs.
    pub sum: String,
    /// The indices of the excluded jobs.
    pub left_out: Vec<usize>,
    /// The number of price units per second.
    pub scale: i64,
    /// The bound on the sum of all completion times.
    pub completions: Proven<Prices>,
    /// The bound on the sum of all completion times, weighted by node counts.
    pub node_completions: Proven<Prices>,
    /// The bound on the end time of the last job.
    pub makespan: Proven<Last>,
}

/// A run in the table. All values cover only the counted jobs. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The strategy.
    pub strategy: String,
    /// The scheduler.
    pub scheduler: String,
    /// The number of jobs that are counted.
    pub jobs: usize,
    /// The mean turnaround.
    pub turnaround: f64,
    /// The lower bound on the mean turnaround of any schedule.
    pub bound: f64,
    /// The amount by which the node-weighted mean turnaround exceeds its bound.
    pub node_gap: f64,
    /// The amount by which the makespan (measured from time 0) exceeds its bound.
    pub makespan_gap: f64,
    /// The paired difference in mean turnaround between this run and the scenario's best run.
    pub behind: Option<Change>,
    /// The turnaround of each counted job, in order of submission.
    pub each: Vec<f64>,
}

/// The results for all scenarios.
pub struct Board {
    /// The rows, grouped by scenario and sorted by turnaround.
    pub rows: Vec<Row>,
    /// The bounds for each scenario, in instance order.
    pub certificates: Vec<Certificate>,
    /// The runs excluded from comparison because they left too many jobs unfinished.
    pub incomplete: Vec<IncompleteRun>,
}

/// A run excluded from comparison because it left too many jobs unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteRun {
    /// The scenario.
    pub scenario: String,
    /// The strategy.
    pub strategy: String,
}

/// A run, with each job's end time in seconds (`None` if the job never ended).
pub(super) struct Play {
    strategy: String,
    scheduler: String,
    pub(super) ends: Vec<Option<f64>>,
}

impl Play {
    fn is_compared(&self) -> bool {
        let unfinished = self.ends.iter().filter(|end| end.is_none()).count();
        unfinished as f64 <= MAX_UNFINISHED_SHARE * self.ends.len() as f64
    }
}

/// Runs each of the `strategies` (by default, all in the catalogue) under `fcfs` and `easy`. Then
/// runs the five best strategies, and the five best of those that assign boxes, under every other
/// scheduler. The runs use the current thread pool.
///
/// # Errors
/// Returns an error if a run cannot continue, or if a name is invalid.
pub fn judge_all(
    instances: &[Instance],
    catalogue: &Catalogue,
    strategies: &[String],
    effort: Effort,
    progress: &dyn Progress,
) -> Result<Board, YardstickError> {
    let all = || catalogue.strategies.entries().map(|entry| entry.name.to_string()).collect();
    let strategies = if strategies.is_empty() { all() } else { strategies.to_vec() };
    let first = SCHEDULERS.map(str::to_string);
    let mut plays = play_all(instances, catalogue, &strategies, &first, progress)?;
    let others: Vec<String> = catalogue
        .schedulers
        .entries()
        .map(|entry| entry.name.to_string())
        .filter(|name| !SCHEDULERS.contains(&&**name))
        .collect();
    let ranked = ranked(instances, &plays);
    let boxes: Vec<&String> = ranked.iter().filter(|name| keeps_boxes(catalogue, name)).collect();
    let is_best = |name: &&String| {
        ranked[..ranked.len().min(BEST)].contains(name)
            || boxes[..boxes.len().min(BEST)].contains(name)
    };
    let best: Vec<String> = ranked.iter().filter(is_best).cloned().collect();
    let more = play_all(instances, catalogue, &best, &others, progress)?;
    plays.iter_mut().zip(more).for_each(|(plays, more)| plays.extend(more));
    let judged: Vec<(Vec<Row>, Certificate)> = instances
        .par_iter()
        .zip(&plays)
        .filter_map(|(instance, plays)| judge(instance, plays, effort))
        .collect();
    let incomplete = instances.iter().zip(&plays).flat_map(|(instance, plays)| {
        let scenario = &instance.name;
        plays.iter().filter(|play| !play.is_compared()).map(move |play| IncompleteRun {
            scenario: scenario.clone(),
            strategy: play.strategy.clone(),
        })
    });
    let incomplete = incomplete.collect();
    let (rows, certificates): (Vec<Vec<Row>>, Vec<Certificate>) = judged.into_iter().unzip();
    Ok(Board { rows: rows.into_iter().flatten().collect(), certificates, incomplete })
}

/// Runs each instance with every given strategy and scheduler.
fn play_all(
    instances: &[Instance],
    catalogue: &Catalogue,
    strategies: &[String],
    schedulers: &[String],
    progress: &dyn Progress,
) -> Result<Vec<Vec<Play>>, YardstickError> {
    if strategies.is_empty() {
        return Ok(instances.iter().map(|_| Vec::new()).collect());
    }
    let points = |instance: &Instance| {
        let specification = instance.specification(strategies, schedulers, &[], catalogue)?;
        Ok(specification.points)
    };
    let points = instances.iter().map(points).collect::<Result<Vec<Vec<Point>>, _>>()?;
    let runs: Vec<(usize, &Point)> = points
        .iter()
        .enumerate()
        .flat_map(|(at, points)| points.iter().map(move |point| (at, point)))
        .collect();
    progress.planned(runs.len() as u64);
    let played: Vec<Result<(usize, Play), YardstickError>> = runs
        .into_par_iter()
        .with_max_len(1)
        .map(|(at, point)| {
            let play = play(&instances[at], point)?;
            progress.done();
            Ok((at, play))
        })
        .collect();
    let mut plays: Vec<Vec<Play>> = instances.iter().map(|_| Vec::new()).collect();
    for played in played {
        let (at, play) = played?;
        plays[at].push(play);
    }
    Ok(plays)
}

pub(super) fn play(instance: &Instance, point: &Point) -> Result<Play, YardstickError> {
    let name = |key: &str| point.get(key).unwrap_or_default().to_string();
    let scenario = Scenario::new(point.settings(), false, instance, &Histories::default());
    let scenario = scenario.map_err(|error| instance.fault(&error))?;
    let run = scenario.record(0, &[], None, &Stop::default());
    let (_, record) = run.map_err(|error| {
        instance.fault(&format!("{}, {}: {error}", name("strategy"), name("scheduler")))
    })?;
    let end = |record: &JobRecord| match record.fate {
        Fate::Started { end: Some(end), .. } => Some(TimeUnit::SECOND.units(end)),
        _ => None,
    };
    let mut ends: Vec<Option<f64>> = record.jobs.iter().map(end).collect();
    ends.resize(instance.tasks.len(), None);
    Ok(Play { strategy: name("strategy"), scheduler: name("scheduler"), ends })
}

/// Returns the jobs that end in every compared run.
fn counted(instance: &Instance, plays: &[Play]) -> Vec<usize> {
    let compared: Vec<&Play> = plays.iter().filter(|play| play.is_compared()).collect();
    let ends = |&at: &usize| compared.iter().all(|play| play.ends[at].is_some());
    (0..instance.tasks.len()).filter(ends).collect()
}

/// Returns the jobs covered by a certificate.
pub(super) fn counted_of(instance: &Instance, certificate: &Certificate) -> Vec<usize> {
    (0..instance.tasks.len()).filter(|at| !certificate.left_out.contains(at)).collect()
}

/// Returns the sum of the counted jobs' weighted completion times.
fn completions(play: &Play, counted: &[usize], weight: impl Fn(usize) -> f64) -> f64 {
    counted.iter().filter_map(|&at| Some(play.ends[at]? * weight(at))).sum()
}

/// Returns true if a strategy always assigns each job a single box, which contains the requested
/// box in some orientation.
pub fn keeps_boxes(catalogue: &Catalogue, name: &str) -> bool {
    let (selected, grid) = (catalogue.strategies.select(name), Grid::mesh(&[8, 8]));
    let (Ok(strategy), Ok(grid)) = (selected, grid) else { return false };
    let asked = [2, 3, 1];
    let family = Claim::of(&strategy).family;
    let shapes = family(&Request::shape(asked), &grid, &strategy.options);
    let sorted = |mut sides: Sides| {
        sides.sort_unstable();
        sides
    };
    let holds =
        |sides: Sides| sorted(sides).iter().zip(sorted(asked)).all(|(&has, asks)| has >= asks);
    let keeps = |shape: &BoxGroup| shape.parts.len() == 1 && holds(shape.bounding());
    strategy.entry.does.contiguous && shapes.iter().all(keeps)
}

/// Returns true if each job in a run gets a box that contains its requested box.
pub fn in_boxes(catalogue: &Catalogue, run: &Row) -> bool {
    // The `easy-freedom` scheduler may also place a job outside its box.
    run.scheduler != "easy-freedom" && keeps_boxes(catalogue, &run.strategy)
}

/// Ranks the strategies by the ratio of their turnaround to the scenario's best turnaround,
/// averaged over all scenarios. Skips strategies that are not compared in every scenario.
fn ranked(instances: &[Instance], plays: &[Vec<Play>]) -> Vec<String> {
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (instance, plays) in instances.iter().zip(plays) {
        let counted = counted(instance, plays);
        let released: f64 = counted.iter().map(|&at| instance.tasks[at].release as f64).sum();
        let mut least: BTreeMap<&str, f64> = BTreeMap::new();
        for play in plays.iter().filter(|play| play.is_compared()) {
            let turnaround = completions(play, &counted, |_| 1.0) - released;
            let own = least.entry(&play.strategy).or_insert(f64::INFINITY);
            *own = own.min(turnaround);
        }
        let first = least.values().copied().fold(f64::INFINITY, f64::min);
        for (strategy, turnaround) in least {
            scores.entry(strategy).or_default().push(turnaround / first);
        }
    }
    let mut scores: Vec<(f64, &str)> = scores
        .into_iter()
        .filter(|(_, scores)| scores.len() == instances.len())
        .map(|(strategy, scores)| (scores.iter().sum(), strategy))
        .collect();
    scores.sort_by(|one, other| one.0.total_cmp(&other.0));
    scores.into_iter().map(|(_, strategy)| strategy.to_string()).collect()
}

/// Returns a scenario's rows and bounds, or `None` if no jobs are counted.
fn judge(instance: &Instance, plays: &[Play], effort: Effort) -> Option<(Vec<Row>, Certificate)> {
    let counted = counted(instance, plays);
    let compared: Vec<&Play> = plays.iter().filter(|play| play.is_compared()).collect();
    let one: Vec<Task> = counted.iter().map(|&at| instance.tasks[at]).collect();
    let by_nodes: Vec<Task> = one.iter().map(|task| Task { weight: task.nodes, ..*task }).collect();
    let capacity = i64::from(instance.machine.nodes());
    let proven = |tasks: &[Task]| {
        let proof = ascend(tasks, capacity, effort.buckets, effort.steps);
        Proven { claim: proof.bound(tasks, capacity).0, proof }
    };
    let (end, last) = makespan(&one, capacity)?;
    let certificate = Certificate {
        scenario: instance.name.clone(),
        sum: instance.sum.clone(),
        left_out: (0..instance.tasks.len()).filter(|at| !counted.contains(at)).collect(),
        scale: SCALE,
        completions: proven(&one),
        node_completions: proven(&by_nodes),
        makespan: Proven { claim: end, proof: last },
    };
    let rows = rows(instance, &compared, &counted, &certificate);
    Some((rows, certificate))
}

fn rows(
    instance: &Instance,
    compared: &[&Play],
    counted: &[usize],
    certificate: &Certificate,
) -> Vec<Row> {
    let jobs = counted.len() as f64;
    let released: f64 = counted.iter().map(|&at| instance.tasks[at].release as f64).sum();
    let nodes = |at: usize| instance.tasks[at].nodes as f64;
    let all_nodes: f64 = counted.iter().map(|&at| nodes(at)).sum();
    let mut order: Vec<(f64, &Play)> = compared
        .iter()
        .map(|&play| (completions(play, counted, |_| 1.0) - released, play))
        .collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let each = |play: &Play| turnarounds(instance, &play.ends, counted);
    let first = order.first().map(|&(_, play)| each(play));
    let row = |&(turnaround, play): &(f64, &Play)| {
        let own = each(play);
        let last = counted.iter().filter_map(|&at| play.ends[at]).fold(0.0, f64::max);
        let by_nodes = completions(play, counted, nodes);
        Row {
            scenario: instance.name.clone(),
            strategy: play.strategy.clone(),
            scheduler: play.scheduler.clone(),
            jobs: counted.len(),
            turnaround: turnaround / jobs,
            bound: (certificate.completions.claim as f64 - released) / jobs,
            node_gap: (by_nodes - certificate.node_completions.claim as f64) / all_nodes,
            makespan_gap: last - certificate.makespan.claim as f64,
            behind: first.as_ref().and_then(|first| change(&own, first)),
            each: own,
        }
    };
    order.par_iter().map(row).collect()
}

/// Returns the counted jobs' turnarounds, in order of submission.
pub(super) fn turnarounds(
    instance: &Instance,
    ends: &[Option<f64>],
    counted: &[usize],
) -> Vec<f64> {
    let turnaround = |&at: &usize| ends[at].unwrap_or_default() - instance.tasks[at].release as f64;
    counted.iter().map(turnaround).collect()
}

impl Row {
    /// The columns of [`Row::cells`]. Times are in hours.
    pub const COLUMNS: [&str; 12] = [
        "scenario",
        "strategy",
        "scheduler",
        "jobs",
        "turnaround_h",
        "bound_h",
        "gap_h",
        "ratio",
        "node_gap_h",
        "makespan_gap_h",
        "behind_h",
        "half_width_h",
    ];

    /// Formats the row as table cells, with four decimal places.
    pub fn cells(&self) -> Vec<String> {
        let hours = |seconds: f64| format!("{:.4}", seconds / 3600.0);
        let names = [&self.scenario, &self.strategy, &self.scheduler].map(String::clone);
        let mut cells = names.to_vec();
        cells.push(self.jobs.to_string());
        cells.extend([self.turnaround, self.bound, self.turnaround - self.bound].map(hours));
        cells.push(format!("{:.4}", self.turnaround / self.bound));
        cells.extend([self.node_gap, self.makespan_gap].map(hours));
        cells.push(self.behind.map_or(String::new(), |change| hours(change.difference)));
        let width = self.behind.and_then(|change| change.half_width);
        cells.push(width.map_or(String::new(), hours));
        cells
    }
}

/// Writes rows as CSV.
///
/// # Errors
/// Returns an error if the writer fails.
pub fn write(
    columns: &[&str],
    mut rows: impl Iterator<Item = Vec<String>>,
    out: &mut dyn std::io::Write,
) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns)?;
    rows.try_for_each(|cells| writer.write_record(cells))?;
    Ok(writer.flush()?)
}
