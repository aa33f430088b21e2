//! Runs of synthetic or logged jobs on a machine whose nodes may fail.

use std::sync::Arc;

use pavior_kernel::{Stream, Time};
use pavior_mesh::Grid;
use pavior_network::{Channels, Settings};
use pavior_scheduling::AdvanceReservation;
use pavior_simulation::metrics::{Context, MetricSpec};
use pavior_simulation::{
    Bounds, ChannelRecorder, Ending, Failing, Histories, Inputs, Migration, Observer, Recorder,
    Restart, RunError, Setup, Simulation, Spares, Stop,
};
use pavior_workload::traces::{Dependencies, Link, Replay, Tags, Trace, TraceJobs};
use pavior_workload::{
    FailureClasses, FailureEvent, Failures, FreedomRule, Job, ReservedNodes, Selection, Service,
    ShapeRule, Shaper, Synthetic, SyntheticJobs, TimeUnit,
};

use super::RunRecord;
use super::places::Places;
use crate::settings::{FailureSource, JobSettings, JobSource, MigrationSettings, RunSettings};
use crate::{InputError, InputFiles, Sample};

pub(super) struct Jobs {
    setup: Setup,
    context: Context,
    workload: Workload,
    /// The fraction of a logged job's run time spent on communication.
    communication: Option<f64>,
    /// The rule for each job's freedom.
    freedom: Option<FreedomRule>,
    migration: Option<MigrationSettings>,
    failures: Option<FailureEvents>,
    reserved: Vec<AdvanceReservation>,
    /// The links from each job to the jobs that are submitted only after it ends.
    links: Option<Arc<[Link]>>,
    restart: Restart,
    spares: Spares,
    bounds: Bounds,
    /// The logged placements, which replace the scheduler's decisions.
    places: Option<Places>,
}

enum Workload {
    /// Synthetic jobs. A run ends after a fixed number of completions.
    Drawn(Synthetic),
    /// The jobs in a log. A run ends when the last job departs.
    Replayed { trace: Arc<Trace>, rule: Selection<ShapeRule>, replay: Replay },
}

enum FailureEvents {
    Drawn(FailureClasses),
    Listed(Arc<Vec<FailureEvent>>),
}

impl Jobs {
    pub(super) fn new(
        settings: &RunSettings,
        jobs: &JobSettings,
        timing: bool,
        files: &dyn InputFiles,
        histories: &Histories,
    ) -> Result<Jobs, InputError> {
        let (grid, time) = (settings.machine, jobs.unit);
        let (mut freedom, mut migration) = (jobs.freedom.clone(), jobs.migration.clone());
        let (workload, begin, ending) = match &jobs.source {
            JobSource::Drawn { workload, completions } => {
                let ending = Ending::Completions(*completions);
                (Workload::Drawn(workload.clone()), Time::ZERO, ending)
            }
            JobSource::Log(log) => {
                let trace = log.request.trace(files, jobs.warmup)?;
                let begin = ticks(time, trace.records[0].submit);
                freedom = freedom.map(|rule| rule.resolve(&trace.names)).transpose()?;
                if let Some(movable) = migration.as_mut().and_then(|it| it.movable.as_mut()) {
                    *movable = movable.resolve(&trace.names)?;
                }
                let (rule, replay) = (log.rule.clone(), log.replay.clone());
                (Workload::Replayed { trace, rule, replay }, begin, Ending::Drained)
            }
        };
        let places = places(&workload, jobs, grid)?;
        let network = jobs.network.as_ref().map(|network| network.setup(histories));
        let routing_delay = network.as_ref().map(|network| network.settings.routing_delay);
        let context = Context {
            time,
            routing_delay: routing_delay.unwrap_or(Settings::default().routing_delay),
            energy: jobs.energy,
            slowdown_bound: jobs.slowdown_bound,
            ..Context::of(grid)
        };
        let setup = Setup::new(grid, &settings.strategy, &jobs.scheduler)
            .expect("both are selections")
            .with_network(network)
            .with_seed(settings.seed)
            .with_begin(begin)
            .with_warmup(jobs.warmup)
            .with_ending(ending)
            .with_timing(timing)
            .with_slice(jobs.slice);
        let follows = jobs.log().is_some_and(|log| log.request.options.dependencies);
        let links = match &workload {
            Workload::Replayed { trace, .. } if follows => Some(links(trace, time)),
            _ => None,
        };
        let failures = jobs.failures.as_ref();
        let source = failures.map(|failures| FailureEvents::new(&failures.source, files));
        Ok(Jobs {
            setup,
            context,
            workload,
            communication: jobs.log().and_then(|log| log.communication),
            freedom,
            migration,
            failures: source.transpose()?,
            reserved: reserved(jobs, files)?,
            links,
            restart: failures.map_or(Restart::Scratch, |failures| failures.restart),
            spares: failures.map(|failures| failures.spares).unwrap_or_default(),
            bounds: jobs.bounds(begin),
            places,
        })
    }

