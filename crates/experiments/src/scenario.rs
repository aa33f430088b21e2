//! What a point means: where values of parameters take effect.

use std::fmt::Debug;
use std::str::FromStr;
use std::sync::Arc;

use pavior_mesh::Grid;
use pavior_network::{
    Energy, EngineKind, RankOrder, Release, Rounds, SelectedPattern, Sending, Settings,
    TrafficPlan, VirtualChannels,
};
use pavior_simulation::metrics::{Context, Metric, MetricSpec};
use pavior_simulation::{Histories, Inputs, NetworkSetup, Observer, Setup, run};
use pavior_workload::traces::{Filter, ReadOptions, Replay, Trace, TraceJobs};
use pavior_workload::{Job, Selection, ShapeRule, Shaper, Synthetic, TimeUnit};

use crate::still::Still;
use crate::{Point, Sample, Source, SyntheticSource, TraceSource};

/// A log that a point replays, and how to read it.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// The path, as the experiment's file has it.
    pub path: String,
    /// What to read of it.
    pub options: ReadOptions,
    /// Equal requests have equal keys.
    pub key: String,
}

/// Who opens logs: crates do not open files.
pub trait Logs: Sync {
    /// The log; the same one for the same key.
    ///
    /// # Errors
    /// If it cannot be read, in words.
    fn open(&self, request: &LogRequest) -> Result<Arc<Trace>, String>;
}

/// A point that can be run.
pub struct Scenario(Kind);

enum Kind {
    Jobs(Box<Jobs>),
    Still(Still),
}

/// A run of jobs.
struct Jobs {
    setup: Setup,
    context: Context,
    source: Box<dyn Source>,
}

/// A value of a point, typed. It must be set: points hold canonical values only.
pub(crate) fn value<T: FromStr>(point: &Point, name: &str) -> T
where
    T::Err: Debug,
{
    let text = point.get(name).expect("the parameter applies");
    text.parse().expect("points hold values that were read before")
}

/// The synthetic workload of a point.
pub(crate) fn synthetic(point: &Point) -> Synthetic {
    Synthetic {
        load: value(point, "load"),
        arrivals: value(point, "arrivals"),
        sides: value(point, "sides"),
        service: value(point, "service"),
    }
}

/// What the times of a point are measured in.
pub(crate) fn unit(point: &Point) -> TimeUnit {
    if point.get("trace").is_some() {
        TimeUnit::SECOND
    } else if Still::is(point) {
        TimeUnit::TIME_UNIT
    } else {
        synthetic(point).unit()
    }
}

/// The network of a point, if its jobs send messages.
fn network(point: &Point, histories: &Histories) -> Option<NetworkSetup> {
    let pattern = point.get("pattern")?.parse().expect("points hold values that were read before");
    let sending = point.get("sending").map(|sending| match sending {
        "sequential" => Sending::Sequential,
        "blocking" => Sending::Blocking,
        _ => Sending::Pipelined,
    });
    let rounds = point.get("rounds").map(|rounds| match rounds {
        "barrier" => Rounds::Barrier,
        _ => Rounds::Free,
    });
    let is = |name: &str, word: &str| point.get(name) == Some(word);
    Some(NetworkSetup {
        engine: if is("engine", "flit") { EngineKind::Flit } else { EngineKind::Worm },
        settings: Settings {
            routing_delay: value(point, "routing-delay"),
            buffer: value(point, "buffer"),
            virtual_channels: if is("lanes", "shared") {
                VirtualChannels::Shared
            } else {
                VirtualChannels::Two
            },
            release: if is("release", "passed") { Release::Passed } else { Release::Drained },
        },
        plan: TrafficPlan { pattern, sending, rounds, flits: value(point, "flits") },
        ranks: if is("ranks", "parts") { RankOrder::Parts } else { RankOrder::Coordinates },
        histories: histories.clone(),
    })
}

/// Whether a point's machine, pattern and network go together.
pub(crate) fn check(
    point: &Point,
    workload: &Synthetic,
    grid: Grid,
) -> Result<(), (&'static str, String)> {
    network(point, &Histories::default())
        .map_or(Ok(()), |setup| check_network(&setup, workload, grid))
}

/// Whether machine, pattern and network go together.
///
/// # Errors
/// If not: the parameter at fault, and why.
pub fn check_network(
    setup: &NetworkSetup,
    workload: &Synthetic,
    grid: Grid,
) -> Result<(), (&'static str, String)> {
    let pattern = &setup.plan.pattern;
    pattern.supports(&grid).map_err(|error| ("pattern", error.to_string()))?;
    if workload.service.entry.name == "iterations" {
        pattern.supports_iterations().map_err(|error| ("pattern", error.to_string()))?;
    }
    setup.engine.check(&setup.settings).map_err(|error| ("engine", error.to_string()))
}

