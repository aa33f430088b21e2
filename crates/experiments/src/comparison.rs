//! Every combination of strategies, schedulers and loads over the same jobs.

use pavior_allocation::SelectedStrategy;
use std::sync::atomic::{AtomicUsize, Ordering};

use pavior_mesh::{Grid, JobId};
use pavior_network::{ChannelLoad, Channels, Energy, Settings};
use pavior_simulation::metrics::{Context, Metric, MetricSpec};
use pavior_simulation::{
    ChannelRecorder, Inputs, JobRecord, NetworkSetup, Observer, Outcome, Recorder, RunError, Setup,
    run,
};
use rayon::prelude::*;

use crate::confidence::{half_width, mean};
use crate::{FailureSource, Policy, Source};

/// What is compared, on what, and how often.
pub struct Comparison<'a> {
    /// The machine.
    pub grid: Grid,
    /// The strategies.
    pub strategies: Vec<pavior_allocation::Selection>,
    /// The schedulers.
    pub schedulers: Vec<pavior_scheduling::Selection>,
    /// The loads in jobs a unit of time; one `None` for a trace.
    pub loads: Vec<Option<f64>>,
    /// The jobs.
    pub source: &'a dyn Source,
    /// The metrics.
    pub metrics: Vec<&'static MetricSpec>,
    /// The network, if jobs send messages.
    pub network: Option<NetworkSetup>,
    /// What messages cost.
    pub energy: Energy,
    /// Failures of nodes, if there are any; not together with a network.
    pub failures: Option<FailureSource>,
    /// The bound of the bounded slowdown, in units of time.
    pub slowdown_bound: f64,
    /// The seed.
    pub seed: u64,
    /// How many replications.
    pub policy: Policy,
    /// Completions before counting starts.
    pub warmup: u64,
    /// Whether allocation attempts are timed.
    pub timing: bool,
    /// Whether the jobs of replication 0 are recorded one by one.
    pub record: bool,
}

/// One combination.
#[derive(Clone)]
pub struct Combination {
    /// The strategy.
    pub strategy: pavior_allocation::Selection,
    /// The scheduler.
    pub scheduler: pavior_scheduling::Selection,
    /// The load, where there is one.
    pub load: Option<f64>,
}

/// A metric over the replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean; none if the metric does not apply.
    pub mean: Option<f64>,
    /// The half-width of the 95 % confidence interval; none with fewer than two replications.
    pub ci95: Option<f64>,
}

/// The results of one combination.
pub struct Row {
    /// The combination.
    pub combination: Combination,
    /// The number of replications.
    pub replications: u64,
    /// Whether a target of precision was set and not met.
    pub target_missed: bool,
    /// Jobs that were waiting at the end, over all replications.
    pub waiting: u64,
    /// Whether more than a tenth of the arrivals were waiting at the end, over all replications.
    pub overloaded: bool,
    /// In the order of [`Comparison::metrics`].
    pub metrics: Vec<Summary>,
    /// The measured time per attempt.
    pub allocation_ns: Summary,
    /// The jobs rejected, for each replication.
    pub rejected: Vec<Vec<JobId>>,
    /// The jobs of replication 0, if recorded.
    pub record: Option<Vec<JobRecord>>,
    /// The load of every channel in replication 0, and the cycles in which it was carried, if
    /// recorded and there is a network.
    pub channels: Option<(ChannelLoad, u64)>,
}

/// Who is told how far things are.
pub trait Progress: Sync {
    /// `runs` more replications will be run.
    fn planned(&self, runs: u64);
    /// One replication is done.
    fn done(&self);
}

/// One replication of one combination.
struct Replication {
    values: Vec<Option<f64>>,
    outcome: Outcome,
    record: Option<Vec<JobRecord>>,
    channels: Option<(ChannelLoad, u64)>,
}

