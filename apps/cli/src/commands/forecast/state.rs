//! Forecasts when queued jobs will start, based on the current state of a machine.

use pavior::answers::forecasts::{
    Effort, Experience, Forecaster, HORIZON, Kind, Obstacle, QueueForecast, Start,
};
use pavior::answers::json::Place;
use pavior::experiments::parameters::of_reading;
use pavior::experiments::{Environment, FIRST_INSTANT, Given, learn_log};
use pavior::scheduling::{Dispatcher, Selection};
use pavior::workload::{Job, Service, Shaper, TimeUnit};
use pavior::{Grid, JobId, Machine, Request, Stream, Time};
use serde_json::{Value, json};

use super::run_settings;
use crate::args::{ForecastArgs, StateArgs};
use crate::busy::{self, Busy, JobName};
use crate::failure::Failure;
use crate::output::{MAX_WIDTH, Reply, Table};
use crate::progress::Bar;
use crate::queue::{self, Rules, Waiting};
use crate::{files, input, logs};

/// The run time assumed for a job without an estimate. It exceeds the forecasting horizon.
const ENDLESS_RUN_TIME: Time = Time(2 * HORIZON.0);

pub(super) fn run(args: &ForecastArgs, effort: Effort) -> Result<(), Failure> {
    let StateArgs { queue, busy, now, past } = &args.state;
    let Some(queue) = queue else { return Err(Failure::usage("pass a log or --queue")) };
    let Some(machine) = args.parameters.typed("machine") else {
        return Err(Failure::usage("--queue requires --machine"));
    };
    files::check_stdin([("--queue", Some(queue)), ("--busy", busy.as_deref())])?;
    let grid = input::machine(machine)?;
    let given = args.parameters.given()?;
    let seed = given.seed.unwrap_or(1);
    let busy = busy::read(busy.as_deref(), grid)?;
    let mut rules = request_rules(&given, args, grid)?;
    let waiting = queue::read(queue, &busy, &mut rules)?;
    let named = |name: &'static str| args.parameters.typed_or_default(name).unwrap_or_default();
    let scheduler: Selection = input::name("--scheduler", named("scheduler"))?;
    let strategy = input::name("--strategy", named("strategy"))?;
    let machine = Machine::with_stream(grid, &strategy, Stream::new(seed, 0, "allocation"))
        .map_err(Failure::usage)?;
    let mut dispatcher = Dispatcher::new(machine, scheduler.build(()).map_err(Failure::usage)?);
    let (forecaster, origin) = forecaster(args, &scheduler, Effort { seed, ..effort })?;
    let mut site = Site { busy: &busy, now: *now, origin, forecaster, has_past: past.is_some() };
    site.hold(&mut dispatcher)?;
    let (ids, forecast) = site.forecast(dispatcher, &waiting)?;
    let title = format!("{grid}, strategy {strategy}, scheduler {scheduler}");
    let past = past.is_some().then_some(forecast.experience);
    let report = QueueReport { title, grid, now: *now, waiting, ids, forecast, past };
    report.reply().print(args.output.format(), MAX_WIDTH)
}

/// Creates a forecaster, which learns from a log of past jobs if there is one. Also returns the
/// current time on the forecaster's clock.
fn forecaster(
    args: &ForecastArgs,
    scheduler: &Selection,
    effort: Effort,
) -> Result<(Forecaster, Time), Failure> {
    let Some(log) = &args.state.past else {
        return Ok((Forecaster::new(scheduler.clone(), effort), FIRST_INSTANT));
    };
    let settings = run_settings(args, log)?;
    let folder = logs::folder("");
    Ok(Bar::during("forecast", |bar| {
        let environment = Environment { files: &folder, progress: bar, ..Environment::PLAIN };
        learn_log(&settings, effort, environment)
    })?)
}

