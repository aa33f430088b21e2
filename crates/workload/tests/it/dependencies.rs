//! Tests of dependencies between jobs in logs.

use pavior_kernel::{Stream, Time};
use pavior_workload::TimeUnit;
use pavior_workload::traces::{
    Dependencies, Event, Format, Header, ReadOptions, Skip, Trace, link_sessions, swf,
};

const SECOND: u64 = TimeUnit::SECOND.ticks;

/// Returns a log of jobs that run for 100 s. Each job is a tuple of number, submit time, user,
/// predecessor and think time.
fn text(jobs: &[(i64, i64, i64, i64, i64)]) -> String {
    let line = |&(number, submit, user, predecessor, think): &(i64, i64, i64, i64, i64)| {
        format!(
            "{number} {submit} 5 100 4 -1 -1 4 -1 -1 1 {user} -1 -1 -1 -1 {predecessor} {think}\n"
        )
    };
    jobs.iter().map(line).collect()
}

fn read(text: &str, options: &ReadOptions) -> Trace {
    swf::read(text.as_bytes(), options).unwrap()
}

fn following() -> ReadOptions {
    ReadOptions { dependencies: true, ..ReadOptions::default() }
}

/// Returns each link's predecessor number, follower number and think time in seconds.
fn links(trace: &Trace) -> Vec<(u64, u64, u64)> {
    let number = |index: u32| trace.records[index as usize].number;
    let links = Dependencies::of(&trace.records).links;
    let one = links.iter().map(|it| (number(it.predecessor), number(it.follower), it.think.0));
    one.map(|(from, to, think)| (from, to, think / SECOND)).collect()
}

#[test]
fn fields_17_and_18_are_kept() {
    let log = text(&[(1, 0, 7, -1, -1), (2, 0, 7, 1, 60), (3, 9, 7, 1, -1), (4, 9, 7, -1, 5)]);
    let trace = read(&log, &ReadOptions::default());
    assert_eq!(links(&trace), [(1, 2, 60), (1, 3, 0)]);
    let mut written = Vec::new();
    swf::write(&mut written, &Header::default(), &trace.records).unwrap();
    let written = String::from_utf8(written).unwrap();
    let ends: Vec<&str> = written.lines().map(|line| &line[line.len() - 5..]).collect();
    assert_eq!(ends, ["-1 -1", " 1 60", " 1 -1", "-1 -1"]);
    assert_eq!(read(&written, &ReadOptions::default()).records, trace.records);
}

#[test]
fn a_predecessor_that_is_not_among_the_jobs_is_counted() {
    let log = text(&[(1, 0, 7, -1, -1), (2, 0, 8, 1, 60), (3, 5, 8, 2, 1), (4, 5, 8, 99, 1)]);
    let log = log + "nonsense\n" + &text(&[(6, 6, 8, 5, 1)]);
    let lenient = ReadOptions { lenient: true, ..following() };
    let filtered = ReadOptions { filter: "user=8".parse().unwrap(), ..lenient.clone() };
    let first = ReadOptions { first: Some(2), ..following() };
    for (options, expected) in [(lenient, (2, 2)), (filtered, (1, 3)), (first, (1, 0))] {
        let found = Dependencies::of(&read(&log, &options).records);
        assert_eq!((found.links.len(), found.missing, found.later), (expected.0, expected.1, 0));
    }
}

#[test]
fn a_predecessor_later_in_the_log_is_not_followed_and_cycles_are_counted() {
    // Jobs 1 and 2 depend on each other, job 3 on itself, job 4 on job 5, and job 6 on job 1.
    let jobs = [
        (1, 0, 7, 2, 1),
        (2, 1, 7, 1, 1),
        (3, 2, 7, 3, 1),
        (4, 3, 7, 5, 1),
        (5, 4, 7, -1, -1),
        (6, 5, 7, 1, 1),
    ];
    let trace = read(&text(&jobs), &following());
    let found = Dependencies::of(&trace.records);
    assert_eq!((found.jobs, found.later, found.missing, found.cycles), (5, 3, 0, 2));
    assert_eq!(links(&trace), [(1, 2, 1), (1, 6, 1)]);
}

