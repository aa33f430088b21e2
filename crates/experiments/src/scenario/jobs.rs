//! Runs of jobs: drawn ones, or those of a log, on a machine whose nodes may fail.

use std::sync::Arc;

use pavior_kernel::{Stream, Time};
use pavior_mesh::Grid;
use pavior_network::Channels;
use pavior_simulation::metrics::{Context, Metric, MetricSpec};
use pavior_simulation::{
    Bounds, ChannelRecorder, Ending, Failing, Histories, Inputs, Migration, Observer, Recorder,
    Restart, RunError, Setup, Simulation, Spares, Stop, run_within,
};
use pavior_workload::traces::{Replay, Tags, Trace, TraceJobs};
use pavior_workload::{
    FailureClasses, FailureEvent, Failures, FreedomRule, Job, JobRule, Selection, Service,
    ShapeRule, Shaper, Synthetic, SyntheticJobs, TimeUnit,
};

use super::inputs::{failures, log};
use super::network::{energy, network};
use super::{InputError, InputFiles, RunRecord};
use crate::boxes::Slice;
use crate::{Catalogue, Point, Sample};

/// The bound of the bounded slowdown in logs, in seconds, and in drawn workloads, in units.
const USUAL_BOUNDS: [f64; 2] = [10.0, 1.0];

/// A run of jobs.
pub(super) struct Jobs {
    setup: Setup,
    context: Context,
    workload: Workload,
    /// The share of the run times of a log's jobs that is communication.
    communication: Option<f64>,
    /// How free jobs are to be placed.
    freedom: Option<FreedomRule>,
    /// What moving a node costs a running job.
    migration: Option<Time>,
    /// Which jobs may be moved; none for all.
    movable: Option<JobRule>,
    failures: Option<FailureSource>,
    restart: Restart,
    spares: Spares,
    bounds: Bounds,
}

/// Where jobs come from.
enum Workload {
    /// They are drawn; a run ends at a completion.
    Drawn(Synthetic),
    /// They are those of a log; a run ends at the last departure.
    Replayed { trace: Arc<Trace>, rule: Selection<ShapeRule>, replay: Replay },
}

/// Where failures come from.
enum FailureSource {
    /// They are drawn.
    Drawn(FailureClasses),
    /// A list.
    Listed(Arc<Vec<FailureEvent>>),
}

/// The synthetic workload of a point.
pub(super) fn synthetic(point: &Point) -> Synthetic {
    Synthetic {
        load: point.value("load"),
        arrivals: point.value("arrivals"),
        sides: point.value("sides"),
        service: point.value("service"),
    }
}

impl Jobs {
    pub(super) fn new(
        point: &Point,
        catalogue: &Catalogue,
        timing: bool,
        files: &dyn InputFiles,
        histories: &Histories,
    ) -> Result<Jobs, InputError> {
        let grid: Grid = point.value("machine");
        let (workload, begin, ending) = match log(point) {
            None => {
                let ending = Ending::Completions(point.value("jobs"));
                (Workload::Drawn(synthetic(point)), Time::ZERO, ending)
            }
            Some(request) => {
                let trace = request.trace(files, point.value("warmup"))?;
                let begin = ticks(point.unit(), trace.records[0].submit);
                let replay = Replay {
                    arrival_scale: point.value("arrival-scale"),
                    kill: point.value("kill"),
                    estimates: point.value("estimates"),
                };
                let rule = point.shape_rule(catalogue).expect("a log has a shape rule");
                (Workload::Replayed { trace, rule, replay }, begin, Ending::Drained)
            }
        };
        let time = point.unit();
        let network = network(point, catalogue, histories);
        let settings = network.as_ref().map(|network| network.settings).unwrap_or_default();
        let [of_logs, of_drawn] = USUAL_BOUNDS;
        let usual_bound = if ending == Ending::Drained { of_logs } else { of_drawn };
        let context = Context {
            grid,
            time,
            routing_delay: settings.routing_delay,
            energy: energy(point),
            slowdown_bound: point.optional("slowdown-bound").unwrap_or(usual_bound),
        };
        let setup = Setup {
            grid,
            strategy: point.strategy(catalogue),
            scheduler: point.scheduler(catalogue),
            network,
            migration: None,
            seed: point.value("seed"),
            replication: 0,
            begin,
            warmup: point.value("warmup"),
            ending,
            timing,
            slice: point.optional("slice").map(Slice::request),
        };
        let failures = failure_source(point, files)?;
        let interval = point.optional("checkpoint").map(|units| time.time(units));
        let restart = interval.map_or(Restart::Scratch, Restart::Checkpoint);
        let spares = spares(point);
        Ok(Jobs {
            setup,
            context,
            workload,
            communication: point.optional("communication"),
            freedom: point.optional("freedom"),
            migration: point.optional("migration").map(|units| time.time(units)),
            movable: point.optional("movable"),
            failures,
            restart,
            spares,
            bounds: bounds(point, begin),
        })
    }

