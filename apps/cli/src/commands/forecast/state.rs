//! Forecasts for the jobs in a queue, based on the state of a machine.

use pavior::answers::forecasts::{
    Effort, Experience, Forecaster, HORIZON, Kind, Obstacle, QueueForecast, Start,
};
use pavior::answers::json::Place;
use pavior::experiments::{Environment, FIRST_INSTANT, Given, learn_log};
use pavior::scheduling::{Dispatcher, Selection};
use pavior::workload::{Job, Service, Shaper, TimeUnit};
use pavior::{Grid, JobId, Machine, Request, Stream, Time};
use serde_json::{Value, json};

use super::settings;
use crate::args::{self, ForecastArgs, OfReading, StateArgs};
use crate::busy::{self, Busy, JobName};
use crate::commands::unblock::WIDE;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::progress::Bar;
use crate::queue::{self, Rules, Waiting};
use crate::{input, logs};

/// The run time assumed for a job without an estimate, which exceeds the forecasting horizon.
const ENDLESS: Time = Time(2 * HORIZON.0);

pub(super) fn run(args: &ForecastArgs, effort: Effort) -> Result<(), Failure> {
    let StateArgs { queue, busy, now, past } = &args.state;
    let Some(queue) = queue else { return Err(Failure::usage("give a log or --queue")) };
    let Some(machine) = args.parameters.typed("machine") else {
        return Err(Failure::usage("--queue needs --machine"));
    };
    let grid = input::machine(machine)?;
    let given = args.parameters.given()?;
    let seed = given.seed.unwrap_or(1);
    let busy = match busy {
        Some(path) => busy::read(path, grid)?,
        None => Busy::none(grid),
    };
    let mut rules = rules(&given, args, grid)?;
    let waiting = queue::read(queue, &busy, &mut rules)?;
    let scheduler: Selection = named(args, "scheduler")?;
    let effort = Effort { seed, ..effort };
    let (mut forecaster, origin) = match past {
        None => (Forecaster::new(scheduler.clone(), effort), FIRST_INSTANT),
        Some(log) => {
            let settings = settings(args, log)?;
            let bar = Bar::new("forecast");
            let folder = logs::folder("");
            let environment = Environment { files: &folder, progress: &bar, ..Environment::PLAIN };
            let learned = learn_log(&settings, effort, environment);
            bar.finish();
            learned?
        }
    };
    let strategy = named(args, "strategy")?;
    let machine = Machine::with_stream(grid, &strategy, Stream::new(seed, 0, "allocation"));
    let machine = machine.map_err(|error| Failure::usage(error.to_string()))?;
    let built = scheduler.build(());
    let built = built.map_err(|error| Failure::usage(error.to_string()))?;
    let clock = Clock { now: *now, origin };
    let mut site = Site { busy: &busy, clock, forecaster: &mut forecaster, knows: past.is_some() };
    let mut dispatcher = Dispatcher::new(machine, built);
    site.hold(&mut dispatcher)?;
    let (ids, forecast) = site.answer(dispatcher, &waiting)?;
    let title = format!("{grid}, strategy {strategy}, scheduler {scheduler}");
    let past = past.is_some().then_some(forecast.experience);
    let story = Story { title, grid, now: *now, waiting, ids, forecast, past };
    story.tell(Format::or_default(args.format))
}

/// Returns the selection typed for an option, or the option's default.
fn named<T>(args: &ForecastArgs, name: &str) -> Result<T, Failure>
where
    T: std::str::FromStr<Err = pavior::BadName>,
{
    let default = args::OF_LOGS.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let typed = args.parameters.typed(name).or(default).unwrap_or_default();
    input::name(&format!("--{name}"), typed)
}

/// Returns the rules for reading requests. Fails if an option for reading logs is given without a
/// log.
fn rules(given: &Given, args: &ForecastArgs, grid: Grid) -> Result<Rules, Failure> {
    if args.state.past.is_none()
        && let Some(name) =
            OfReading::NAMES.iter().find(|name| args.parameters.typed(name).is_some())
    {
        return Err(Failure::usage(format!("--{name} applies only to the log of --past")));
    }
    let seed = given.seed.unwrap_or(1);
    let rule = given.shape_rule.clone().map_or_else(|| "compact".parse(), Ok);
    let rule = rule.map_err(|bad: pavior::BadName| Failure::Other(bad.reason))?;
    let (shaper, draw) = (Shaper::new(&rule, &grid, seed, 0), Stream::new(seed, 0, "freedom"));
    Ok(Rules { grid, shaper, freedom: given.freedom.clone(), draw })
}

