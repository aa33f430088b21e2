//! Tests of oddities and errors in `sacct --parsable2` output.

use pavior_workload::inspect::{Clock, LogSummary};
use pavior_workload::traces::{Format, LineError, ReadError, ReadOptions, Skip, Trace, sacct};

const LOG: &str = "\
JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State
71|ann|2026-01-02T03:04:05|2026-01-02T03:10:00|2026-01-02T04:10:00|01:00:00|02:00:00|4|COMPLETED
71.batch||2026-01-02T03:10:00|2026-01-02T03:10:00|2026-01-02T04:10:00|01:00:00||1|COMPLETED

72_4|b|2026-01-02T03:05:05|2026-01-02T03:10:00|2026-01-03T04:10:00|1-01:00:00|UNLIMITED|1K|TIMEOUT\r
72_[5-9%2]|b|2026-01-02T03:05:05|Unknown|Unknown|00:00:00|00:30:00|2|PENDING
73+0|ann|2026-01-02T03:05:06|None|2026-01-02T03:06:00|00:00:00|Partition_Limit|2|CANCELLED by 1000
74|cy|2026-01-02T03:05:07|2026-01-02T03:10:00|Unknown|00:10:00|01:00:00|2|RUNNING
75|cy|2026-01-02T03:05:08|2026-01-02T03:10:00|2026-01-02T03:11:00|00:01:00|01:00:00|2|NODE_FAIL
75|cy|2026-01-02T03:11:00|2026-01-02T03:12:00|2026-01-02T03:14:00|00:02:00|01:00:00|2|COMPLETED
76|cy|2026-01-02T03:05:09|2026-01-02T03:10:00|2026-01-02T03:10:00|00:00:00|01:00:00|2|FAILED
77|cy|2026-01-02T03:05:10|2026-01-02T03:10:00|2026-01-02T03:11:00|00:01:00|01:00:00|0|COMPLETED
";

fn strict(text: &str) -> Result<Trace, ReadError> {
    sacct::read(text.as_bytes(), &ReadOptions::default())
}

fn fault(text: &str) -> LineError {
    match strict(text) {
        Err(ReadError::Line(fault)) => *fault,
        other => panic!("{text}: {other:?}"),
    }
}

type Seen = (u64, u64, u64, Option<u64>, u32, i64, i64);

/// Returns each job's number, submit time, run time and estimate (in seconds), node count, status
/// and user.
fn seen(trace: &Trace) -> Vec<Seen> {
    let seconds = |time: pavior_kernel::Time| time.0 / 1_000_000;
    let jobs = trace.records.iter().map(|job| {
        let estimate = job.estimate.map(seconds);
        let (status, user) = (job.tags.status, job.tags.user);
        (job.number, seconds(job.submit), seconds(job.run), estimate, job.nodes, status, user)
    });
    jobs.collect()
}

#[test]
fn jobs_are_read_and_what_never_ran_is_skipped() {
    let trace = strict(LOG).unwrap();
    assert_eq!(
        seen(&trace),
        [
            (71, 0, 3600, Some(7200), 4, 1, 1),
            (72, 60, 90_000, None, 1024, 0, 2),
            (76, 64, 0, Some(3600), 2, 0, 3),
            (75, 415, 120, Some(3600), 2, 1, 3),
        ]
    );
    let report = &trace.report;
    assert_eq!(report.skipped(Skip::NoRunTime).lines(), [6, 7, 8]);
    assert_eq!(report.skipped(Skip::Requeued).lines(), [9]);
    assert_eq!(report.skipped(Skip::NoSize).lines(), [12]);
    assert_eq!((report.job_lines, report.kept, report.lines), (9, 4, 12));
    let summary = LogSummary::of(&trace, Some(2048));
    assert_eq!((summary.arrivals.clock, summary.arrivals.by_hour[3]), (Clock::Local, 4));
}

#[test]
fn columns_may_stand_in_any_order_and_have_other_names() {
    let text = "state|JobIDRaw|JobID|AllocNodes|ReqNodes|ElapsedRaw|TimelimitRaw|Submit|UID|Other\n\
                COMPLETED|90|80_1|0|3|60|2|1767323045|1000|x\n\
                COMPLETED|91|80_2|8|3|60|UNLIMITED|1767323046|1001|\n\
                CANCELLED by 0|92|80_3|0|3|0|2|1767323047|1001|\n";
    let trace = strict(text).unwrap();
    assert_eq!(seen(&trace), [(90, 0, 60, Some(120), 3, 1, 1000), (91, 1, 60, None, 8, 1, 1001)]);
    assert_eq!(trace.header.start(), Some(1_767_323_045));
    let summary = LogSummary::of(&trace, None);
    assert_eq!(summary.arrivals.clock, Clock::Utc);
    // The run time is the end minus the start. Only the first of the two job lines is read.
    let text = "JobID|Submit|Start|End|NNodes|State\n1|5|10|70|2|COMPLETED\n2|6|10|71|2|FAILED\n";
    let options = ReadOptions { first: Some(1), ..ReadOptions::default() };
    let trace = sacct::read(text.as_bytes(), &options).unwrap();
    assert_eq!(seen(&trace), [(1, 0, 60, None, 2, 1, -1)]);
}