/// Returns the rules for interpreting requests. Fails if the user specified a log-reading option
/// but no log.
fn request_rules(given: &Given, args: &ForecastArgs, grid: Grid) -> Result<Rules, Failure> {
    let settings = args.parameters.settings().into_iter();
    let of_log = settings.map(|setting| setting.key).find(|key| of_reading(key).is_some());
    if let Some(name) = of_log.filter(|_| args.state.past.is_none()) {
        return Err(Failure::usage(format!(
            "--{name} applies only to logs; specify a log with --past"
        )));
    }
    let seed = given.seed.unwrap_or(1);
    let rule = given.shape_rule.clone().map_or_else(|| "compact".parse(), Ok);
    let rule = rule.map_err(|bad: pavior::BadName| Failure::Other(bad.reason))?;
    let (shaper, draw) = (Shaper::new(&rule, &grid, seed, 0), Stream::new(seed, 0, "freedom"));
    Ok(Rules { grid, shaper, freedom: given.freedom.clone(), draw })
}

/// A machine's state and its forecaster.
struct Site<'a> {
    busy: &'a Busy,
    /// The current time on the state's clock.
    now: f64,
    /// The current time on the forecaster's clock.
    origin: Time,
    forecaster: Forecaster,
    /// True if the user provided a log of past jobs.
    has_past: bool,
}

impl Site<'_> {
    /// Places the running jobs. A job without a start time is assumed to have just started.
    fn hold(&mut self, dispatcher: &mut Dispatcher) -> Result<(), Failure> {
        let (starts, ends) = (self.busy.starts()?, self.busy.ends()?);
        let (users, now) = (self.busy.users()?, self.now);
        let length = |seconds: f64| TimeUnit::SECOND.time(seconds.clamp(0.0, 1e10));
        for (id, placement) in self.busy.state.held() {
            let index = id.0 as usize;
            let start = starts[index].unwrap_or(now).min(now);
            let estimate = ends.of(*id).map(|end| length(end - start));
            let request = Request::nodes(placement.nodes());
            let (job, kind) = self.job(*id, request, estimate, users[index]);
            self.forecaster.found(job.id, kind);
            let start = self.origin.since(length(now - start));
            dispatcher.hold(job, start, placement.clone()).map_err(Failure::usage)?;
        }
        for node in self.busy.state.failed() {
            dispatcher.fail(node).map_err(Failure::usage)?;
        }
        Ok(())
    }

    /// Returns the ids of waiting jobs (`None` for jobs that can never start) and the forecasts.
    fn forecast(
        &mut self,
        mut dispatcher: Dispatcher,
        waiting: &[Waiting],
    ) -> Result<(Vec<Option<JobId>>, QueueForecast), Failure> {
        let first = self.busy.state.held().len() as u64;
        let mut ids = Vec::new();
        for (index, &Waiting { request, estimate, user, .. }) in waiting.iter().enumerate() {
            let estimate = estimate.map(|seconds| TimeUnit::SECOND.time(seconds));
            let (job, kind) = self.job(JobId(first + index as u64), request, estimate, user);
            let fits = dispatcher.could_ever_fit(&request).is_ok();
            ids.push(fits.then_some(job.id));
            if fits {
                self.forecaster.found(job.id, kind);
                dispatcher.submit(job).map_err(Failure::usage)?;
            }
        }
        let jobs: Vec<JobId> = ids.iter().copied().flatten().collect();
        let forecast = self.forecaster.forecast_queue(&mut dispatcher, self.origin, &jobs);
        Ok((ids, forecast.map_err(Failure::usage)?))
    }

    /// Creates a job, and finds the properties used to identify similar jobs. A job without an
    /// estimate gets the usual run time of similar jobs, or never ends if there are no past jobs.
    fn job(
        &self,
        id: JobId,
        request: Request,
        estimate: Option<Time>,
        user: Option<u64>,
    ) -> (Job, Kind) {
        let estimate = estimate.or((!self.has_past).then_some(ENDLESS_RUN_TIME));
        let kind = Kind { user, nodes: request.nodes, estimate };
        let (number, arrival) = (id.0, self.origin);
        let usual = || self.forecaster.past().usual(&kind).unwrap_or(ENDLESS_RUN_TIME);
        let estimate = estimate.unwrap_or_else(usual);
        let service = Service::Run(estimate);
        (Job { id, index: id.0, number, arrival, request, service, estimate }, kind)
    }
}

