//! Tests of log summaries.

use std::sync::Arc;

use pavior_kernel::Stream;
use pavior_workload::inspect::{Bin, Clock, LogSummary};
use pavior_workload::traces::{Format, ReadOptions, Trace, sim, swf};

fn oddities() -> Trace {
    let log = include_bytes!("../logs/oddities.swf");
    swf::read(log.as_slice(), &ReadOptions::default()).unwrap()
}

#[test]
fn counts_and_load() {
    let summary = LogSummary::of(&oddities(), None);
    assert_eq!((summary.lines, summary.job_lines, summary.kept), (24, 9, 6));
    let skipped: Vec<_> =
        summary.skipped.iter().map(|s| (s.reason, s.found.lines.as_slice())).collect();
    assert_eq!(
        skipped,
        [
            ("malformed", [].as_slice()),
            ("negative_submit", &[17]),
            ("no_size", &[19]),
            ("no_run_time", &[20]),
            ("requeued", &[]),
            ("piece", &[])
        ]
    );
    assert_eq!((summary.zero_length, summary.over_estimate, summary.with_estimate), (1, 1, 4));
    assert_eq!(summary.submits_back.lines, [18]);
    assert_eq!((summary.machine_size, summary.larger_than_machine), (Some(128), 0));
    assert_eq!(LogSummary::of(&oddities(), Some(8)).larger_than_machine, 1);
    assert_eq!((summary.first_submit, summary.last_submit, summary.span), (100.0, 200.0, 100.0));
    assert_eq!(summary.mean_interarrival, Some(20.0));
    // The load is 60·4 + 120·16 + 0·4 + 50·2 + 3600·2 + 10·1 over 128·100.
    assert_eq!(summary.load, Some(9470.0 / 12_800.0));
    assert_eq!(summary.sizes.max.to_string(), "16");
    assert_eq!((summary.power_of_two, summary.power_of_two_parallel), (1.0, Some(1.0)));
}

#[test]
fn histograms_cover_every_job() {
    let summary = LogSummary::of(&oddities(), None);
    let bin = |from, to, count| Bin { from, to: Some(to), count };
    assert_eq!(
        summary.size_histogram,
        [bin(1.0, 2.0, 1), bin(2.0, 3.0, 2), bin(3.0, 5.0, 2), bin(5.0, 9.0, 0), bin(9.0, 17.0, 1)]
    );
    assert_eq!(summary.run_histogram.iter().map(|bin| bin.count).sum::<u64>(), 6);
    assert_eq!(summary.run_histogram[0], bin(0.0, 1.0, 1));
    assert_eq!(summary.run_histogram.last().unwrap().to, None);
}

#[test]
fn arrivals_are_counted_on_the_machines_clock() {
    // 1296571124 + 3600 + 100 s is 2011-02-01 15:40:24 in Paris, a Tuesday.
    let arrivals = LogSummary::of(&oddities(), None).arrivals;
    assert_eq!(arrivals.clock, Clock::Local);
    assert_eq!(arrivals.by_hour[15], 6);
    assert_eq!(arrivals.by_weekday.unwrap(), [0, 6, 0, 0, 0, 0, 0]);
    let trace = sim::read("0 1 1\n7200 1 1\n90000 1 1\n".as_bytes(), &ReadOptions::default());
    let arrivals = LogSummary::of(&trace.unwrap(), None).arrivals;
    assert_eq!((arrivals.clock, arrivals.by_weekday), (Clock::Log, None));
    assert_eq!(arrivals.by_hour[..4], [1, 1, 1, 0]);
}

#[test]
fn nothing_kept_is_no_error() {
    let options = ReadOptions { filter: "user=99".parse().unwrap(), ..ReadOptions::default() };
    let log = include_bytes!("../logs/oddities.swf");
    let summary = LogSummary::of(&swf::read(log.as_slice(), &options).unwrap(), None);
    assert_eq!((summary.kept, summary.filtered, summary.span), (0, 9, 0.0));
    assert_eq!((summary.load, summary.mean_interarrival), (None, None));
    assert_eq!(summary.sizes.max.to_string(), "0");
}

