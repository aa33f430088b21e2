//! Tests of `.sim` and Batsim logs: forms, errors and round trips.

use pavior_kernel::Time;
use pavior_mesh::{Freedom, Sides};
use pavior_workload::traces::{
    Format, LineError, ReadError, ReadOptions, Record, Replay, Skip, Tags, Trace, TraceJobs,
    batsim, sim,
};
use pavior_workload::{Selection, ShapeRule, Shaper};

fn strict(format: Format, text: &str) -> Result<Trace, ReadError> {
    format.read(text.as_bytes(), &ReadOptions::default())
}

fn fault(format: Format, text: &str) -> LineError {
    match strict(format, text) {
        Err(ReadError::Line(fault)) => *fault,
        other => panic!("{text}: {other:?}"),
    }
}

type Seen = (u64, u64, u64, Option<u64>, u32, Option<Sides>);

/// Returns each job's number, submit time, run time and estimate (in milliseconds), size and shape.
fn seen(trace: &Trace) -> Vec<Seen> {
    let millis = |time: Time| time.0 / 1000;
    let one = |record: &Record| {
        let Record { number, submit, run, estimate, nodes, shape, .. } = record;
        (*number, millis(*submit), millis(*run), estimate.map(millis), *nodes, *shape)
    };
    trace.records.iter().map(one).collect()
}

#[test]
fn every_form_of_sim_is_read() {
    let text = "# arrival processors run\n\
                0 12 60\n\
                ; another comment\n\
                1.5 12 60 90\r\n\
                \n\
                2 12 60 mesh 2 3 2\n\
                3\t11 60 90 mesh 3 2 2\n\
                2.25 4 2 1 60\n\
                5 4 2 1 60 90.125\n\
                // one more\n\
                6 12 60 MESH 2 3 2 # of three axes\n\
                7 12 60 ;90\n";
    let trace = strict(Format::Sim, text).unwrap();
    assert_eq!(
        seen(&trace),
        [
            (0, 0, 60_000, None, 12, None),
            (1, 1_500, 60_000, Some(90_000), 12, None),
            (2, 2_000, 60_000, None, 12, Some([2, 3, 2])),
            (4, 2_250, 60_000, None, 8, Some([4, 2, 1])),
            (3, 3_000, 60_000, Some(90_000), 11, Some([3, 2, 2])),
            (5, 5_000, 60_000, Some(90_125), 8, Some([4, 2, 1])),
            (6, 6_000, 60_000, None, 12, Some([2, 3, 2])),
            (7, 7_000, 60_000, None, 12, None),
        ]
    );
    assert_eq!(trace.report.submits_back.lines(), [8]);
    assert_eq!(trace.report.lines, 12);
}

#[test]
fn sim_shares_the_rules_of_all_logs() {
    let text = "-1 4 60\n0 0 60\n0 4 -1\n0 4 0\n0 4 90 60\n";
    let trace = strict(Format::Sim, text).unwrap();
    let lines = |reason| trace.report.skipped(reason).lines().to_vec();
    assert_eq!(lines(Skip::NegativeSubmit), [1]);
    assert_eq!(lines(Skip::NoSize), [2]);
    assert_eq!(lines(Skip::NoRunTime), [3]);
    assert_eq!(trace.report.zero_length.lines(), [4]);
    assert_eq!(trace.report.over_estimate.lines(), [5]);
}

#[test]
fn sim_faults_name_the_place() {
    for (line, column, reason) in [
        ("0 12", 5, "found 2 columns"),
        ("0 1 2 3 4 5 6 7 8 9", 20, "too many columns"),
        ("0 12 60 mesh 2 3 2 1", 21, "found 8 columns"),
        ("0 12 60 90 mesh 2 3", 20, "found 7 columns"),
        ("0 12 6x0", 6, "`6x0` is not a valid run time"),
        ("0 12 60 mash 2 3 2", 9, "expected the word `mesh`, found `mash`"),
        ("0 12 60 mesh 2 0 2", 16, "a side must be from 1 to 65535, not 0"),
        ("0 12 60 mesh 2 1 2", 14, "a mesh of 4 nodes is too small for 12 processors"),
        ("0 2 2 70000 60", 7, "a side must be from 1 to 65535, not 70000"),
        ("0 1.5 60", 3, "the number of processors is not a whole number"),
        ("1e13 1 60", 1, "the arrival exceeds"),
    ] {
        let found = fault(Format::Sim, &format!("0 1 1\n{line}\n"));
        assert_eq!((found.line, found.column), (2, column), "{line}: {found}");
        assert!(found.reason.contains(reason), "{line}: {found}");
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let trace = sim::read(format!("0 1 1\n{line}\n").as_bytes(), &options).unwrap();
        assert_eq!(trace.report.skipped(Skip::Malformed).lines(), [2]);
    }
    assert!(matches!(strict(Format::Sim, "# nothing\n"), Err(ReadError::NoJobs { lines: 1 })));
}