/// The results, and everything needed to print them.
struct QueueReport {
    title: String,
    grid: Grid,
    now: f64,
    waiting: Vec<Waiting>,
    /// The id of each waiting job, or `None` if the job can never start.
    ids: Vec<Option<JobId>>,
    forecast: QueueForecast,
    /// The experience learned from the log of past jobs, if any.
    past: Option<Experience>,
}

/// The forecast for a waiting job.
struct Row<'r> {
    job: &'r Waiting,
    /// The job's start, or `None` if the job can never start.
    start: Option<Start>,
    /// The earliest, median, latest and planned wait times, in whole seconds.
    waits: [Option<f64>; 4],
}

impl QueueReport {
    fn reply(&self) -> Reply<'static> {
        let cell = |time: Option<f64>| time.map_or_else(String::new, |at| at.to_string());
        let rows = self.rows().map(|Row { job, waits, .. }| {
            let mut row = vec![JobName(&job.name).raw(), job.request.nodes.to_string()];
            row.extend(self.times(waits).map(cell));
            row
        });
        let header = &["job", "nodes", "earliest", "median", "latest", "plan"];
        Reply {
            json: self.json(),
            csv: (header, rows.collect()),
            sentences: vec![self.sentence()],
            tables: vec![self.table()],
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.waiting.iter().zip(&self.ids).map(|(job, id)| {
            let now = self.forecast.now;
            let start = id.and_then(|id| self.forecast.starts.get(&id)).copied();
            let start = start.map(|start| match self.past {
                Some(_) => start,
                None => start.plan_alone(now),
            });
            let wait = |at: Time| TimeUnit::SECOND.units(at.since(now)).round();
            let times = start.map_or([None; 4], |start| start.times());
            Row { job, start, waits: times.map(|time| time.map(wait)) }
        })
    }

    /// Converts waits to times on the state's clock.
    fn times(&self, waits: [Option<f64>; 4]) -> [Option<f64>; 4] {
        waits.map(|wait| Some(self.now + wait?))
    }

    fn json(&self) -> Value {
        let jobs = self.rows().map(|Row { job, start, waits }| {
            let obstacle = start.and_then(|start| start.obstacle);
            let place = obstacle.and_then(|obstacle| obstacle.place());
            let place = place.map(|at| Place::of(&self.grid, &at));
            let [earliest, median, latest, plan] = self.times(waits);
            json!({
                "job": job.name, "nodes": job.request.nodes, "fits_ever": start.is_some(),
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

    fn table(&self) -> Table {
        let shown = |wait: Option<f64>| {
            wait.map_or_else(|| "-".to_string(), |wait| format!("{:.1}", wait / 3600.0))
        };
        let header = ["job", "nodes", "earliest h", "median h", "latest h", "plan h"];
        let has_past = self.past.is_some();
        let header = if has_past { &header[..] } else { &["job", "nodes", "plan h"] };
        let mut table = Table::new(header, 1);
        for Row { job, start, waits } in self.rows() {
            let waits = waits[if has_past { 0 } else { 3 }..].iter();
            let waits = waits.map(|wait| match start.map(|start| start.obstacle) {
                Some(Some(Obstacle::Unavailable(_))) => "blocked".to_string(),
                Some(_) => shown(*wait),
                None => "never".to_string(),
            });
            let name = JobName(&job.name).to_string();
            table.row([name, job.request.nodes.to_string()].into_iter().chain(waits).collect());
        }
        table
    }

    fn sentence(&self) -> String {
        let title =
            format!("{}: {} waiting. Times are in hours from now.", self.title, self.waiting.len());
        let Some(past) = self.past else {
            return format!(
                "{title} Without --past, the forecast assumes that each job runs for its estimated \
                 time and that no further jobs arrive."
            );
        };
        let (runs, promises) = (past.runs, past.judged());
        if past.calibrated {
            let kept = past.promises.kept;
            format!(
                "{title} Nine out of ten jobs should start between the earliest and latest times; \
                 {kept} of {promises} past jobs did. The forecast is based on {runs} known run \
                 times."
            )
        } else {
            format!(
                "{title} The forecast is based on {runs} known run times. The range between the \
                 earliest and latest times is not yet calibrated, because only {promises} past \
                 jobs had to wait."
            )
        }
    }
}
