//! Tests that compare forecasts for logs with simulations of the same jobs.

use std::fmt::Write;

use pavior_answers::forecasts::{Effort, Judged};
use pavior_experiments::{
    Environment, Folder, LogForecastError, NoProgress, Scenario, Specification, forecast_log,
    forecast_points,
};
use pavior_files::Limits;
use pavior_kernel::{Stream, Time};
use pavior_simulation::{Histories, Stop};
use tempfile::TempDir;

use crate::read;

/// Writes a log of `jobs` jobs by five users, for a nearly full machine of 64 nodes. Every fifth
/// job has no estimate, some run longer than their estimates, some need more nodes than the machine
/// has, and many arrive simultaneously.
fn log(seed: u64, jobs: u64) -> (TempDir, Folder) {
    let mut draw = Stream::new(seed, 0, "test-log");
    let (mut text, mut now) = (String::new(), 0);
    for number in 1..=jobs {
        now += draw.below(8) * 300;
        let run = draw.below(120) * 60;
        let nodes = if draw.below(50) == 0 { 100 } else { 1 + draw.below(32) };
        let said = if draw.below(5) == 0 { -1 } else { (run * draw.between(1, 6) / 2) as i64 };
        let user = draw.below(5);
        let line = format!("{number} {now} -1 {run} {nodes} -1 -1 {nodes} {said} -1 1 {user}");
        writeln!(text, "{line} 1 -1 1 1 -1 -1").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.swf"), text).unwrap();
    let files = Folder::new(folder.path(), Limits::DOCUMENT);
    (folder, files)
}

fn experiment(scheduler: &str) -> Specification {
    read(&format!(
        "trace = 'log.swf'\nmachine = 'mesh:8x8'\nstrategy = 'tff'\nscheduler = {scheduler}\n\
         metrics = ['waiting']\n"
    ))
}

fn judged(experiment: &Specification, files: &Folder, effort: Effort) -> (Vec<Judged>, u64) {
    let mut judged = Vec::new();
    let each = |job| judged.push(job);
    let settings = experiment.points[0].settings();
    let environment = Environment { files, ..Environment::PLAIN };
    let rejected = forecast_log(settings, effort, environment, each).unwrap();
    judged.sort_unstable_by_key(|job| job.number);
    (judged, rejected)
}

/// With every kind of scheduler, jobs must start at the same times in a replay and a simulation.
#[test]
fn jobs_start_when_they_start_in_a_simulation() {
    for (seed, scheduler) in ["fcfs", "easy", "easy:count", "conservative", "sjf"]
        .iter()
        .enumerate()
        .take(pavior_trials::size(2, 5, 5))
    {
        let (_folder, files) = log(seed as u64, 300);
        let experiment = experiment(&format!("'{scheduler}'"));
        let settings = experiment.points[0].settings();
        let scenario = Scenario::new(settings, false, &files, &Histories::default()).unwrap();
        let (_, run) = scenario.record(0, &[], None, &Stop::default()).unwrap();
        let starts = run.jobs.iter().filter_map(|record| {
            Some((record.job.number, record.job.arrival, record.stays().next()?.start))
        });
        let simulated: Vec<(u64, Time, Time)> = starts.collect();
        let effort = Effort { futures: 1, ..Effort::default() };
        let (judged, rejected) = judged(&experiment, &files, effort);
        let judged: Vec<_> = judged.iter().map(|job| (job.number, job.submit, job.start)).collect();
        assert_eq!(judged, simulated, "{scheduler}");
        assert_eq!(judged.len() as u64 + rejected, 300);
        assert!(rejected > 0 && judged.iter().any(|(_, submit, start)| start > submit));
    }
}

#[test]
fn points_are_scored_in_their_order_whatever_the_threads() {
    let (_folder, files) = log(7, 300);
    let experiment = experiment("['fcfs', 'easy', 'sjf']");
    let scores = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let scores = pool.install(|| forecast_points(&experiment, &files, 4, &NoProgress)).unwrap();
        scores.into_iter().map(|one| (one.score, one.rejected, one.estimates)).collect::<Vec<_>>()
    };
    let one = scores(1);
    assert_eq!(one, scores(3));
    assert!(one[0].0.mean_wait > one[1].0.mean_wait, "EASY waits less than FCFS");
    for (score, rejected, estimates) in one {
        assert_eq!(score.jobs + rejected, 300);
        assert!(estimates && (0.6..=1.0).contains(&score.held), "{score:?}");
    }
}

#[test]
fn the_threads_of_futures_change_nothing() {
    let (_folder, files) = log(8, 200);
    let with = |threads| {
        let effort = Effort { futures: 5, threads, ..Effort::default() };
        judged(&experiment("'easy'"), &files, effort)
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn only_jobs_of_a_log_that_run_are_forecast() {
    let refused = |text: &str| {
        let experiment = read(text);
        let settings = experiment.points[0].settings();
        let effort = Effort::default();
        forecast_log(settings, effort, Environment::PLAIN, |_| {}).unwrap_err()
    };
    let drawn = "machine = 'mesh:8x8'\nstrategy = 'tff'\nload = 1\njobs = 10\n";
    assert!(matches!(refused(drawn), LogForecastError::NotALog));
    let log = "machine = 'mesh:8x8'\nstrategy = 'tff'\ntrace = 'log.swf'\n";
    assert!(matches!(refused(log), LogForecastError::Input(_)));
}