const BATSIM: &str = r#"{
  "nb_res": 32, "description": "other keys do not matter",
  "jobs": [
    {"id": "w0!7", "subtime": 10.5, "res": 4.0, "profile": "short", "walltime": 90},
    {"id": 8, "subtime": 3, "res": 6, "profile": "long", "walltime": -1,
     "extra_data": {"shape": [3, 2], "queue": "q"}},
    {"id": "nine", "subtime": 10.5, "res": 11, "profile": 1,
     "extra_data": "{\"shape\": [2, 3, 2]}"},
    {"id": "10", "subtime": 11, "res": 1, "profile": "v5", "extra_data": "free text"}
  ],
  "profiles": {
    "short": {"type": "delay", "delay": 60},
    "long": {"type": "delay", "delay": 2e3},
    "1": {"type": "parallel", "cpu": [1, 2], "com": [], "delay": 1.25},
    "v5": {"type": "DelayProfile", "delay": 0},
    "unused": {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0}
  }
}
"#;

#[test]
fn batsim_of_both_versions_is_read() {
    let trace = strict(Format::Batsim, BATSIM).unwrap();
    assert_eq!(
        seen(&trace),
        [
            (8, 3_000, 2_000_000, None, 6, Some([3, 2, 1])),
            (7, 10_500, 60_000, Some(90_000), 4, None),
            (2, 10_500, 1_250, None, 11, Some([2, 3, 2])),
            (10, 11_000, 0, None, 1, None),
        ]
    );
    let lines: Vec<u64> = trace.records.iter().map(|record| record.line).collect();
    assert_eq!(lines, [5, 4, 7, 9]);
    assert_eq!(trace.header.machine_size(), Some(32));
    assert_eq!((trace.report.submits_back.lines(), trace.report.lines), ([5].as_slice(), 19));
}

#[test]
fn batsim_faults_name_the_place() {
    let with = |from: &str, to: &str| {
        assert!(BATSIM.contains(from));
        BATSIM.replace(from, to)
    };
    for (text, line, reason) in [
        (with("\"long\", \"wall", "\"lang\", \"wall"), 5, "job 8 refers to an unknown profile"),
        (
            with("\"short\", \"wall", "\"unused\", \"wall"),
            4,
            "profile `unused` of type `parallel_homogeneous` has no run time",
        ),
        (with("\"subtime\": 11, ", ""), 9, "missing field `subtime`"),
        (with("[3, 2]", "[3, 1]"), 5, "the shape [3, 1, 1] has fewer than 6 nodes"),
        (with("[3, 2]", "[3, 2, 1, 1]"), 5, "must have one to three sides from 1 to 65535"),
        (with("\"res\": 11", "\"res\": 1x1"), 7, "expected"),
        (with("\"res\": 11", "\"res\": 1.5"), 7, "job nine has 1.5 nodes, which is not a whole"),
        (with("\"res\": 11", "\"res\": \"11\""), 7, "invalid type"),
        (with("10.5, \"res\": 4.0", "1e14, \"res\": 4"), 4, "job w0!7 has a time above"),
        ("nonsense".into(), 1, "no JSON object found"),
        ("{\"jobs\": []}".into(), 1, "missing field `profiles`"),
        ("{\"jobs\": [".into(), 1, "EOF"),
    ] {
        let found = fault(Format::Batsim, &text);
        assert_eq!(found.line, line, "{found}");
        assert!(found.reason.contains(reason), "{found}");
        assert!(found.text.is_char_boundary(found.span.end));
    }
    let text = with("\"subtime\": 11, ", "").replace("\"long\", \"wall", "\"lang\", \"wall");
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let trace = batsim::read(text.as_bytes(), &options).unwrap();
    assert_eq!(trace.report.skipped(Skip::Malformed).lines(), [5, 9]);
    assert_eq!(trace.report.kept, 2);
    let none = "{\"jobs\": [], \"profiles\": {}}";
    assert!(matches!(strict(Format::Batsim, none), Err(ReadError::NoJobs { .. })));
    assert!(matches!(strict(Format::Batsim, " \n"), Err(ReadError::NoJobs { .. })));
}

fn records() -> Vec<Record> {
    let record = |number, submit, run, estimate: Option<u64>, nodes, shape| Record {
        number,
        line: 0,
        submit: Time(submit),
        run: Time(run),
        estimate: estimate.map(Time),
        nodes,
        shape,
        freedom: None,
        tags: Tags::UNKNOWN,
        wait: None,
        dependency: None,
    };
    vec![
        record(0, 0, 60_000_000, Some(90_500_000), 4, None),
        record(1, 1_500_000, 0, None, 6, Some([3, 2, 1])),
        record(2, 1_500_001, 60_000_000, None, 5, Some([2, 3, 1])),
    ]
}

