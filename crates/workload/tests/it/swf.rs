//! Tests of the Standard Workload Format's rules, on small logs with oddities found in real logs.

use std::io::{self, BufReader, Read};

use pavior_kernel::Time;
use pavior_workload::traces::{
    Format, LineError, ReadError, ReadOptions, Record, Skip, Trace, swf,
};

fn log(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/logs/{name}.swf", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(name: &str, options: &ReadOptions) -> Result<Trace, ReadError> {
    swf::read(log(name).as_slice(), options)
}

fn fault(name: &str) -> LineError {
    match read(name, &ReadOptions::default()) {
        Err(ReadError::Line(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

fn numbers(trace: &Trace) -> Vec<u64> {
    trace.records.iter().map(|record| record.number).collect()
}

fn second(seconds: u64) -> Time {
    Time(seconds * 1_000_000)
}

#[test]
fn every_oddity_is_read() {
    let trace = read("oddities", &ReadOptions::default()).unwrap();
    let report = &trace.report;
    assert_eq!((report.lines, report.job_lines, report.kept, report.filtered), (24, 9, 6, 0));
    assert_eq!(report.skipped(Skip::NegativeSubmit).lines(), [17]);
    assert_eq!(report.skipped(Skip::NoSize).lines(), [19]);
    assert_eq!(report.skipped(Skip::NoRunTime).lines(), [20]);
    assert_eq!(report.skipped(Skip::Malformed).count(), 0);
    assert_eq!(report.zero_length.lines(), [16]);
    assert_eq!(report.submits_back.lines(), [18]);
    assert_eq!(report.over_estimate.lines(), [18]);

    // Jobs are sorted by submit time, with ties in log order.
    assert_eq!(numbers(&trace), [1, 5, 2, 10, 11, 12]);
    let sizes: Vec<u32> = trace.records.iter().map(|record| record.nodes).collect();
    assert_eq!(sizes, [4, 16, 4, 2, 2, 1]);
    let Record { line, submit, run, estimate, shape, tags, .. } = trace.records[0].clone();
    assert_eq!((line, submit, run, shape), (15, second(100), second(60), None));
    assert_eq!(estimate, Some(second(90)));
    assert_eq!((tags.status, tags.user, tags.group), (1, 7, 1));
    assert_eq!((tags.application, tags.queue, tags.partition), (3, 0, 1));
    // Estimates of -1 and 0 are treated as unknown.
    assert_eq!((trace.records[2].estimate, trace.records[3].estimate), (None, None));
    assert_eq!((trace.records[3].tags.status, trace.records[4].tags.status), (271, -4));

    assert_eq!(trace.header.machine_size(), Some(128));
    assert_eq!(trace.header.integer("MaxNodes"), Some(400));
    assert_eq!(trace.header.integer("MaxQueues"), Some(1));
    assert_eq!(trace.header.get("Computer"), Some("no space after the semicolon"));
    assert_eq!(trace.header.start(), Some(1_296_571_124));
}

#[test]
fn the_first_n_job_lines_include_skipped_ones() {
    let first = |count| {
        let options = ReadOptions { first: Some(count), ..ReadOptions::default() };
        read("oddities", &options)
    };
    for (count, expected) in [(1, vec![1]), (3, vec![1, 2]), (4, vec![1, 5, 2])] {
        let trace = first(count).unwrap();
        assert_eq!(numbers(&trace), expected);
        assert_eq!(trace.report.job_lines, count);
    }
    assert_eq!(first(100).unwrap().report.job_lines, 9);
    assert!(matches!(first(0), Err(ReadError::NoJobs { .. })));
}

#[test]
fn filters_keep_what_they_name() {
    for (text, expected) in [
        ("partition=2", vec![5]),
        ("status=1", vec![1, 5, 12]),
        ("status=-4", vec![11]),
        ("user=9,queue=2,app=-1", vec![10, 11, 12]),
        ("queue=0,queue=1", vec![1, 5, 2]),
        ("group=4", vec![]),
    ] {
        let options = ReadOptions { filter: text.parse().unwrap(), ..ReadOptions::default() };
        let trace = read("oddities", &options).unwrap();
        assert_eq!(numbers(&trace), expected, "{text}");
        assert_eq!(options.filter.to_string(), text);
        let skipped: u64 = Skip::ALL.iter().map(|&s| trace.report.skipped(s).count()).sum();
        assert_eq!(trace.report.filtered + skipped + trace.report.kept, 9, "{text}");
    }
}

#[test]
fn line_ends_and_blank_lines_do_not_matter() {
    let trace = read("crlf", &ReadOptions::default()).unwrap();
    assert_eq!((trace.report.lines, trace.report.kept), (5, 2));
    assert_eq!(trace.header.get("Version"), Some("2.2"));
    let marked = [b"\xef\xbb\xbf".as_slice(), &log("crlf")].concat();
    assert_eq!(swf::read(marked.as_slice(), &ReadOptions::default()).unwrap(), trace);
}

#[test]
fn faults_name_line_and_column() {
    let found = fault("five_columns");
    assert_eq!((found.line, found.column), (3, 13));
    assert_eq!(found.reason, "expected 18 columns in a job line, but found 5");
    assert_eq!((found.text.as_str(), found.span), ("2 10 -1 30 2", 12..12));

    let found = fault("letters");
    assert_eq!((found.line, found.column), (2, 9));
    assert_eq!(found.reason, "`3O` is not a number in field 4 (run time)");
    assert_eq!(&found.text[found.span], "3O");

    let found = fault("binary");
    assert_eq!((found.line, found.column), (1, 1));
    assert!(found.text.chars().all(|c| !c.is_control()), "{:?}", found.text);
    assert_eq!(found.to_string().lines().count(), 1);
}

#[test]
fn lenient_reading_skips_and_counts_faults() {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let trace = read("five_columns", &options).unwrap();
    assert_eq!(numbers(&trace), [1, 3]);
    assert_eq!(trace.report.skipped(Skip::Malformed).lines(), [3]);
    let trace = read("letters", &options).unwrap();
    assert_eq!(trace.report.skipped(Skip::Malformed).lines(), [2, 3]);
    assert_eq!(trace.report.job_lines, 3);
    match read("binary", &options) {
        Err(ReadError::AllMalformed { count: 1, first }) => assert_eq!(first.line, 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn logs_without_jobs_are_errors() {
    let options = ReadOptions::default();
    assert!(matches!(read("comments_only", &options), Err(ReadError::NoJobs { lines: 3 })));
    assert!(matches!(swf::read(io::empty(), &options), Err(ReadError::NoJobs { lines: 0 })));
}

#[test]
fn fields_out_of_bounds_are_faults() {
    let line = |field: usize, value: &str| {
        let mut fields =
            ["1", "0", "-1", "60", "4", "-1", "-1", "-1", "90", "-1"].map(String::from).to_vec();
        fields.resize(18, "-1".into());
        fields[field - 1] = value.into();
        fields.join(" ")
    };
    let read = |text: &str| swf::read(text.as_bytes(), &ReadOptions::default());
    for (field, value) in
        [(2, "1e300"), (4, "1e13"), (5, "2.5"), (1, "nan"), (18, "inf"), (8, "1,5")]
    {
        let error = read(&line(field, value)).unwrap_err().to_string();
        assert!(error.contains(&format!("field {field} ")), "{error}");
    }
    // Unusual but valid values are accepted: decimals, a size larger than any machine, a huge
    // estimate.
    let record = |text: &str| read(text).unwrap().records[0].clone();
    assert_eq!(record(&line(2, "0.25")).submit, Time(250_000));
    assert_eq!(record(&line(4, "1.5")).run, Time(1_500_000));
    assert_eq!(record(&line(5, "4.0")).nodes, 4);
    assert_eq!(record(&line(5, "99999999999")).nodes, u32::MAX);
    assert_eq!(record(&line(9, "9223372036854775807")).estimate, Some(second(1_000_000_000_000)));
    assert_eq!(record(&line(1, "-1")).number, 0);
}

#[test]
fn a_line_without_end_is_not_swallowed() {
    let endless = BufReader::new(io::repeat(b'7').take(1 << 30));
    let error = swf::read(endless, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}

#[test]
fn a_reader_that_fails_names_the_line() {
    struct CutShort;
    impl Read for CutShort {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
    let whole = log("crlf");
    let reader = BufReader::new(whole.as_slice().chain(CutShort));
    let error = swf::read(reader, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "after line 4: unexpected end of file");
}

#[test]
fn what_is_written_reads_the_same() {
    for name in ["oddities", "crlf"] {
        let trace = read(name, &ReadOptions::default()).unwrap();
        let mut written = Vec::new();
        swf::write(&mut written, &trace.header, &trace.records).unwrap();
        let again = swf::read(written.as_slice(), &ReadOptions::default()).unwrap();
        assert_eq!(again.header, trace.header);
        let strip = |trace: &Trace| {
            let line = |record: &Record| Record { line: 0, ..record.clone() };
            trace.records.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(strip(&again), strip(&trace));
    }
}

const JOB: &str = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1";

/// Returns the error message for a log.
fn said(log: &str) -> String {
    swf::read(log.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
}

#[test]
fn a_header_longer_than_any_is_not_kept_in_memory() {
    let log = format!("{}{JOB}\n", ";A:\n".repeat(1 << 16));
    assert!(said(&log).contains("the header is longer than 1048576 bytes"), "{}", said(&log));
    let log = format!("{}{JOB}\n", ";A: b\n".repeat(1 << 10));
    assert_eq!(swf::read(log.as_bytes(), &ReadOptions::default()).unwrap().records.len(), 1);
}

#[test]
fn lines_may_end_with_carriage_returns_and_comments_begin_with_other_marks() {
    let swf = format!("# MaxProcs: 8\n// a\n% b\n  {JOB}\n\n{JOB}\n");
    for end in ["\n", "\r\n", "\r"] {
        for mark in ["", "\u{feff}"] {
            let log = format!("{mark}{}", swf.replace('\n', end));
            let format = Format::find(log.as_bytes(), "-").unwrap();
            let trace = format.read(log.as_bytes(), &ReadOptions::default()).unwrap();
            let lines: Vec<u64> = trace.records.iter().map(|record| record.line).collect();
            assert_eq!((format, lines), (Format::Swf, vec![4, 6]), "{log:?}");
            assert_eq!((trace.header.machine_size(), trace.report.lines), (Some(8), 6));
        }
    }
    let long = format!("{JOB}\r{}", " ".repeat(1 << 17));
    assert!(said(&long).starts_with("line 2, column 1: not a job log: "), "{}", said(&long));
}

#[test]
fn utf_16_is_refused_with_the_command_that_converts_it() {
    for (mark, is_little) in [(true, true), (true, false), (false, true), (false, false)] {
        let text = format!("{}{JOB}\n", if mark { "\u{feff}" } else { "" });
        let units = text.encode_utf16();
        let bytes: Vec<u8> = units
            .flat_map(|unit| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect();
        for name in ["log.swf", "log.json", "-"] {
            let format = Format::find(&bytes, name).unwrap();
            let error = format.read(bytes.as_slice(), &ReadOptions::default()).unwrap_err();
            assert!(error.to_string().contains("iconv -f UTF-16"), "{name}: {error}");
        }
    }
}

#[test]
fn faults_show_no_character_that_a_terminal_obeys() {
    let log = "1 0 -1 \u{1b}]0;title\u{7} 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let Err(ReadError::Line(fault)) = swf::read(log.as_bytes(), &ReadOptions::default()) else {
        panic!("it is a fault");
    };
    for text in [&fault.text, &fault.reason] {
        assert!(!text.contains(char::is_control) && text.contains("\\u{1b}]0"), "{text}");
    }
}
