//! Tests of sizes in SWF: processors and nodes, node columns, pieces of jobs, and unused fields.

use std::sync::Arc;

use pavior_workload::traces::{Format, ReadError, ReadOptions, Skip, Trace, swf};

/// Returns an SWF line with the given number, size, status, and text after the 18 fields.
fn line(number: u64, size: u64, status: i64, behind: &str) -> String {
    format!("{number} 0 -1 60 {size} -1 -1 {size} 90 -1 {status} 1 1 1 1 1 -1 -1{behind}\n")
}

fn with(text: &str, options: &ReadOptions) -> Result<Trace, ReadError> {
    swf::read(text.as_bytes(), options)
}

fn read(text: &str) -> Arc<Trace> {
    Arc::new(with(text, &ReadOptions::default()).unwrap())
}

fn sizes(trace: &Trace) -> Vec<u32> {
    trace.records.iter().map(|record| record.nodes).collect()
}

fn divided(by: u32) -> ReadOptions {
    ReadOptions { processors_per_node: Some(by), ..ReadOptions::default() }
}

const CORES: &str = "; MaxNodes: 40960\n; MaxProcs: 163840\n";

#[test]
fn processors_become_nodes_on_the_machine_of_the_header() {
    let log =
        CORES.to_string() + &line(1, 2048, 1, "") + &line(2, 131_072, 1, "") + &line(3, 1, 1, "");
    let trace = read(&log);
    let on_own = trace.for_machine(40_960);
    assert_eq!(sizes(&on_own), [512, 32_768, 1]);
    assert_eq!(on_own.header.machine_size(), Some(40_960));
    assert!(Arc::ptr_eq(&on_own, &trace.for_machine(40_960)), "it is divided once");
    let notes: Vec<&str> = trace.notes().map(|note| note.text.as_str()).collect();
    assert!(notes.len() == 1 && notes[0].contains("--processors-per-node 1 treats"), "{notes:?}");
    // On any other machine, sizes are unchanged, and a note recommends the option.
    let other = read(&log);
    assert_eq!(sizes(&other.for_machine(163_840)), [2048, 131_072, 1]);
    let notes: Vec<&str> = other.notes().map(|note| note.text.as_str()).collect();
    assert!(notes.len() == 1 && notes[0].contains("--processors-per-node 4 divides"), "{notes:?}");
    // With the option, sizes are divided by the given number, regardless of the header.
    for (by, expected) in [(1, [2048, 131_072, 1]), (4, [512, 32_768, 1]), (3, [683, 43_691, 1])] {
        let trace = Arc::new(with(&log, &divided(by)).unwrap());
        assert_eq!(sizes(&trace.for_machine(40_960)), expected, "{by}");
        assert_eq!(trace.notes().count(), 0);
        assert_eq!(trace.header.machine_size(), Some(163_840u64.div_ceil(by.into())));
    }
}

#[test]
fn other_headers_divide_nothing() {
    let job = line(1, 100, 1, "");
    for header in [
        "; MaxNodes: 64\n; MaxProcs: 100\n",
        "; MaxNodes: 64\n; MaxProcs: 64\n",
        "; MaxNodes: 128\n; MaxProcs: 512\n",
        "; MaxNodes: 64\n",
        "; MaxProcs: 256\n",
        "; MaxNodes: 0\n; MaxProcs: 256\n",
        "",
    ] {
        let trace = read(&format!("{header}{job}"));
        for nodes in [64, 100, 128, 256] {
            assert_eq!(sizes(&trace.for_machine(nodes)), [100], "{header}");
        }
        assert_eq!(trace.notes().count(), 0, "{header}");
    }
}

#[test]
fn shapes_are_never_divided() {
    let log = "0 12 60 mesh 2 3 2\n0 13 60\n0 2 3 1 60\n";
    let trace = Format::Sim.read(log.as_bytes(), &divided(4)).unwrap();
    assert_eq!(sizes(&trace), [12, 4, 6]);
    let log = r#"{"nb_res":64,"jobs":[{"id":"1","subtime":0,"res":6,"profile":"d"},
        {"id":"2","subtime":0,"res":6,"profile":"d","extra_data":{"shape":[2,3]}}],
        "profiles":{"d":{"type":"delay","delay":1}}}"#;
    let trace = Format::Batsim.read(log.as_bytes(), &divided(4)).unwrap();
    assert_eq!((sizes(&trace), trace.header.machine_size()), (vec![2, 6], Some(16)));
}

#[test]
fn a_column_may_have_the_nodes() {
    let at = |column| ReadOptions { nodes_from: Some(column), ..divided(8) };
    for (column, behind, nodes) in [
        (19, " 2x4", 2),
        (19, " 3", 3),
        (21, " a b frontier:excl:2500x112", 2500),
        (20, "\tx\t7x1.5\tz", 7),
        (19, " 1e2x4", 100),
        (5, "", 64),
    ] {
        let log = CORES.to_string() + &line(1, 64, 1, behind);
        let trace = Arc::new(with(&log, &at(column)).unwrap());
        assert_eq!(sizes(&trace.for_machine(40_960)), [nodes], "{behind}");
    }
    assert_eq!(
        with(&line(1, 64, 1, " -1"), &at(19)).unwrap().report.skipped(Skip::NoSize).count(),
        1
    );
    for (behind, reason) in [
        (" x4", "`x4` is not a valid number of nodes"),
        (" 2x", "`2x` is not a valid number of nodes"),
        (" 2x0", "`2x0` is not a valid number of nodes"),
        (" 2.5x4", "`2.5x4` is not a valid number of nodes"),
        (" 2x4x4", "`2x4x4` is not a valid number of nodes"),
        (" a:b", "`a:b` is not a valid number of nodes"),
        (" 4:", "`4:` is not a valid number of nodes"),
        ("", "no such column: 19"),
    ] {
        match with(&line(1, 64, 1, behind), &at(19)) {
            Err(ReadError::Line(fault)) => assert!(fault.reason.starts_with(reason), "{fault}"),
            other => panic!("{behind}: {other:?}"),
        }
    }
    let error = Format::Sim.read("0 1 2\n".as_bytes(), &at(2)).unwrap_err();
    assert!(error.to_string().contains("--nodes-from applies only to SWF logs"), "{error}");
}