    /// What a replication is made of.
    fn setup(&self, replication: u64) -> Setup {
        let migration = self.migration.map(|price| {
            let trace = match &self.workload {
                Workload::Drawn(_) => None,
                Workload::Replayed { trace, .. } => Some(trace.clone()),
            };
            let (movable, seed) = (self.movable.clone(), self.setup.seed);
            let may_move = move |job: &Job| {
                let tags = trace.as_ref().map(|trace| &trace.records[job.id.0 as usize].tags);
                // A stream for each job, so that it does not depend on when others start.
                let mut draw = Stream::new(seed, replication, &format!("movable-{}", job.id.0));
                movable.as_ref().is_none_or(|rule| {
                    rule.holds(job.request.nodes, tags.unwrap_or(&Tags::UNKNOWN), &mut draw)
                })
            };
            Migration { price, may_move: Arc::new(may_move) }
        });
        Setup { replication, migration, ..self.setup.clone() }
    }

    /// Runs one replication, which `others` observe, too.
    pub(super) fn replicate<'o>(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        others: &mut Vec<&'o mut (dyn Observer + 'o)>,
        stop: &Stop,
    ) -> Result<Sample, RunError> {
        let setup = self.setup(replication);
        let mut metrics: Vec<Box<dyn Metric>> =
            metrics.iter().map(|spec| (spec.build)(&self.context)).collect();
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(metrics.iter_mut().map(|metric| &mut **metric as &mut dyn Observer));
        observers.extend(others.iter_mut().map(|other| &mut **other as &mut dyn Observer));
        let inputs = Inputs { jobs: self.jobs(replication), failures: self.failures(replication) };
        let outcome = run_within(self.bounds, &setup, inputs, &mut observers, stop)?;
        Ok(Sample::new(metrics.iter().map(|metric| metric.value()).collect(), &outcome))
    }

    /// Runs one replication, and records what happened in it.
    pub(super) fn record(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        stop: &Stop,
    ) -> Result<(Sample, RunRecord), RunError> {
        let mut recorder = Recorder::default();
        // On the long runs of logs, telling of each message would mean simulating it.
        let network = self.setup.network.as_ref().filter(|_| self.communication.is_none());
        let mut channels = network.map(|network| {
            ChannelRecorder::new(Channels::new(self.setup.grid, network.settings.virtual_channels))
        });
        let mut others: Vec<&mut dyn Observer> = vec![&mut recorder];
        others.extend(channels.as_mut().map(|channels| channels as &mut dyn Observer));
        let sample = self.replicate(replication, metrics, &mut others, stop)?;
        let channels = channels.map(ChannelRecorder::into_load);
        Ok((sample, RunRecord { jobs: recorder.into_records(), channels }))
    }