#[test]
fn use_weeks_classes_and_estimates_are_those_of_the_jobs() {
    let week: u32 = 7 * 86_400;
    let line = |number: u64, submit: u64, wait: i64, nodes: u32, estimate: i64, user: i64| {
        format!(
            "{number} {submit} {wait} 100 {nodes} -1 -1 -1 {estimate} -1 1 {user} -1 -1 2 -1 1 5\n"
        )
    };
    let log = [
        "; MaxNodes: 4\n; MaxProcs: 16\n".to_string(),
        line(1, 0, 50, 8, 200, 7),
        line(2, 100, 0, 4, -1, 7),
        line(2, 150, 0, 4, 400, 8),
        line(9, u64::from(week) + 50, 0, 16, 50, 7),
    ];
    let read = |log: &str| swf::read(log.as_bytes(), &ReadOptions::default()).unwrap();
    let summary = LogSummary::of(&read(&log.concat()), None);
    assert_eq!((summary.header_nodes, summary.header_processors), (Some(4), Some(16)));
    // Job 1 runs from 50 to 150. The second job numbered 2 starts just as job 1 ends.
    assert_eq!((summary.greatest_use, summary.repeated_numbers), (Some(16), 1));
    let summary = LogSummary::of(&read(&log[..4].concat()), None);
    assert_eq!(summary.greatest_use, Some(12));
    assert_eq!(summary.dependencies.followed, 2);
    let summary = LogSummary::of(&read(&log.concat()), None);
    let factors = summary.estimate_factors.unwrap();
    assert_eq!((factors.min, factors.p50, factors.max), (0.5, 2.0, 4.0));
    let fields: Vec<_> = summary.classes.iter().map(|one| (one.field, one.values)).collect();
    assert_eq!(fields, [("status", 1), ("user", 2), ("queue", 1)]);
    let most = &summary.classes[1].most;
    assert_eq!((most[0].value, most[0].jobs, most[1].value, most[1].jobs), (7, 3, 8, 1));
    let jobs: Vec<u64> = summary.weeks.iter().map(|week| week.jobs).collect();
    let loads: Vec<f64> = summary.weeks.iter().map(|week| week.load.unwrap()).collect();
    assert_eq!(jobs, [3, 1]);
    assert_eq!(loads, [1600.0 / (16.0 * f64::from(week)), 1600.0 / (16.0 * 50.0)]);
    let unknown = LogSummary::of(&read(&(log.concat() + &line(11, 1, -1, 1, 1, 1))), None);
    assert_eq!(unknown.greatest_use, None);
    let long = line(1, 0, 0, 1, 1, 1) + &line(2, 1_000_000_000, 0, 1, 1, 1);
    assert!(LogSummary::of(&read(&long), None).weeks.is_empty());
}

/// Returns a random log with repeated job numbers. Some jobs have pieces before or after their own
/// line, some depend on others, some are out of order, and some have no size.
fn drawn(seed: u64) -> String {
    let mut draw = Stream::new(seed, 0, "inspected");
    let mut log = String::from("; MaxNodes: 8\n; MaxProcs: 32\n; UnixStartTime: 1296571124\n");
    let has_waits = draw.below(2) == 0;
    let mut at = 0;
    for number in 0..120 {
        at += draw.below(20_000);
        let number = if draw.below(9) == 0 { draw.below(120) } else { number };
        let submit = at.saturating_sub(draw.below(4) / 3 * 50_000);
        let wait = if has_waits { draw.below(900) as i64 } else { -1 };
        let (run, nodes) = (draw.below(5_000), draw.below(12) as i64);
        let estimate = draw.below(9_000) as i64 - 1000;
        let status = [0, 1, 5, 1, 2, 3][draw.below(if seed % 3 == 0 { 6 } else { 4 }) as usize];
        let before = if draw.below(3) == 0 { draw.below(130) as i64 } else { -1 };
        log += &format!(
            "{number} {submit} {wait} {run}.5 {nodes} -1 -1 -1 {estimate} -1 {status} {} -1 -1 2 \
             -1 {before} 9\n",
            draw.below(5)
        );
    }
    log
}

#[test]
fn a_log_that_is_read_job_by_job_has_the_summary_of_its_jobs() {
    for seed in 0..pavior_trials::size(20, 60, 60) {
        let log = drawn(seed);
        let read = Arc::new(swf::read(log.as_bytes(), &ReadOptions::default()).unwrap());
        for machine in [None, Some(8), Some(100)] {
            let trace = machine.map_or_else(|| read.clone(), |nodes| read.for_machine(nodes));
            let mut expected = LogSummary::of(&trace, machine);
            expected.format = Some(Format::Swf);
            let reader = log.as_bytes();
            let summary = LogSummary::read(Format::Swf, reader, &ReadOptions::default(), machine);
            assert_eq!(format!("{:?}", summary.unwrap()), format!("{expected:?}"), "{seed}\n{log}");
        }
    }
}