impl Scenario {
    /// The scenario of a point. What `histories` knows of jobs that are alone on the network is used
    /// and added to.
    ///
    /// # Errors
    /// If its log cannot be read, in words.
    pub fn new(
        point: &Point,
        timing: bool,
        logs: &dyn Logs,
        histories: &Histories,
    ) -> Result<Scenario, String> {
        Ok(Scenario(if Still::is(point) {
            Kind::Still(Still::new(point, timing))
        } else {
            Kind::Jobs(Box::new(Jobs::new(point, timing, logs, histories)?))
        }))
    }

    /// Runs one replication.
    pub fn replicate(&self, replication: u64, metrics: &[&'static MetricSpec]) -> Sample {
        match &self.0 {
            Kind::Jobs(jobs) => jobs.replicate(replication, metrics),
            Kind::Still(still) => still.replicate(replication, metrics),
        }
    }
}

impl Jobs {
    fn new(
        point: &Point,
        timing: bool,
        logs: &dyn Logs,
        histories: &Histories,
    ) -> Result<Jobs, String> {
        let grid: Grid = value(point, "machine");
        let source: Box<dyn Source> = match point.get("trace") {
            None => {
                let source =
                    SyntheticSource::new(grid, synthetic(point), &[], value(point, "jobs"));
                Box::new(source.map_err(|error| error.to_string())?)
            }
            Some(path) => Box::new(replay(point, path, grid, logs)?),
        };
        let usual_bound = if point.get("trace").is_some() { 10.0 } else { 1.0 };
        let network = network(point, histories);
        let settings = network.as_ref().map(|network| network.settings).unwrap_or_default();
        let context = Context {
            grid,
            time: source.unit(),
            routing_delay: settings.routing_delay,
            energy: Energy::default(),
            slowdown_bound: point
                .get("slowdown-bound")
                .map_or(usual_bound, |_| value(point, "slowdown-bound")),
        };
        let setup = Setup {
            grid,
            strategy: value(point, "strategy"),
            scheduler: value(point, "scheduler"),
            network,
            seed: value(point, "seed"),
            replication: 0,
            begin: source.begin(),
            warmup: value(point, "warmup"),
            ending: source.ending(),
            timing,
        };
        Ok(Jobs { setup, context, source })
    }

    fn replicate(&self, replication: u64, metrics: &[&'static MetricSpec]) -> Sample {
        let setup = Setup { replication, ..self.setup.clone() };
        let mut metrics: Vec<Box<dyn Metric>> =
            metrics.iter().map(|spec| (spec.build)(&self.context)).collect();
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(metrics.iter_mut().map(|metric| &mut **metric as &mut dyn Observer));
        let jobs = self.source.jobs(None, setup.seed, replication);
        let inputs = Inputs { jobs, failures: None };
        let outcome = run(&setup, inputs, &mut observers).expect("the point was checked");
        Sample::new(metrics.iter().map(|metric| metric.value()).collect(), &outcome)
    }
}

/// The jobs of a point's log.
fn replay(point: &Point, path: &str, grid: Grid, logs: &dyn Logs) -> Result<TraceSource, String> {
    let trace = logs.open(&request(point, path))?;
    let begin = trace.records.first().ok_or_else(|| format!("{path}: no job is left"))?.submit;
    let rule: Selection<ShapeRule> = value(point, "shape-rule");
    let replay = Replay {
        arrival_scale: value(point, "arrival-scale"),
        kill: value(point, "kill"),
        estimates: value(point, "estimates"),
    };
    let make = move |seed: u64, replication: u64| -> Arc<Vec<Job>> {
        let shaper = Shaper::new(&rule, &grid, seed, replication);
        Arc::new(TraceJobs::new(&trace.records, shaper, replay.clone()).collect())
    };
    Ok(TraceSource::new(Box::new(make), begin))
}

impl LogRequest {
    /// The log of a point; none if its jobs are drawn.
    pub(crate) fn of(point: &Point) -> Option<LogRequest> {
        point.get("trace").map(|path| request(point, path))
    }
}

fn request(point: &Point, path: &str) -> LogRequest {
    let filter = point.get("filter").map_or(Filter::default(), |_| value(point, "filter"));
    let status = point.get("status").and_then(|text| Filter::of_status(text).ok());
    let filter = filter.and(&status.unwrap_or_default());
    let first = point.get("first").map(|_| value(point, "first"));
    let lenient = value(point, "lenient");
    let key = format!("{path} first={first:?} lenient={lenient} {filter}");
    LogRequest { path: path.to_string(), options: ReadOptions { lenient, first, filter }, key }
}