impl Comparison<'_> {
    /// Runs everything, on the threads of the current pool. Rows are in the order strategies within
    /// schedulers within loads.
    ///
    /// # Errors
    /// If a strategy does not work on the machine, or messages deadlock.
    pub fn run(&self, progress: &dyn Progress) -> Result<Vec<Row>, RunError> {
        for strategy in &self.strategies {
            strategy.supports(&self.grid).map_err(RunError::from)?;
        }
        let combinations = self.combinations();
        let mut done: Vec<Vec<Replication>> = combinations.iter().map(|_| Vec::new()).collect();
        loop {
            let mut tasks = Vec::new();
            for (index, replications) in done.iter().enumerate() {
                let first = replications.len() as u64;
                let more = self.more(replications);
                tasks.extend((first..first + more).map(|replication| (index, replication)));
            }
            if tasks.is_empty() {
                break;
            }
            progress.planned(tasks.len() as u64);
            let results = self.replicate_all(&combinations, &tasks, progress)?;
            for ((index, _), replication) in tasks.iter().zip(results) {
                done[*index].push(replication);
            }
        }
        Ok(combinations.into_iter().zip(done).map(|(c, runs)| self.row(c, runs)).collect())
    }

    /// Replications of combinations, on all threads; in the order of the tasks, so that the order
    /// of completion does not matter. Nor does it for errors: the first in that order is reported,
    /// and what comes behind one that is known is not begun.
    fn replicate_all(
        &self,
        combinations: &[Combination],
        tasks: &[(usize, u64)],
        progress: &dyn Progress,
    ) -> Result<Vec<Replication>, RunError> {
        let failed = AtomicUsize::new(usize::MAX);
        let results: Vec<Option<Result<Replication, RunError>>> = tasks
            .par_iter()
            .enumerate()
            .map(|(place, &(index, replication))| {
                if place > failed.load(Ordering::Relaxed) {
                    return None;
                }
                let result = self.replicate(&combinations[index], replication);
                if result.is_err() {
                    failed.fetch_min(place, Ordering::Relaxed);
                }
                progress.done();
                Some(result)
            })
            .collect();
        results.into_iter().flatten().collect()
    }

    /// The combinations, in the order of the rows.
    pub fn combinations(&self) -> Vec<Combination> {
        let mut all = Vec::new();
        for &load in &self.loads {
            for scheduler in &self.schedulers {
                for strategy in &self.strategies {
                    let (strategy, scheduler) = (strategy.clone(), scheduler.clone());
                    all.push(Combination { strategy, scheduler, load });
                }
            }
        }
        all
    }

    /// How many more replications a combination needs.
    fn more(&self, replications: &[Replication]) -> u64 {
        let samples = self.targets(replications);
        let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
        self.policy.more(replications.len() as u64, &samples)
    }

    /// The samples of the metrics that a target of precision is about.
    fn targets(&self, replications: &[Replication]) -> Vec<Vec<f64>> {
        let is_target = |name| name == "turnaround" || name == "utilization";
        (0..self.metrics.len())
            .filter(|&index| is_target(self.metrics[index].name))
            .map(|index| replications.iter().filter_map(|run| run.values[index]).collect())
            .collect()
    }

    fn replicate(
        &self,
        combination: &Combination,
        replication: u64,
    ) -> Result<Replication, RunError> {
        let setup = Setup {
            grid: self.grid,
            strategy: combination.strategy.clone(),
            scheduler: combination.scheduler.clone(),
            network: self.network.clone(),
            seed: self.seed,
            replication,
            begin: self.source.begin(),
            warmup: self.warmup,
            ending: self.source.ending(),
            timing: self.timing,
        };
        let network = self.network.as_ref();
        let settings = network.map_or(Settings::default(), |network| network.settings);
        let context = Context {
            grid: self.grid,
            time: self.source.unit(),
            slowdown_bound: self.slowdown_bound,
            routing_delay: settings.routing_delay,
            energy: self.energy,
        };
        let mut metrics: Vec<Box<dyn Metric>> =
            self.metrics.iter().map(|spec| (spec.build)(&context)).collect();
        let recorded = self.record && replication == 0;
        let mut recorder = recorded.then(Recorder::default);
        let channels = || ChannelRecorder::new(Channels::new(self.grid, settings.virtual_channels));
        let mut channels = network.filter(|_| recorded).map(|_| channels());
        let jobs = self.source.jobs(combination.load, self.seed, replication);
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(metrics.iter_mut().map(|metric| &mut **metric as &mut dyn Observer));
        observers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Observer));
        observers.extend(channels.as_mut().map(|channels| channels as &mut dyn Observer));
        let failures = self.failures.as_ref();
        let failures = failures.map(|source| source.events(self.seed, replication));
        let outcome = run(&setup, Inputs { jobs, failures }, &mut observers)?;
        Ok(Replication {
            values: metrics.iter().map(|metric| metric.value()).collect(),
            outcome,
            record: recorder.map(Recorder::into_records),
            channels: channels.map(ChannelRecorder::into_load),
        })
    }

    fn row(&self, combination: Combination, runs: Vec<Replication>) -> Row {
        let summary = |value: &dyn Fn(&Replication) -> Option<f64>| {
            let sample: Vec<f64> = runs.iter().filter_map(value).collect();
            Summary { mean: mean(&sample), ci95: half_width(&sample, 0.95) }
        };
        let metrics =
            (0..self.metrics.len()).map(|index| summary(&|run| run.values[index])).collect();
        let allocation_ns = summary(&|run| run.outcome.allocation_ns);
        let arrived: u64 = runs.iter().map(|run| run.outcome.arrived).sum();
        let waiting: u64 = runs.iter().map(|run| run.outcome.waiting).sum();
        let samples = self.targets(&runs);
        let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
        let replications = runs.len() as u64;
        let (mut rejected, mut record, mut channels) = (Vec::new(), None, None);
        for run in runs {
            rejected.push(run.outcome.rejected);
            record = record.or(run.record);
            channels = channels.or(run.channels);
        }
        Row {
            combination,
            replications,
            target_missed: self.policy.missed(&samples),
            waiting,
            overloaded: waiting * 10 > arrived,
            metrics,
            allocation_ns,
            rejected,
            record,
            channels,
        }
    }
}