    /// One replication with its first `most` jobs, for a caller that steps it.
    pub(super) fn stepped(
        &self,
        replication: u64,
        most: usize,
    ) -> Result<Simulation<'static, 'static, 'static>, RunError> {
        let setup = Setup { ending: Ending::Drained, ..self.setup(replication) };
        let jobs: Vec<Job> = self.jobs(replication).take(most).collect();
        let failures = self.failures(replication);
        let inputs = Inputs { jobs: Box::new(jobs.into_iter()), failures };
        Ok(Simulation::new(&setup, inputs, &mut [])?.within(self.bounds))
    }

    /// The jobs of a replication, in the order of arrival; the same for the same arguments.
    pub(super) fn jobs(&self, replication: u64) -> Box<dyn Iterator<Item = Job> + Send + '_> {
        let Setup { grid, seed, .. } = &self.setup;
        let jobs: Box<dyn Iterator<Item = Job> + Send + '_> = match &self.workload {
            Workload::Drawn(workload) => {
                let jobs = SyntheticJobs::new(workload, grid, *seed, replication);
                Box::new(jobs.expect("the point was checked"))
            }
            Workload::Replayed { trace, rule, replay } => {
                let shaper = Shaper::new(rule, grid, *seed, replication);
                let jobs = TraceJobs::new(&trace.records, shaper, replay.clone());
                let unit = self.context.time;
                match self.communication {
                    None => Box::new(jobs),
                    Some(share) => Box::new(jobs.map(move |job| communicating(unit, job, share))),
                }
            }
        };
        let Some(rule) = &self.freedom else { return jobs };
        let mut draw = Stream::new(*seed, replication, "freedom");
        Box::new(jobs.map(move |mut job| {
            let tags = match &self.workload {
                Workload::Drawn(_) => &Tags::UNKNOWN,
                Workload::Replayed { trace, .. } => &trace.records[job.id.0 as usize].tags,
            };
            let own = job.request.freedom;
            job.request.freedom = rule.of(job.request.nodes, tags, &mut draw).or(own);
            job
        }))
    }

    /// Failures and repairs of a replication.
    fn failures(&self, replication: u64) -> Option<Failing> {
        let Setup { grid, seed, begin, .. } = self.setup;
        let unit: TimeUnit = self.context.time;
        let events: Box<dyn Iterator<Item = FailureEvent> + Send> = match self.failures.as_ref()? {
            FailureSource::Drawn(classes) => {
                let events = Failures::new(&grid, classes, unit, seed, replication);
                let events = events.expect("the point was checked");
                Box::new(events.map(move |event| FailureEvent { at: event.at + begin, ..event }))
            }
            FailureSource::Listed(events) => {
                let events = events.clone();
                Box::new((0..events.len()).map(move |index| events[index]))
            }
        };
        Some(Failing { events, restart: self.restart, spares: self.spares })
    }
}

/// A time of a log in ticks of another unit than microseconds.
fn ticks(unit: TimeUnit, time: Time) -> Time {
    if unit == TimeUnit::SECOND { time } else { unit.time(TimeUnit::SECOND.units(time)) }
}

/// A job of a log that spends a share of its run time on communication.
fn communicating(unit: TimeUnit, job: Job, share: f64) -> Job {
    let Service::Run(run) = job.service else { return job };
    Job {
        arrival: ticks(unit, job.arrival),
        service: Service::shared(ticks(unit, run), share),
        estimate: ticks(unit, job.estimate),
        ..job
    }
}

/// What ends a run that would not end by itself.
fn bounds(point: &Point, begin: Time) -> Bounds {
    let usual = Bounds::default();
    let until = point.optional("max-time").map(|units| point.unit().time(units));
    Bounds {
        waiting: point.optional("max-waiting").unwrap_or(usual.waiting),
        until: until.map_or(usual.until, |time| begin.saturating_add(time)),
        interruptions: point.optional("max-interruptions").unwrap_or(usual.interruptions),
    }
}

fn failure_source(
    point: &Point,
    files: &dyn InputFiles,
) -> Result<Option<FailureSource>, InputError> {
    if let Some(request) = failures(point) {
        return Ok(Some(FailureSource::Listed(files.failures(&request)?)));
    }
    Ok(failure_classes(point).map(FailureSource::Drawn))
}

/// The classes of failures of a point: `mttf` and `mttr` are those of the class `node`.
pub(super) fn failure_classes(point: &Point) -> Option<FailureClasses> {
    let (mttf, mttr) = (point.optional("mttf"), point.optional("mttr"));
    let nodes = mttf.zip(mttr).map(|(mttf, mttr)| FailureClasses::nodes(mttf, mttr));
    nodes.or_else(|| point.optional("fail-classes"))
}

/// What stands by.
pub(super) fn spares(point: &Point) -> Spares {
    let count = |name| point.optional(name).unwrap_or_default();
    Spares { cubes: count("spares"), switches: count("spare-switches") }
}