    /// Returns the logged placements, if the run uses them.
    pub(super) fn places(&self) -> Option<&Places> {
        self.places.as_ref()
    }

    /// Returns the run properties that the metrics need.
    pub(super) fn context(&self) -> Context {
        self.context
    }

    fn setup(&self, replication: u64) -> Setup {
        let migration = self.migration.clone().map(|MigrationSettings { price, movable }| {
            let trace = match &self.workload {
                Workload::Drawn(_) => None,
                Workload::Replayed { trace, .. } => Some(trace.clone()),
            };
            let seed = self.setup.seed;
            let may_move = move |job: &Job| {
                let tags = trace.as_ref().map(|trace| &trace.records[job.index as usize].tags);
                // Each job has its own random number stream, so the start order does not matter.
                let mut draw = Stream::new(seed, replication, &format!("movable-{}", job.index));
                movable.as_ref().is_none_or(|rule| {
                    rule.holds(job.request.nodes, tags.unwrap_or(&Tags::UNKNOWN), &mut draw)
                })
            };
            Migration { price, may_move: Arc::new(may_move) }
        });
        self.setup.clone().with_replication(replication).with_migration(migration)
    }

    /// Runs one replication, with additional observers.
    pub(super) fn replicate(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        others: Vec<&mut dyn Observer>,
        stop: &Stop,
    ) -> Result<Sample, RunError> {
        let (jobs, failures) = (self.jobs(replication), self.failures(replication));
        let (reserved, links) = (self.reserved.clone(), self.links.clone());
        let inputs = Inputs { jobs, failures, reserved, links };
        let mut run = self
            .setup(replication)
            .simulation(inputs)
            .with_metrics(metrics)
            .with_context(self.context)
            .within(self.bounds)
            .placed(self.places.as_ref().map(|places| places.of_jobs.clone()))
            .until(stop);
        for other in others {
            run = run.observe(other);
        }
        let measured = run.run()?;
        let values = measured.metrics.iter().map(|(_, value)| *value);
        Ok(Sample::new(values.collect(), &measured.outcome))
    }

    /// Returns the number of completions after which a run ends.
    pub(super) fn length(&self) -> u64 {
        match (&self.workload, self.setup.ending) {
            (_, Ending::Completions(completions)) => completions,
            (Workload::Replayed { trace, .. }, _) => trace.records.len() as u64,
            (Workload::Drawn(_), Ending::Drained) => 0,
        }
    }

    /// Runs one replication and records its jobs and channels.
    pub(super) fn record(
        &self,
        replication: u64,
        metrics: &[&'static MetricSpec],
        other: Option<&mut dyn Observer>,
        stop: &Stop,
    ) -> Result<(Sample, RunRecord), RunError> {
        let mut recorder = Recorder::default();
        // Log replays are long, and recording channel loads would require simulating every message.
        let network = self.setup.network.as_ref().filter(|_| self.communication.is_none());
        let mut channels = network.map(|network| {
            ChannelRecorder::new(Channels::new(self.setup.grid, network.settings.virtual_channels))
        });
        let mut others: Vec<&mut dyn Observer> = vec![&mut recorder];
        others.extend(channels.as_mut().map(|channels| channels as &mut dyn Observer));
        others.extend(other.map(|other| other as &mut dyn Observer));
        let sample = self.replicate(replication, metrics, others, stop)?;
        let channels = channels.map(ChannelRecorder::into_load);
        Ok((sample, RunRecord { jobs: recorder.into_records(), channels }))
    }

    /// Creates a replication of only the first `most` jobs, to be run step by step.
    pub(super) fn stepped(
        &self,
        replication: u64,
        most: usize,
    ) -> Result<Simulation<'static, 'static, 'static>, RunError> {
        let setup = self.setup(replication).with_ending(Ending::Drained);
        let jobs: Vec<Job> = self.jobs(replication).take(most).collect();
        let inputs = Inputs::from(jobs)
            .with_failures(self.failures(replication))
            .with_reserved(self.reserved.clone())
            .with_links(self.links.clone());
        Ok(Simulation::new(&setup, inputs, &mut [])?.within(self.bounds))
    }