#[test]
fn a_name_with_bars_is_no_column() {
    let text = "JobID|JobName|Submit|Elapsed|NNodes|State\n\
                1|a|b|9999-01-01T00:00:00|77|5|00:01:00|4|COMPLETED\n";
    let trace = strict(text).unwrap();
    assert_eq!(seen(&trace), [(1, 0, 60, None, 4, 1, -1)]);
    let two = "JobID|JobName|Submit|Elapsed|NNodes|State|Comment\n\
               1|a|b|5|00:01:00|4|COMPLETED|\n";
    assert!(fault(two).reason.contains("omit text columns such as"), "{}", fault(two));
}

#[test]
fn faults_name_the_place() {
    let head = "JobID|Submit|Elapsed|NNodes|State|Timelimit\n";
    for (line, column, reason) in [
        ("x|5|00:01:00|4|COMPLETED|", 1, "`x` is not a valid JobID; expected 71, 71_4"),
        ("1|yesterday|00:01:00|4|COMPLETED|", 3, "`yesterday` is not a valid Submit; expected 2"),
        (
            "1|5|60|4|COMPLETED|",
            5,
            "`60` is not a valid Elapsed; expected [days-]hours:minutes:seconds; Elap",
        ),
        ("1|5|00:01:00|4|COMPLETED|90", 26, "`90` is not a valid Timelimit; expected [days-]hours"),
        ("1|5|00:01:00|-4|COMPLETED|", 14, "`-4` is not a valid NNodes"),
        ("1|5|00:01:00|1.46K|COMPLETED|", 14, "`1.46K` is rounded; use sacct --noconvert"),
        ("1|5|00:01:00|4|done|", 16, "`done` is not a valid State"),
        ("1|5|00:01:00|4|COMPLETED|soon", 26, "`soon` is not a valid Timelimit"),
        ("1|5|00:01:00|4", 15, "expected 6 cells, as in the header, but found 4"),
        (
            "1|5|00:01:00|4|COMPLETED||",
            27,
            "expected 6 cells, as in the header, but found 7. A bar",
        ),
        ("1|9999999999999|00:01:00|4|COMPLETED|", 3, "the submit time is above"),
        ("1|\u{1b}[2J|00:01:00|4|COMPLETED|", 3, "`\\u{1b}[2J` is not a valid Submit"),
    ] {
        let found = fault(&format!("{head}\n{line}\n"));
        assert_eq!((found.line, found.column), (3, column), "{line}: {found}");
        assert!(found.reason.starts_with(reason), "{line}: {found}");
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let text = format!("{head}{line}\n2|5|00:01:00|4|COMPLETED|\n");
        let trace = sacct::read(text.as_bytes(), &options).unwrap();
        assert_eq!(trace.report.skipped(Skip::Malformed).lines(), [2], "{line}");
        assert_eq!(trace.report.kept, 1, "{line}");
    }
}

#[test]
fn a_header_that_lacks_a_column_says_what_to_ask_for() {
    for (header, reason) in [
        ("71|ann|5", "expected a sacct header with a JobID column"),
        ("JobID|State|NNodes|Elapsed", "no Submit column found; request it with: sacct -a -X"),
        ("JobID|Submit|NNodes|Elapsed", "no State column found"),
        ("JobID|Submit|State|Elapsed", "no NNodes column found"),
        ("JobID|Submit|State|NNodes|Start", "no Elapsed column found"),
    ] {
        let found = fault(&format!("\n{header}\n"));
        assert_eq!(found.line, 2);
        assert!(found.reason.starts_with(reason), "{header}: {found}");
    }
    let bare = "JobID|Submit|State|NNodes|Elapsed\n";
    for none in ["", "\n\n", bare, &format!("{bare}{bare}")] {
        assert!(matches!(strict(none), Err(ReadError::NoJobs { .. })), "{none}");
    }
}

#[test]
fn names_and_headers_say_the_format() {
    assert_eq!(Format::of_file("jobs.sacct.gz"), Some(Format::Sacct));
    assert_eq!(Format::find(LOG.as_bytes(), "-"), Some(Format::Sacct));
    assert_eq!(Format::find(b"jobidraw|x", "-"), Some(Format::Sacct));
    for other in ["", "JobID", "1 0 4 60", "{\"jobs\":[]}|", "|||"] {
        assert_ne!(Format::find(other.as_bytes(), "-"), Some(Format::Sacct), "{other}");
    }
}