#[test]
fn what_is_written_reads_the_same() {
    let mut text = Vec::new();
    sim::write(&mut text, &records()).unwrap();
    assert_eq!(
        String::from_utf8(text.clone()).unwrap(),
        "0 4 60 90.5\n1.5 6 0 mesh 3 2 1\n1.500001 5 60 mesh 2 3 1\n"
    );
    let strip = |trace: Trace| {
        let line = |record| Record { line: 0, ..record };
        trace.records.into_iter().map(line).collect::<Vec<_>>()
    };
    let options = ReadOptions::default();
    assert_eq!(strip(sim::read(text.as_slice(), &options).unwrap()), records());
    for version in [batsim::Version::V4, batsim::Version::V5] {
        let mut text = Vec::new();
        let mut records = records();
        (records[0].freedom, records[2].freedom) = (Some(Freedom::Any), Some(Freedom::AnyBox));
        batsim::write(&mut text, &records, 16, version).unwrap();
        let trace = batsim::read(text.as_slice(), &options).unwrap();
        assert_eq!(trace.header.machine_size(), Some(16));
        assert_eq!(strip(trace), records);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.contains("DelayProfile"), version == batsim::Version::V5);
    }
    // Batsim requires distinct ids.
    let twice = vec![records()[0].clone(), records()[0].clone()];
    let mut text = Vec::new();
    batsim::write(&mut text, &twice, 16, batsim::Version::V4).unwrap();
    let trace = batsim::read(text.as_slice(), &options).unwrap();
    assert_eq!(trace.records.iter().map(|record| record.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn names_say_the_format() {
    for (name, format) in [
        ("a.swf", Some(Format::Swf)),
        ("a.b/c.SWF.GZ", Some(Format::Swf)),
        ("c.sim", Some(Format::Sim)),
        ("c.json.gz", Some(Format::Batsim)),
        ("c.swf.bz2", None),
        ("swf", None),
    ] {
        assert_eq!(Format::of_file(name), format, "{name}");
    }
}

#[test]
fn batsim_jobs_are_told_apart_by_number() {
    let read = |ids: [&str; 3]| {
        let job = |id: &str| format!(r#"{{"id":{id},"subtime":0,"res":1,"profile":"p"}}"#);
        let text = format!(
            r#"{{"nb_res":4,"jobs":[{}],"profiles":{{"p":{{"type":"delay","delay":5}}}}}}"#,
            ids.map(job).join(",")
        );
        let trace = batsim::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        trace.records.iter().map(|record| record.number).collect::<Vec<u64>>()
    };
    assert_eq!(read(["7", "\"w0!9\"", "\"x\""]), [7, 9, 2]);
    // The first job's position is already the number of another job.
    assert_eq!(read(["\"a\"", "0", "\"w0!x\""]), [3, 0, 2]);
    assert_eq!(read(["5", "5", "6"]), [0, 1, 2]);
}

/// Reads a workload with a single two-node job that has the given extra data.
fn with_extra(extra: &str) -> Result<Trace, ReadError> {
    let job = r#"{"id": "1", "subtime": 0, "res": 2, "profile": "d", "extra_data": EXTRA}"#;
    let text = format!(r#"{{"jobs": [{job}], "profiles": {{"d": {{"delay": 1}}}}}}"#);
    strict(Format::Batsim, &text.replace("EXTRA", extra))
}

#[test]
fn a_job_says_how_free_it_is() {
    let freedom = |extra| with_extra(extra).unwrap().records[0].freedom;
    assert_eq!(freedom(r#"{"freedom": "connected"}"#), Some(Freedom::Connected));
    assert_eq!(freedom(r#""{\"freedom\": \"box\"}""#), Some(Freedom::Box));
    assert_eq!(freedom(r#"{"freedom": null}"#), None);
    let error = with_extra(r#"{"freedom": "conected"}"#).unwrap_err().to_string();
    assert!(error.contains("`conected` is not a valid freedom; choose box, turned"), "{error}");
    let trace = with_extra(r#"{"shape": [2, 1], "freedom": "turned"}"#).unwrap();
    let rule: Selection<ShapeRule> = "compact".parse().unwrap();
    let shaper = Shaper::new(&rule, &"mesh:4x4".parse().unwrap(), 1, 0);
    let job = TraceJobs::new(&trace.records, shaper, Replay::default()).next().unwrap();
    assert_eq!((job.request.shape, job.request.freedom), (Some([2, 1, 1]), Some(Freedom::Turned)));
}