    /// Returns the links between jobs, if some jobs are submitted only after others end.
    pub(super) fn links(&self) -> Option<&[Link]> {
        self.links.as_deref()
    }

    /// Returns a replication's jobs in order of arrival. The same replication number always yields
    /// the same jobs. A job that is linked to an earlier job keeps its submission time from the
    /// log.
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
                Workload::Replayed { trace, .. } => &trace.records[job.index as usize].tags,
            };
            let own = job.request.freedom;
            job.request.freedom = rule.of(job.request.nodes, tags, &mut draw).or(own);
            job
        }))
    }

    fn failures(&self, replication: u64) -> Option<Failing> {
        let Setup { grid, seed, begin, .. } = self.setup;
        let unit: TimeUnit = self.context.time;
        let events: Box<dyn Iterator<Item = FailureEvent> + Send> = match self.failures.as_ref()? {
            FailureEvents::Drawn(classes) => {
                let events = Failures::new(&grid, classes, unit, seed, replication);
                let events = events.expect("the point was checked");
                Box::new(events.map(move |event| FailureEvent { at: event.at + begin, ..event }))
            }
            FailureEvents::Listed(events) => {
                let events = events.clone();
                Box::new((0..events.len()).map(move |index| events[index]))
            }
        };
        Some(Failing { events, restart: self.restart, spares: self.spares })
    }
}

/// Returns the jobs' placements in the log, if the run uses them.
fn places(
    workload: &Workload,
    jobs: &JobSettings,
    grid: Grid,
) -> Result<Option<Places>, InputError> {
    let hosts = jobs.log().and_then(|log| log.placed.as_ref());
    match (workload, hosts) {
        (Workload::Replayed { trace, .. }, Some(hosts)) => {
            Places::new(trace, hosts, grid).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the advance reservations, which are the same in every replication.
fn reserved(
    jobs: &JobSettings,
    files: &dyn InputFiles,
) -> Result<Vec<AdvanceReservation>, InputError> {
    let Some(request) = &jobs.reservations else { return Ok(Vec::new()) };
    let one = |(number, one): (u64, &ReservedNodes)| {
        AdvanceReservation::new(number, &request.grid, one.boxes.clone(), (one.from, one.to))
    };
    let all = files.reservations(request)?;
    Ok((0..).zip(all.iter()).map(one).collect::<Result<_, _>>()?)
}

/// Returns the links between a log's jobs, with think times in ticks of the given unit.
fn links(trace: &Trace, unit: TimeUnit) -> Arc<[Link]> {
    let links = Dependencies::of(&trace.records).links.into_iter();
    links.map(|link| Link { think: ticks(unit, link.think), ..link }).collect()
}

/// Converts a time in a log, in microseconds, to ticks of the given unit.
fn ticks(unit: TimeUnit, time: Time) -> Time {
    if unit == TimeUnit::SECOND { time } else { unit.time(TimeUnit::SECOND.units(time)) }
}

/// Makes a logged job spend the given fraction of its run time on communication.
fn communicating(unit: TimeUnit, job: Job, share: f64) -> Job {
    let Service::Run(run) = job.service else { return job };
    Job {
        arrival: ticks(unit, job.arrival),
        service: Service::shared(ticks(unit, run), share),
        estimate: ticks(unit, job.estimate),
        ..job
    }
}

impl FailureEvents {
    fn new(source: &FailureSource, files: &dyn InputFiles) -> Result<FailureEvents, InputError> {
        Ok(match source {
            FailureSource::Drawn(classes) => FailureEvents::Drawn(classes.clone()),
            FailureSource::Listed(request) => FailureEvents::Listed(files.failures(request)?),
        })
    }
}