#[test]
fn pieces_of_jobs_are_skipped() {
    let pieces = [(2, " "), (2, ""), (3, "")].map(|(status, behind)| line(1, 16, status, behind));
    let log = line(1, 16, 1, "") + &pieces.concat() + &line(2, 16, 1, "") + &line(3, 16, 4, "");
    let trace = read(&log);
    let numbers: Vec<u64> = trace.records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(trace.report.skipped(Skip::Piece).lines(), [2, 3, 4]);
    assert_eq!((trace.report.job_lines, trace.report.kept), (6, 3));
    let note = &trace.report.notes[0];
    assert!(note.text.contains("no whole-job line"), "{note:?}");
    assert_eq!((note.count, note.line), (1, 6));
    let options = ReadOptions { pieces: true, ..ReadOptions::default() };
    assert_eq!(with(&log, &options).unwrap().report.kept, 6);
    // Status 271 is an exit code and does not indicate a whole job, so the piece is kept.
    let log = line(1, 16, 2, "") + &line(1, 16, 271, "");
    assert_eq!(read(&log).report.kept, 2);
}

#[test]
fn text_in_unused_fields_is_no_fault() {
    for (field, text) in [(3, "NaN"), (6, "nan"), (7, "-"), (10, "2GB"), (10, "inf")] {
        let line = line(1, 4, 1, "");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words[field - 1] = text;
        assert_eq!(sizes(&read(&words.join(" "))), [4], "{field}");
    }
    for field in [1, 2, 4, 5, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18] {
        let line = line(1, 4, 1, "");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words[field - 1] = "NaN";
        let read = with(&words.join(" "), &ReadOptions::default());
        assert!(matches!(read, Err(ReadError::Line(_))), "{field}");
    }
}

/// Converting a log in any format to SWF and back must preserve everything that SWF can express.
#[test]
fn every_format_is_converted_to_swf_and_back() {
    let sacct = "JobID|User|Partition|Submit|Elapsed|Timelimit|NNodes|State\n\
                 9|a|p|2026-01-05T08:00:00.5+0100|01:00:00|02:00:00|4|COMPLETED\n\
                 8|b|q|2026-01-05T08:00:01+0100|00:00:01.25|UNLIMITED|1K|TIMEOUT\n";
    let json = r#"{"jobs":[{"job_id":5,"allocation_nodes":4,"state":{"current":["FAILED"]},
        "partition":"p","time":{"elapsed":60,"submission":100,"start":110,"end":170,"limit":2}}]}"#;
    let pbs = "03/18/2017 00:01:15;E;71.bw;user=u queue=q ctime=9 start=20 end=30 exec_host=a/0\n";
    let kubectl = r#"{"items":[{"kind":"Job","metadata":{"name":"a","namespace":"n","uid":"u",
        "creationTimestamp":"2026-01-05T08:00:00Z","annotations":{"pavior.dev/shape":"2x2"}},
        "status":{"startTime":"2026-01-05T08:10:00Z","completionTime":"2026-01-05T09:10:00Z"}}]}"#;
    let batsim = r#"{"nb_res":8,"jobs":[{"id":"3","subtime":1.5,"res":4,"profile":"d"}],
        "profiles":{"d":{"type":"delay","delay":0.25}}}"#;
    let swf_log = "; MaxProcs: 1,024\n; UnixStartTime: 5\n".to_string()
        + &line(4, 64, -4, " 2x4")
        + &line(5, 3, 5, "");
    for (format, text) in [
        (Format::Swf, swf_log.as_str()),
        (Format::Sim, "0.5 12 60 90 mesh 2 3 2\n2 3 1 1 7.125\n"),
        (Format::Batsim, batsim),
        (Format::Sacct, sacct),
        (Format::SacctJson, json),
        (Format::Pbs, pbs),
        (Format::Kubectl, kubectl),
    ] {
        let trace = format.read(text.as_bytes(), &ReadOptions::default()).unwrap();
        let mut written = Vec::new();
        swf::write(&mut written, &trace.header, &trace.records).unwrap();
        let again = swf::read(written.as_slice(), &ReadOptions::default()).unwrap();
        let (size, start) = (again.header.machine_size(), again.header.start());
        assert_eq!((size, start), (trace.header.machine_size(), trace.header.start()), "{format}");
        assert_eq!(again.records.len(), trace.records.len());
        for (again, mut record) in again.records.into_iter().zip(trace.records) {
            (record.line, record.shape, record.freedom) = (again.line, None, None);
            assert_eq!(again, record, "{format}");
        }
        let mut twice = Vec::new();
        let again = swf::read(written.as_slice(), &ReadOptions::default()).unwrap();
        swf::write(&mut twice, &again.header, &again.records).unwrap();
        assert_eq!(twice, written);
    }
}
