//! Tests of experiments that use entries added by a caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pavior_allocation::{
    Cuboid, Grid, Occupancy, Placement, Request, Selection, Strategy, StrategyKind, Stream, Work,
};
use pavior_experiments::{
    Catalogue, Environment, Keys, NoStore, Setting, Shard, Specification, SweepError,
};
use pavior_kernel::{CallerError, Entry, Time};
use pavior_network::{BuildPattern, PatternKind, PatternSelection};
use pavior_scheduling::{
    BuildScheduler, MachineView, Priority, Queue, Running, Scheduler, SchedulerKind, Start,
};
use pavior_simulation::RunError;
use pavior_workload::ShapeRule;

use crate::whole;

/// Creates an entry that differs from a built-in one only in its name and its build function.
fn renamed(
    name: &'static str,
    build: impl Fn(&Grid) -> Result<Box<dyn Strategy>, CallerError> + Send + Sync + 'static,
) -> pavior_allocation::Entry {
    let first_fit: Selection = "ff".parse().unwrap();
    let StrategyKind { contiguous, turns, claim, .. } = first_fit.entry.does.clone();
    let does = StrategyKind::own(contiguous, move |grid, _| build(grid));
    let does = does.with_turns(turns).with_claim(claim);
    Entry { options: first_fit.entry.options, ..Entry::new(name, does) }
}

fn scheduler(name: &'static str, build: BuildScheduler) -> pavior_scheduling::Entry {
    pavior_scheduling::Entry::new(name, SchedulerKind { build })
}

/// Returns a catalogue with additional entries: a shape rule, and First Fit, FCFS and `ring` under
/// other names, each built by a closure that captures variables.
fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    let first_fit: Selection = "ff".parse().unwrap();
    catalogue
        .strategies
        .add(renamed("own-ff", move |grid| first_fit.build(grid).map_err(CallerError::new)))
        .unwrap();
    let fcfs: pavior_scheduling::Selection = "fcfs".parse().unwrap();
    let build = BuildScheduler::Closure(Arc::new(move |_| fcfs.build(())));
    catalogue.schedulers.add(scheduler("own-fcfs", build)).unwrap();
    let ring: PatternSelection = "ring".parse().unwrap();
    let kind = ring.entry.does.clone();
    let build = BuildPattern::Closure(Arc::new(move |ranks, _, draw| {
        ring.build((ranks, draw)).expect("it has ranks")
    }));
    catalogue.patterns.add(Entry::new("own-ring", PatternKind { build, ..kind })).unwrap();
    let rows = ShapeRule::new(false, |_, nodes, _, _| Some([u16::try_from(nodes).ok()?, 1, 1]));
    catalogue.shape_rules.add(Entry::new("rows", rows)).unwrap();
    catalogue
}

#[test]
fn added_entries_are_run_from_files_and_from_settings() {
    let text = "machine = 'mesh:6x6'\nstrategy = ['ff', 'own-ff']\n\
                scheduler = ['fcfs', 'own-fcfs']\nservice = 'messages:3'\n\
                pattern = ['ring', 'own-ring']\nload = 0.01\njobs = 30\n\
                replications = 2\ntiming = false\nbaseline = 'own-ff'\n";
    let error = Specification::parse(text, "test").err().unwrap();
    assert!(error.reason.starts_with("unknown strategy `own-ff`"), "{}", error.reason);
    let read = Specification::parse_with(text, "test", &catalogue()).unwrap();
    let samples = whole(&read);
    assert_eq!(samples.len(), 8);
    assert!(samples.iter().all(|point| *point == samples[0]), "they behave like the built-in ones");

    let names = ["ff", "own-ff"].map(String::from).to_vec();
    let settings = [
        Setting { key: "strategy".into(), values: names },
        Setting::new("jobs", "40"),
        Setting::new("replications", "1"),
        Setting::new("timing", "false"),
    ];
    let with = |catalogue: &Catalogue| {
        Specification::from_settings_with(&settings, "test", Keys::Options, catalogue)
    };
    assert_eq!(with(&Catalogue::default()).err().unwrap().value, Some((1, 0..6)));
    let samples = whole(&with(&catalogue()).unwrap());
    assert_eq!(samples[0], samples[1]);
}

#[test]
fn a_still_state_asks_an_added_strategy() {
    let text =
        "machine = 'mesh:6x6'\nstrategy = ['ff', 'own-ff']\nbusy = '0,0:2x2'\nrequest = '3x2'";
    let samples = whole(&Specification::parse_with(text, "test", &catalogue()).unwrap());
    assert_eq!(samples[0][0].values, samples[1][0].values);
}

#[test]
fn an_added_shape_rule_is_read_where_a_log_is() {
    let text = "trace = 'x.swf'\nshape-rule = 'rows'\nstrategy = 'ff'";
    assert!(Specification::parse(text, "test").is_err());
    let read = Specification::parse_with(text, "test", &catalogue()).unwrap();
    assert_eq!(read.points[0].get("shape-rule"), Some("rows"));
    assert!(!read.draws());
}

