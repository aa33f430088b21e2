//! Tests of the forecast study and its goals.

use std::sync::Arc;

use pavior::experiments::{
    InputError, InputFiles, ListRequest, LogRequest, NoProgress, Specification, forecast_points,
};
use pavior::workload::traces::{Format, Trace};
use pavior::workload::{FailureEvent, ReservedNodes};
use pavior_studies::forecasts::{self, JudgedLog};

/// A file source that returns the same log for every name.
struct Log(String);

impl InputFiles for Log {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        Ok(Arc::new(Format::Swf.read(self.0.as_bytes(), &request.options)?))
    }

    fn failures(&self, _: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        Err("there are none".into())
    }

    fn reservations(&self, _: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        Err("there are none".into())
    }
}

/// Judges the forecasts for 40 jobs, each of which needs all nodes and has an estimate of `said`.
fn judged(said: i64) -> JudgedLog {
    let line = |job| format!("{job} {job} -1 60 16 -1 -1 16 {said} -1 1 1 1 1 1 1 -1 -1\n");
    let log = Log((1..=40).map(line).collect());
    let text = "trace = 'A-1.swf.gz'\nmachine = 'mesh:4x4'\nstrategy = 'tff'\nscheduler = 'easy'\n";
    let specification = Specification::parse(text, "test").unwrap();
    let scores = forecast_points(&specification, &log, 2, &NoProgress).unwrap();
    JudgedLog::all(&specification, scores).remove(0)
}

#[test]
fn the_study_has_eleven_logs_with_a_quick_part() {
    for quick in [false, true] {
        let points = forecasts::specification(quick).unwrap().points;
        assert_eq!(points.len(), 11);
        for point in points {
            assert!(point.has(&[("strategy", "tff"), ("scheduler", "easy")]));
            let first: u64 = point.get("first").unwrap().parse().unwrap();
            assert!(first <= 20_000, "windows of at most 20,000 jobs");
        }
    }
}

#[test]
fn only_logs_with_estimates_are_judged() {
    let without = judged(-1);
    assert_eq!((without.holds(), without.leads()), (None, None));
    let mut log = judged(60);
    assert_eq!((log.log.as_str(), log.machine.as_str()), ("A-1", "mesh:4x4"));
    let score = &log.forecasts.score;
    assert_eq!((score.jobs, score.waited, score.plan_loss), (40, 39, 0.0));
    assert_eq!(log.leads(), Some(false), "the plan is exact");
    log.forecasts.score.plan_loss = 1e9;
    log.forecasts.score.loss = 0.0;
    log.forecasts.score.corrected_loss = 1.0;
    assert_eq!(log.leads(), Some(true));
    for (held, jobs, third, holds) in [
        (0.90, 500, 0.90, true),
        (0.86, 500, 0.90, false),
        (0.94, 500, 0.90, false),
        (0.90, 500, 0.81, false),
        (0.90, 499, 0.81, true),
    ] {
        log.forecasts.score.held = held;
        log.forecasts.score.thirds[2].jobs = jobs;
        log.forecasts.score.thirds[2].held = third;
        assert_eq!(log.holds(), Some(holds), "{held} {jobs} {third}");
    }
}

#[test]
fn the_table_has_one_row_per_log() {
    let logs = [judged(60), judged(-1)];
    let mut bytes = Vec::new();
    forecasts::write(&logs, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), JudgedLog::COLUMNS.join(","));
    assert!(lines.next().unwrap().starts_with("A-1,mesh:4x4,40,0,39,"));
    assert!(lines.next().unwrap().ends_with(",no,,"), "{text}");
    let sentence = forecasts::in_words(&logs);
    assert!(sentence.contains(" of 1 logs with user estimates"), "{sentence}");
}