#[test]
fn the_order_of_lines_counts_and_not_that_of_submissions() {
    let trace = read(&text(&[(1, 90, 7, -1, -1), (2, 10, 7, 1, 3)]), &following());
    assert_eq!(links(&trace), [(1, 2, 3)]);
    // If several lines have the same number, the last one before the dependent job is the
    // predecessor.
    let repeated = [(1, 0, 7, -1, -1), (1, 5, 7, 1, 3), (2, 9, 7, 1, 4), (1, 20, 7, 2, 5)];
    let trace = read(&text(&repeated), &following());
    let found = Dependencies::of(&trace.records).links;
    let places: Vec<(u32, u32)> = found.iter().map(|it| (it.predecessor, it.follower)).collect();
    assert_eq!(places, [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_job_without_a_submit_time_is_kept_if_it_follows_a_kept_job() {
    let log = text(&[(1, 40, 7, -1, -1), (2, -1, 7, 1, 60), (3, -1, 7, 2, 5), (4, -1, 7, 9, 5)]);
    let open = read(&log, &ReadOptions::default());
    assert_eq!((open.records.len(), open.report.skipped(Skip::NegativeSubmit).count()), (1, 3));
    let trace = read(&log, &following());
    assert_eq!(trace.report.skipped(Skip::NegativeSubmit).lines(), [4]);
    assert!(trace.records.iter().all(|record| record.submit == Time(40 * SECOND)));
    assert_eq!(links(&trace), [(1, 2, 60), (2, 3, 5)]);
    assert_eq!(Dependencies::of(&trace.records).without_submit, 2);
    let mut written = Vec::new();
    swf::write(&mut written, &Header::default(), &trace.records).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(written.lines().nth(1).unwrap().starts_with("2 -1 "), "{written}");
}

#[test]
fn cycles_are_those_of_a_plain_search() {
    let mut draw = Stream::new(62, 0, "cycles");
    for round in 0..pavior_trials::size(300, 2_000, 20_000) {
        let count = 1 + draw.below(12) as i64;
        // In this format, a job has at most one predecessor, so cycles never share a job.
        let named: Vec<i64> = (0..count).map(|_| draw.below(count as u64 + 2) as i64 - 1).collect();
        let jobs: Vec<_> = (0..count).map(|job| (job, job, 7, named[job as usize], 1)).collect();
        let found = Dependencies::of(&read(&text(&jobs), &following()).records);
        let mut cycles = std::collections::BTreeSet::new();
        for job in 0..count {
            let mut path = vec![job];
            while let Some(&next) = named.get(path[path.len() - 1] as usize) {
                if !(0..count).contains(&next) {
                    break;
                }
                if next == job {
                    path.sort_unstable();
                    cycles.insert(path);
                    break;
                }
                if path.contains(&next) {
                    break;
                }
                path.push(next);
            }
        }
        assert_eq!(found.cycles, cycles.len() as u64, "round {round}: {named:?}");
    }
}

#[test]
fn sessions_link_a_job_to_the_last_one_that_has_ended() {
    // Each job waits 5 s and runs for 100 s. The second user's gap is too long, and unknown users
    // have no sessions.
    let jobs = [
        (1, 0, 7, -1, -1),
        (2, 50, 7, -1, -1),
        (3, 0, 8, -1, -1),
        (4, 110, 7, 3, 9),
        (5, 120, -1, 3, 9),
        (6, 125, -1, -1, -1),
        (7, 160, 7, -1, -1),
        (8, 2000, 8, -1, -1),
    ];
    let mut trace = read(&text(&jobs), &ReadOptions::default());
    assert_eq!(link_sessions(&mut trace.records, Time(20 * 60 * SECOND)), 2);
    // Job 4 is submitted 5 s after the end of job 1, while job 2 runs until 155.
    assert_eq!(links(&trace), [(1, 4, 5), (2, 7, 5)]);
    assert_eq!(link_sessions(&mut trace.records, Time(2_000 * SECOND)), 3);
}

#[test]
fn sacct_names_predecessors_in_its_submit_line() {
    let log = "JobID|State|Submit|Start|NNodes|Elapsed|SubmitLine\n\
               71|COMPLETED|2026-01-02T03:04:05|2026-01-02T03:04:15|4|00:01:30|sbatch a.sh\n\
               72|COMPLETED|2026-01-02T03:04:06|2026-01-02T03:05:35|4|00:01:30|\
               sbatch -d afterok:71 a|b.sh\n\
               73|COMPLETED|2026-01-02T03:04:07|2026-01-02T03:05:35|4|00:01:30|\
               sbatch --dependency=after:71+2,afterany:72 c.sh\n";
    let trace = Format::Sacct.read(log.as_bytes(), &following()).unwrap();
    assert_eq!(trace.records[0].wait, Some(Time(10 * SECOND)));
    assert_eq!(links(&trace), [(71, 73, 120), (71, 72, 0), (72, 73, 0)]);
    let found = Dependencies::of(&trace.records).links;
    assert_eq!(found[0].event, Event::Start);
    let mut written = Vec::new();
    swf::write(&mut written, &trace.header, &trace.records).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(written.ends_with(" 72 -1\n") && written.contains(" 71 -1\n"), "{written}");
}