/// A strategy that fails on the fifth request.
struct Failing {
    questions: Arc<AtomicU64>,
    proposes: Option<Cuboid>,
}

impl Failing {
    fn asked(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) >= 4
    }
}

impl Strategy for Failing {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let (shape, wrong) = (request.shape?, self.asked());
        let at = Cuboid::new([0; 3], shape);
        match self.proposes {
            Some(proposed) if wrong => Some(Placement::Whole(proposed)),
            _ if wrong => None,
            _ => free.is_free(&at).then_some(Placement::Whole(at)),
        }
    }

    fn error(&self) -> Option<CallerError> {
        let failed = self.proposes.is_none() && self.questions.load(Ordering::Relaxed) > 4;
        failed.then(|| CallerError::new(std::fmt::Error))
    }

    fn work(&self) -> Work {
        Work::default()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(Failing { questions: Arc::clone(&self.questions), proposes: self.proposes })
    }
}

/// Returns the error that occurs when a catalogue's scheduler and strategy are run.
fn error_of(catalogue: &Catalogue, scheduler: &str, strategy: &str) -> CallerError {
    let text = format!(
        "machine = 'mesh:6x6'\nstrategy = '{strategy}'\nscheduler = '{scheduler}'\nload = 3\n\
         jobs = 60\nreplications = 3"
    );
    let read = Specification::parse_with(&text, "test", catalogue).unwrap();
    let result = read.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore);
    match result.err() {
        Some(SweepError::Run { error: RunError::Failed(error), .. }) => error,
        other => panic!("{scheduler}, {strategy}: {other:?}"),
    }
}

#[test]
fn an_error_in_a_strategy_stops_the_run() {
    let mut catalogue = catalogue();
    let outside = Cuboid::new([5, 5], [4, 4]);
    for (name, proposes) in [("failing", None), ("outside", Some(outside))] {
        let entry =
            renamed(name, move |_| Ok(Box::new(Failing { questions: Arc::default(), proposes })));
        catalogue.strategies.add(entry).unwrap();
    }
    let entry = renamed("unbuilt", |_| Err(CallerError::new("no such script")));
    catalogue.strategies.add(entry).unwrap();
    for scheduler in ["fcfs", "ssd", "bypass", "easy", "conservative", "window:4"] {
        let error = error_of(&catalogue, scheduler, "failing");
        assert!(error.get().is::<std::fmt::Error>(), "the error is passed on unchanged");
        let error = error_of(&catalogue, scheduler, "outside");
        assert!(error.to_string().contains("is not on the machine"), "{error}");
    }
    let text = "machine = 'mesh:6x6'\nstrategy = 'unbuilt'";
    let read = Specification::parse_with(text, "test", &catalogue).unwrap();
    let result = read.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore);
    assert_eq!(result.unwrap_err().to_string(), "no such script");
}

/// A scheduler that fails immediately.
struct Broken;

impl Scheduler for Broken {
    fn next(&mut self, _: Time, _: &Queue, _: &Running, _: &mut MachineView<'_>) -> Option<Start> {
        None
    }

    fn error(&self) -> Option<CallerError> {
        Some(CallerError::new("exception in line 3"))
    }
}

#[test]
fn an_error_in_a_scheduler_stops_the_run() {
    let mut catalogue = catalogue();
    let build = BuildScheduler::Function(|_| Box::new(Broken));
    catalogue.schedulers.add(scheduler("broken", build)).unwrap();
    let build = BuildScheduler::Closure(Arc::new(|_| Err(CallerError::new("no such script"))));
    catalogue.schedulers.add(scheduler("unbuilt", build)).unwrap();
    assert_eq!(error_of(&catalogue, "broken", "ff").to_string(), "exception in line 3");
    assert_eq!(error_of(&catalogue, "unbuilt", "ff").to_string(), "no such script");
}

#[test]
fn jobs_that_fail_are_given_their_keys_anew() {
    let mut catalogue = Catalogue::default();
    for (name, backfill) in [("by-arrival", false), ("any-that-fits", true)] {
        let build = BuildScheduler::Closure(Arc::new(move |_| {
            Ok(Box::new(Priority::new(Box::new(|_| Ok(0.0)), backfill)))
        }));
        catalogue.schedulers.add(scheduler(name, build)).unwrap();
    }
    let text = "machine = 'mesh:6x6'\nstrategy = 'ff'\n\
                scheduler = ['fcfs', 'by-arrival', 'scan-all', 'any-that-fits']\nload = 2\n\
                mttf = 300\nmttr = 5\njobs = 300\nreplications = 3\ntiming = false";
    let read = Specification::parse_with(text, "test", &catalogue).unwrap();
    let samples = whole(&read);
    assert!(samples[0] != samples[2]);
    assert!(samples[0] == samples[1] && samples[2] == samples[3]);
}