/// The current time, on the state's clock and on the forecaster's clock.
#[derive(Clone, Copy)]
struct Clock {
    now: f64,
    origin: Time,
}

impl Clock {
    /// Converts a past time on the state's clock to a time on the forecaster's clock.
    fn before(self, at: f64) -> Time {
        TimeUnit::SECOND.time((self.now - at).clamp(0.0, 1e10))
    }
}

/// The state of a machine and a forecaster for it.
struct Site<'a> {
    busy: &'a Busy,
    clock: Clock,
    forecaster: &'a mut Forecaster,
    /// True if a log of past runs was given.
    knows: bool,
}

impl Site<'_> {
    /// Assigns nodes to the running jobs. A job without a start time counts as just started.
    fn hold(&mut self, dispatcher: &mut Dispatcher) -> Result<(), Failure> {
        let (starts, ends) = (self.busy.starts()?, self.busy.ends()?);
        let (users, now) = (self.busy.users()?, self.clock.now);
        for (id, placement) in self.busy.state.held() {
            let place = id.0 as usize;
            let from = starts[place].unwrap_or(now).min(now);
            let ran = self.clock.before(from);
            let said = ends.of(*id).map(|end| TimeUnit::SECOND.time((end - from).clamp(0.0, 1e10)));
            let job = (*id, Request::nodes(placement.nodes()), said, users[place]);
            let (job, kind) = self.job(job);
            self.forecaster.found(job.id, kind);
            let start = self.clock.origin.since(ran);
            let held = dispatcher.hold(job, start, placement.clone());
            held.map_err(|error| Failure::usage(error.to_string()))?;
        }
        for node in self.busy.state.failed() {
            let failed = dispatcher.fail(node);
            failed.map_err(|error| Failure::usage(error.to_string()))?;
        }
        Ok(())
    }

    /// Returns the forecasts, and the id of each waiting job (`None` for jobs that can never
    /// start).
    fn answer(
        &mut self,
        mut dispatcher: Dispatcher,
        waiting: &[Waiting],
    ) -> Result<(Vec<Option<JobId>>, QueueForecast), Failure> {
        let first = self.busy.state.held().len() as u64;
        let mut ids = Vec::new();
        for (place, one) in waiting.iter().enumerate() {
            let said = one.estimate.map(|seconds| TimeUnit::SECOND.time(seconds));
            let (job, kind) = self.job((JobId(first + place as u64), one.request, said, one.user));
            let fits = dispatcher.could_ever_fit(&one.request).is_ok();
            ids.push(fits.then_some(job.id));
            if fits {
                self.forecaster.found(job.id, kind);
                dispatcher.submit(job).map_err(|error| Failure::usage(error.to_string()))?;
            }
        }
        let jobs: Vec<JobId> = ids.iter().copied().flatten().collect();
        let forecast = self.forecaster.forecast_queue(&mut dispatcher, self.clock.origin, &jobs);
        Ok((ids, forecast.map_err(|error| Failure::usage(error.to_string()))?))
    }

    /// Creates a job, with the properties used to find similar jobs. Without an estimate, its run
    /// time is the usual run time of similar jobs. Without past runs either, it never ends.
    fn job(
        &self,
        (id, request, said, user): (JobId, Request, Option<Time>, Option<u64>),
    ) -> (Job, Kind) {
        let estimate = said.or((!self.knows).then_some(ENDLESS));
        let kind = Kind { user, nodes: request.nodes, estimate };
        let (number, arrival) = (id.0, self.clock.origin);
        let usual = || self.forecaster.past().usual(&kind).unwrap_or(ENDLESS);
        let estimate = estimate.unwrap_or_else(usual);
        let service = Service::Run(estimate);
        (Job { id, index: id.0, number, arrival, request, service, estimate }, kind)
    }
}

/// The results and the settings for printing them.
struct Story {
    title: String,
    grid: Grid,
    now: f64,
    waiting: Vec<Waiting>,
    /// The id of each waiting job. `None` means that the job can never start.
    ids: Vec<Option<JobId>>,
    forecast: QueueForecast,
    /// Run times and forecasts learned from a past log, if one was given.
    past: Option<Experience>,
}

