//! Tests of logs with dependent jobs, in runs, forecasts and advice.

use std::fmt::Write;

use pavior_answers::forecasts::{Effort, Judged};
use pavior_experiments::advice::advise;
use pavior_experiments::{
    Environment, Folder, Keys, Scenario, Setting, Specification, forecast_log,
};
use pavior_files::Limits;
use pavior_kernel::{Stream, Time};
use pavior_simulation::{Histories, JobRecord, Stop};
use pavior_workload::TimeUnit;
use tempfile::TempDir;

/// Writes a log in which most jobs depend on an earlier one. `late` changes the size and run time
/// of the last fifth of the jobs.
fn log(seed: u64, jobs: u64, late: u64) -> (TempDir, Folder) {
    let mut draw = Stream::new(seed, 0, "linked-log");
    let (mut text, mut now) = (String::new(), 0);
    for number in 1..=jobs {
        now += draw.below(8) * 30;
        let more = if number > jobs * 4 / 5 { late } else { 0 };
        let run = (draw.below(120) + more) * 60;
        let nodes = if draw.below(50) == 0 && number < jobs / 2 { 100 } else { 1 + draw.below(32) };
        let before = number.saturating_sub(1 + draw.below(4));
        let (before, think) = if before == 0 { (-1, -1) } else { (before as i64, 60) };
        let line = format!("{number} {now} -1 {run} {nodes} -1 -1 {nodes} -1 -1 1 {}", number % 5);
        writeln!(text, "{line} 1 -1 1 1 {before} {think}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.swf"), text).unwrap();
    let files = Folder::new(folder.path(), Limits::DOCUMENT);
    (folder, files)
}

fn settings(more: &[(&str, &str)]) -> Vec<Setting> {
    let all = [("trace", "log.swf"), ("machine", "mesh:8x8"), ("strategy", "tff")];
    let all = all.iter().chain(&[("dependencies", "true")]).chain(more);
    all.map(|(key, value)| Setting::new(*key, *value)).collect()
}

fn specification(more: &[(&str, &str)]) -> Specification {
    Specification::from_settings(&settings(more), "test", Keys::Plain).unwrap()
}

fn records(files: &Folder, more: &[(&str, &str)]) -> Vec<JobRecord> {
    let specification = specification(more);
    let settings = specification.points[0].settings();
    let scenario = Scenario::new(settings, false, files, &Histories::default()).unwrap();
    scenario.record(0, &[], None, &Stop::default()).unwrap().1.jobs
}

fn judged(files: &Folder, scheduler: &str) -> Vec<Judged> {
    let mut judged = Vec::new();
    let specification = specification(&[("scheduler", scheduler)]);
    let environment = Environment { files, ..Environment::PLAIN };
    let effort = Effort { futures: 3, ..Effort::default() };
    let settings = specification.points[0].settings();
    forecast_log(settings, effort, environment, |job| judged.push(job)).unwrap();
    judged.sort_unstable_by_key(|job| job.number);
    judged
}

#[test]
fn forecasts_are_of_the_jobs_of_the_simulation() {
    for scheduler in ["fcfs", "easy", "conservative"] {
        let (_folder, files) = log(1, 300, 0);
        let mut simulated: Vec<(u64, Time, Time)> = records(&files, &[("scheduler", scheduler)])
            .iter()
            .filter_map(|it| Some((it.job.number, it.job.arrival, it.stays().next()?.start)))
            .collect();
        simulated.sort_unstable();
        let judged = judged(&files, scheduler);
        let told: Vec<_> = judged.iter().map(|job| (job.number, job.submit, job.start)).collect();
        assert_eq!(told, simulated, "{scheduler}");
    }
}

#[test]
fn a_forecast_knows_no_job_that_is_not_submitted() {
    let [one, other] = [0, 500].map(|late| judged(&log(2, 200, late).1, "easy"));
    let first = one.iter().chain(&other).filter(|job| job.number > 160).map(|job| job.submit);
    let first = first.min().unwrap();
    let before = |jobs: &[Judged]| -> Vec<_> {
        let early = jobs.iter().filter(|job| job.submit < first);
        early.map(|job| (job.number, job.submit, job.forecast)).collect()
    };
    assert!(before(&one).len() > 50);
    assert_eq!(before(&one), before(&other));
}

#[test]
fn the_scale_of_arrivals_leaves_think_times_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = |job: &str| format!("{job} -1 100 4 -1 -1 4 -1 -1 1 1 1 1 1 1 ");
    let text = format!("{}-1 -1\n{}1 60\n{}-1 -1\n", line("1 0"), line("2 10"), line("3 1000"));
    std::fs::write(folder.path().join("log.swf"), text).unwrap();
    let files = Folder::new(folder.path(), Limits::DOCUMENT);
    for (more, ticks) in [(("scheduler", "fcfs"), 1_000_000), (("communication", "0"), 1_000)] {
        let mut more = vec![("arrival-scale", "0.1"), more];
        if ticks == 1_000 {
            more.extend([("cycles-per-second", "1000"), ("pattern", "one-to-all")]);
        }
        let submits: Vec<u64> =
            records(&files, &more).iter().map(|record| record.job.arrival.0 / ticks).collect();
        assert_eq!(submits, [0, 100, 160], "{more:?}");
    }
    assert_eq!(TimeUnit::SECOND.ticks, 1_000_000);
}

#[test]
fn advice_pairs_jobs_by_their_place_in_the_log() {
    let (folder, _) = log(3, 300, 0);
    let files = Folder::new(folder.path(), Limits::DOCUMENT);
    let environment = Environment { files: &files, ..Environment::PLAIN };
    let present = settings(&[("scheduler", "fcfs")]);
    let advice = advise(&present, Some("4x4"), environment).unwrap();
    let easy = advice.alternatives.iter().find(|one| one.name == "scheduler easy").unwrap();
    let [fcfs, with_easy] = ["fcfs", "easy"].map(|name| {
        let mut waits = [None; 300];
        for record in records(&files, &[("scheduler", name)]) {
            let stay = record.stays().next();
            waits[record.job.index as usize] = stay.map(|it| it.start.since(record.job.arrival));
        }
        waits
    });
    let both = fcfs.iter().zip(&with_easy).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
    let differences: Vec<f64> =
        both.map(|(a, b)| TimeUnit::SECOND.units(*b) - TimeUnit::SECOND.units(*a)).collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let found = easy.changes[0].as_ref().unwrap().difference;
    assert!((found - mean).abs() < 1e-6 * mean.abs(), "{found} is not {mean}");
    assert!(mean < 0.0);
}

#[test]
fn the_option_is_part_of_what_results_depend_on() {
    let (_folder, files) = log(4, 20, 0);
    let with = |value: &str| {
        let mut all = settings(&[]);
        all.retain(|setting| setting.key != "dependencies");
        all.push(Setting::new("dependencies", value));
        let specification = Specification::from_settings(&all, "test", Keys::Plain).unwrap();
        specification.fingerprint(&files).unwrap()
    };
    assert_ne!(with("true"), with("false"));
}