impl Story {
    fn tell(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Json => output::json(&self.json()),
            Format::Csv => {
                let cell = |time: Option<f64>| time.map_or_else(String::new, |at| at.to_string());
                let rows = self.rows().map(|(one, _, times)| {
                    let mut row = vec![JobName::of(&one.name).raw(), one.request.nodes.to_string()];
                    row.extend(times.map(|wait| cell(wait.map(|wait| self.now + wait))));
                    row
                });
                let header = ["job", "nodes", "earliest", "median", "latest", "plan"];
                output::csv(&header, &rows.collect::<Vec<_>>())
            }
            Format::Table => self.table(),
        }
    }

    /// Returns a row for each waiting job: its start, if it can ever start, and its earliest,
    /// median, latest and planned waiting time, in whole seconds.
    fn rows(&self) -> impl Iterator<Item = (&Waiting, Option<Start>, [Option<f64>; 4])> {
        self.waiting.iter().zip(&self.ids).map(|(one, id)| {
            let now = self.forecast.now;
            let start = id.and_then(|id| self.forecast.starts.get(&id)).copied();
            let start = start.map(|start| match self.past {
                Some(_) => start,
                None => start.plan_alone(now),
            });
            let wait = |at: Time| TimeUnit::SECOND.units(at.since(now)).round();
            let times = start.map_or([None; 4], |start| start.times());
            let times = times.map(|time| time.map(wait));
            (one, start, times)
        })
    }

    fn json(&self) -> Value {
        let jobs = self.rows().map(|(one, start, times)| {
            let obstacle = start.and_then(|start| start.obstacle);
            let place = obstacle.and_then(|obstacle| obstacle.place());
            let place = place.map(|at| Place::of(&self.grid, &at));
            let [earliest, median, latest, plan] =
                times.map(|wait| wait.map(|wait| self.now + wait));
            json!({
                "job": one.name, "nodes": one.request.nodes, "fits_ever": start.is_some(),
                "earliest": earliest, "median": median, "latest": latest, "plan": plan,
                "obstacle": obstacle.map(|obstacle| obstacle.name()), "place": place,
            })
        });
        let jobs: Vec<Value> = jobs.collect();
        json!({
            "now": self.now,
            "past": self.past.map(|past| json!({
                "run_times": past.runs,
                "kept": past.promises.kept,
                "broken": past.promises.broken,
                "calibrated": past.calibrated,
            })),
            "jobs": jobs,
        })
    }

    fn table(&self) -> Result<(), Failure> {
        output::text(&self.sentence(), WIDE)?;
        let shown = |wait: Option<f64>| {
            wait.map_or_else(|| "-".to_string(), |wait| format!("{:.1}", wait / 3600.0))
        };
        let header = ["job", "nodes", "earliest h", "median h", "latest h", "plan h"];
        let drawn = self.past.is_some();
        let header = if drawn { &header[..] } else { &["job", "nodes", "plan h"] };
        let mut table = Table::new(header, 1);
        for (one, start, times) in self.rows() {
            let times = times[if drawn { 0 } else { 3 }..].iter();
            let times = times.map(|wait| match start.map(|start| start.obstacle) {
                Some(Some(Obstacle::Unavailable(_))) => "blocked".to_string(),
                Some(_) => shown(*wait),
                None => "never".to_string(),
            });
            let name = JobName::of(&one.name).to_string();
            table.row([name, one.request.nodes.to_string()].into_iter().chain(times).collect());
        }
        table.print(WIDE).map(drop)
    }

    fn sentence(&self) -> String {
        let title =
            format!("{}: {} waiting. Times are in hours from now.", self.title, self.waiting.len());
        let Some(past) = self.past else {
            return format!(
                "{title} Without --past, each job is assumed to run for its estimate, and no more \
                 jobs arrive."
            );
        };
        let (runs, promises) = (past.runs, past.judged());
        if past.calibrated {
            let kept = past.promises.kept;
            format!(
                "{title} Nine out of ten jobs should start between the earliest and the latest \
                 time; {kept} of {promises} past jobs did. {runs} run times are known."
            )
        } else {
            format!(
                "{title} {runs} run times are known. The range between the earliest and the latest \
                 time is not yet calibrated, because only {promises} past jobs had to wait."
            )
        }
    }
}
