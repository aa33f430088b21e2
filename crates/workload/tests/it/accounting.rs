//! Tests of logs in the Slurm, PBS and Kubernetes formats, including their irregularities.

use pavior_mesh::Sides;
use pavior_workload::inspect::LogSummary;
use pavior_workload::traces::{Field, Format, LineError, ReadError, ReadOptions, Skip, Trace};

fn with(text: &str, options: &ReadOptions) -> Result<Trace, ReadError> {
    let format = options.format.or_else(|| Format::find(text.as_bytes(), "-"));
    format.unwrap_or_else(|| panic!("no format: {text}")).read(text.as_bytes(), options)
}

fn read(text: &str) -> Trace {
    with(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> LineError {
    match with(text, &ReadOptions::default()) {
        Err(ReadError::Line(fault)) => *fault,
        other => panic!("{text}: {other:?}"),
    }
}

/// Returns each job's number, submit time, run time and estimate (in seconds), and node count.
fn seen(trace: &Trace) -> Vec<(u64, u64, u64, Option<u64>, u32)> {
    let seconds = |time: pavior_kernel::Time| time.0 / 1_000_000;
    let one = |job: &pavior_workload::traces::Record| {
        (job.number, seconds(job.submit), seconds(job.run), job.estimate.map(seconds), job.nodes)
    };
    trace.records.iter().map(one).collect()
}

const HEAD: &str = "JobID|Submit|Elapsed|NNodes|State";

#[test]
fn dates_of_sacct_may_have_zones_and_spaces() {
    let head = "JobID|Submit|ElapsedRaw|NNodes|State\n";
    for (first, second, gap) in [
        ("2023-02-21T14:37:02+0100", "2023-02-21T15:48:20+0100", 4278),
        ("2023-02-21T13:37:02Z", "2023-02-21T15:48:20+01:00", 4278),
        ("2023-02-21 14:37:02", "2023-02-21 15:48:20", 4278),
        ("2023-02-21T14:37:02.5", "2023-02-21T15:48:20.5", 4278),
        // When daylight saving time ends, local times go back by an hour.
        ("2023-10-29T02:30:00+0200", "2023-10-29T02:10:00+0100", 2400),
        ("2023-02-21T14:37:02-0330", "2023-02-21T18:07:02Z", 0),
    ] {
        let trace = read(&format!("{head}1|{first}|60|2|COMPLETED\n2|{second}|60|2|COMPLETED\n"));
        assert_eq!(seen(&trace), [(1, 0, 60, None, 2), (2, gap, 60, None, 2)], "{first}");
        assert_eq!(trace.report.submits_back.count(), 0, "{first}");
    }
}

#[test]
fn line_breaks_in_texts_of_sacct_are_joined() {
    let two = [(1, 0, 3600, None, 4), (2, 600, 3600, None, 4)];
    let tail = "2|2026-01-05T08:10:00|01:00:00|4|COMPLETED|srun x\n";
    for text in ["echo a\necho b", "a\n\nb", "a\n5", "a|b\nc", "a\n3 b|c", "\n\n", "a\n1.2.3|x"] {
        let log =
            format!("{HEAD}|SubmitLine\n1|2026-01-05T08:00:00|01:00:00|4|COMPLETED|{text}\n{tail}");
        let trace = read(&log);
        assert_eq!(seen(&trace), two, "{text}");
        assert_eq!(trace.report.job_lines, 2);
    }
    // The free-text column precedes other columns, and `JobID` is not always the first column.
    for head in
        ["JobID|Comment|Submit|Elapsed|NNodes|State", "Comment|JobID|Submit|Elapsed|NNodes|State"]
    {
        let mut log = format!("{head}\n");
        for (job, minutes) in [(1, "00"), (2, "10")] {
            let [first, second] = if head.starts_with("JobID") {
                [job.to_string(), "a\nb".into()]
            } else {
                ["a\nb".into(), job.to_string()]
            };
            log += &format!("{first}|{second}|2026-01-05T08:{minutes}:00|01:00:00|4|COMPLETED\n");
        }
        assert_eq!(seen(&read(&log)), two, "{head}");
    }
    let short = fault(&format!("{HEAD}|Comment\n1|2026-01-05T08:00:00\n2|5|00:01:00|4|FAILED|\n"));
    assert_eq!(short.line, 2);
    assert!(short.reason.contains("omit text columns such as"), "{short}");
}

#[test]
fn sacct_may_have_any_delimiter_and_warnings_in_front() {
    for delimiter in ["|", ",", ";", "\t", "@@", "^", " | "] {
        let row = ["1", "2026-01-05T08:00:00", "01:00:00", "4", "COMPLETED"].join(delimiter);
        let log = format!("{}\n{row}\n", HEAD.replace('|', delimiter));
        assert_eq!(seen(&read(&log)), [(1, 0, 3600, None, 4)], "{delimiter:?}");
        let log = format!("sacct: error: slow\n\nslurm_persist_conn_open: up\n{log}");
        let trace = read(&log);
        assert_eq!(trace.report.kept, 1, "{delimiter:?}");
        assert_eq!(trace.report.notes[0].count, 2);
    }
    // The text that contains the delimiter is between columns that Pavior uses.
    let log = "JobID,AllocTRES,Submit,Elapsed,NNodes,State\n1,cpu=1,node=2,5,00:01:00,4,FAILED\n";
    assert_eq!(seen(&read(log)), [(1, 0, 60, None, 4)]);
    // Cells in CSV files may be quoted; `sacct` itself never quotes cells.
    let line = "2026-01-05T08:00:00";
    let both = [(1, 0, 60, None, 4), (2, 0, 60, None, 4)];
    for log in [
        format!(
            "JobID,Comment,Submit,Elapsed,NNodes,State,AllocTRES\n\
             1,\"a, \"\"b\"\"\",{line},00:01:00,4,FAILED,\"cpu=1,node=4\"\n\
             2,,{line},00:01:00,4,FAILED,\"cpu=1,node=4\"\n"
        ),
        format!(
            "\"JobID\"|\"Comment\"|\"Submit\"|\"Elapsed\"|\"NNodes\"|\"State\"\n\
             \"1\"|\"a|b\nc|\"|\"{line}\"|\"00:01:00\"|\"4\"|\"FAILED\"\n\
             \"2\"|\"\"|\"{line}\"|\"00:01:00\"|\"4\"|\"FAILED\"\n"
        ),
        format!("{HEAD}|JobName\n1|{line}|00:01:00|4|FAILED|\"a\n2|{line}|00:01:00|4|FAILED|\"b\n"),
        format!("{HEAD},Name\n1,{line},00:01:00,4,FAILED,\"a\n2,{line},00:01:00,4,FAILED,b\"\n")
            .replace('|', ","),
    ] {
        assert_eq!(seen(&read(&log)), both, "{log}");
    }
    let table = "       JobID    JobName  Partition      State ExitCode \n\
                 ------------ ---------- ---------- ---------- -------- \n\
                 101                   a          p  COMPLETED      0:0 \n";
    for text in [table.to_string(), format!("sacct: warning\n{table}")] {
        let found = fault(&text);
        assert!(found.reason.contains("--parsable2: sacct -a -X --parsable2"), "{found}");
    }
}

#[test]
fn processors_of_sacct_are_divided() {
    let log = "JobID|Submit|ElapsedRaw|AllocCPUS|State\n1|5|60|160|COMPLETED\n2|5|60|1|FAILED\n";
    let error = with(log, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("use --processors-per-node"), "{error}");
    let options = ReadOptions { processors_per_node: Some(64), ..ReadOptions::default() };
    let trace = with(log, &options).unwrap();
    assert_eq!(seen(&trace), [(1, 0, 60, None, 3), (2, 0, 60, None, 1)]);
    // Node counts are never divided.
    let log = log.replace("AllocCPUS", "NNodes");
    assert_eq!(seen(&with(&log, &options).unwrap())[0].4, 160);
}

#[test]
fn names_may_be_in_filters() {
    let log = "JobID|Partition|User|Submit|Elapsed|NNodes|State\n\
               1|gpu|ann|5|00:01:00|4|COMPLETED\n\
               2|2|bob|5|00:01:00|4|TIMEOUT\n\
               3|cpu|ann|5|00:01:00|4|FAILED\n";
    for (filter, kept) in [
        ("partition=gpu", &[1][..]),
        ("partition=cpu,partition=gpu,user=ann", &[1, 3]),
        // Names take precedence over numbers. A number that is not a name refers to the name at
        // that position in the log.
        ("partition=2", &[2]),
        ("partition=3", &[3]),
        ("user=bob", &[2]),
        ("status=TIMEOUT", &[2]),
        ("status=0", &[2, 3]),
        ("status=COMPLETED,status=FAILED", &[1, 3]),
    ] {
        let options = ReadOptions { filter: filter.parse().unwrap(), ..ReadOptions::default() };
        let numbers: Vec<u64> = seen(&with(log, &options).unwrap()).iter().map(|it| it.0).collect();
        assert_eq!(numbers, kept, "{filter}");
    }
    for (filter, reason) in [
        ("partition=gpus", "the log has no partition `gpus`, only gpu, 2, cpu"),
        ("status=DEADLINE", "the log has no status `DEADLINE`, only COMPLETED, TIMEOUT, FAILED"),
        ("app=x", "`x`: the log has no app names, only numbers"),
    ] {
        let options = ReadOptions { filter: filter.parse().unwrap(), ..ReadOptions::default() };
        assert_eq!(with(log, &options).unwrap_err().to_string(), reason);
    }
    let summary = LogSummary::of(&read(log), None);
    let counts: Vec<_> =
        summary.names.iter().map(|it| (it.field, it.name.as_str(), it.number, it.jobs)).collect();
    assert_eq!(counts[..2], [("partition", "gpu", 1, 1), ("partition", "2", 2, 1)]);
    assert_eq!(counts[3..], [("user", "ann", 1, 2), ("user", "bob", 2, 1)]);
    // A filter for an SWF log recognizes the three status words.
    let swf =
        "1 0 -1 9 1 -1 -1 1 9 -1 5 1 1 1 1 1 -1 -1\n2 0 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n";
    let options =
        ReadOptions { filter: "status=CANCELLED".parse().unwrap(), ..ReadOptions::default() };
    assert_eq!(seen(&with(swf, &options).unwrap()).len(), 1);
    let options = ReadOptions { filter: "user=ann".parse().unwrap(), ..ReadOptions::default() };
    assert!(matches!(with(swf, &options), Err(ReadError::Option(_))));
}

#[test]
fn jobs_of_other_clusters_are_other_jobs() {
    let head = "Cluster|JobID|Submit|Elapsed|NNodes|State|SubmitLine";
    let row =
        |cluster: &str, id: u32, line: &str| format!("{cluster}|{id}|5|00:01:00|4|FAILED|{line}\n");
    let rows =
        row("a", 7, "") + &row("", 6, "") + &row("b", 7, "") + &row("b", 8, "srun -d afterok:7 x");
    let json = |cluster: &str, id: u32, line: &str| {
        let time = r#""time":{"elapsed":60,"submission":5,"start":5}"#;
        format!(
            r#"{{"cluster":"{cluster}","job_id":"{id}","allocation_nodes":"4","state":"FAILED",
                "submit_line":"{line}",{time}}}"#
        )
    };
    let jobs =
        [json("a", 7, ""), json("", 6, ""), json("b", 7, ""), json("b", 8, "srun -d afterok:7 x")];
    let json = sacct_json(&jobs.each_ref().map(String::as_str));
    for log in [format!("{head}\n{rows}"), json] {
        let trace = read(&log);
        let second = 10_000_000_007;
        let found = [7, 6, second, second + 1].map(|number| (number, 0, 60, None, 4));
        assert_eq!(seen(&trace), found);
        assert_eq!(trace.records[3].dependency.as_ref().unwrap().after[0].number, second);
        assert_eq!((trace.report.notes.len(), trace.report.notes[0].count), (1, 2));
    }
}

/// Returns a `sacct --json` document that contains the given jobs.
fn sacct_json(jobs: &[&str]) -> String {
    format!(r#"{{"meta":{{"Slurm":{{}}}},"jobs":[{}],"warnings":[],"errors":[]}}"#, jobs.join(","))
}

#[test]
fn sacct_json_of_every_parser_is_read() {
    for job in [
        // Numbers are plain, and the state is a single word.
        r#"{"job_id":7,"allocation_nodes":4,"state":{"current":"COMPLETED"},"user":"u","time":
            {"elapsed":60,"submission":100,"start":110,"end":170,"limit":2}}"#,
        // The state is a list, and the limit has flags.
        r#"{"job_id":7,"allocation_nodes":4,"state":{"current":["COMPLETED"]},"user":"u","time":
            {"elapsed":60,"submission":100,"start":110,"end":170,
             "limit":{"set":true,"infinite":false,"number":2}},"steps":[{"state":["X"]}]}"#,
        // Every number has flags, nodes are among the resources, and no elapsed time is given.
        r#"{"job_id":{"set":true,"number":7},"state":{"current":["COMPLETED","RECONFIG_FAIL"]},
            "tres":{"allocated":[{"type":"cpu","count":64},{"type":"node","count":4}]},"user":"u",
            "time":{"submission":{"set":true,"infinite":false,"number":100},
                    "start":{"set":true,"infinite":false,"number":110},
                    "end":{"set":true,"infinite":false,"number":170},"limit":{"number":2}}}"#,
        // Numbers are in quotes.
        r#"{"job_id":"7","allocation_nodes":"4","state":{"current":"COMPLETED"},"user":"u","time":
            {"elapsed":"60","submission":"100","start":{"set":true,"number":"110"},"end":"",
             "limit":"2"}}"#,
    ] {
        // Warnings come first, and the output may consist of several documents.
        let warned = format!("sacct: warning\n\nsacct: slow\n{}", sacct_json(&[job]));
        let trace = read(&warned);
        assert_eq!((trace.records[0].line, trace.report.notes[0].count), (4, 2));
        assert_eq!(fault(&format!("{warned}{{]")).line, job.lines().count() as u64 + 3);
        let behind = fault(&format!("{}\nsacct: done\n", sacct_json(&[job])));
        assert!(behind.reason.starts_with("unexpected text after the JSON object"), "{behind}");
        let other = job.replacen('7', "8", 1);
        assert_eq!(
            read(&format!("{}{}", sacct_json(&[job]), sacct_json(&[&other]))).report.kept,
            2
        );
        let trace = read(&sacct_json(&[job]));
        assert_eq!(seen(&trace), [(7, 0, 60, Some(120), 4)], "{job}");
        assert_eq!(trace.header.start(), Some(100));
        assert_eq!((trace.names.get(Field::User, "u"), trace.records[0].tags.status), (Some(1), 1));
    }
    let time = r#""time":{"elapsed":60,"submission":100,"start":110,"end":170,"limit":LIMIT}"#;
    let job = |limit: &str, state: &str| {
        let time = time.replace("LIMIT", limit);
        format!(r#"{{"job_id":7,"allocation_nodes":4,"state":{{"current":["{state}"]}},{time}}}"#)
    };
    let infinite = job(r#"{"set":true,"infinite":true,"number":0}"#, "COMPLETED");
    let unset = job(r#"{"set":false,"infinite":false,"number":9}"#, "CANCELLED");
    for text in [infinite, unset] {
        assert_eq!(seen(&read(&sacct_json(&[&text])))[0].3, None);
    }
    let running = read(&sacct_json(&[&job("1", "RUNNING")]));
    assert_eq!(running.report.skipped(Skip::NoRunTime).count(), 1);
    let follows =
        job("1", "COMPLETED").replace(":7,", r#":8,"submit_line":"srun -d after:7+2 a","#);
    let record = &read(&sacct_json(&[&job("1", "COMPLETED"), &follows])).records[1];
    let after = &record.dependency.as_ref().unwrap().after[0];
    assert_eq!((after.number, after.think.map(|time| time.0)), (7, Some(120_000_000)));
    // One job has two runs.
    let again = job("1", "COMPLETED").replace("100", "105");
    let twice = read(&sacct_json(&[&job("1", "NODE_FAIL"), &again]));
    assert_eq!((twice.report.kept, twice.report.skipped(Skip::Requeued).count()), (1, 1));
}

#[test]
fn faults_in_json_have_a_byte_and_a_path() {
    let good = r#"{"job_id":7,"allocation_nodes":4,"state":{"current":"FAILED"},
        "time":{"elapsed":60,"submission":100,"start":110,"end":170}}"#
        .replace('\n', "");
    for (from, to, reason) in [
        ("\"job_id\":7", "\"job_id\":\"x\"", ".job_id (byte"),
        ("\"FAILED\"", "3", ".state.current (byte"),
        ("\"submission\":100", "\"submission\":[]", ".time.submission (byte"),
        ("\"submission\":100", "\"submission\":1e13", ".time.submission (byte"),
        ("\"allocation_nodes\":4", "\"allocation_nodes\":1.5", ".allocation_nodes (byte"),
        ("\"elapsed\":60", "\"elapsed\":60,\"elapsed\":61", "appears twice"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        let text = sacct_json(&[&good, &bad]);
        let found = fault(&text);
        let byte = text.rfind("{\"job_id\"").unwrap();
        assert!(found.reason.starts_with("jobs[1]"), "{found}");
        assert!(found.reason.contains(reason), "{found}");
        assert!(found.reason.contains(&format!("(byte {byte})")), "{byte}: {found}");
        assert_eq!((found.line, found.column), (1, byte as u64 + 1), "{found}");
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        assert_eq!(with(&text, &options).unwrap().report.kept, 1, "{bad}");
    }
    for (text, reason) in [
        (sacct_json(&["3"]), "jobs[0] (byte"),
        (sacct_json(&[&good]).replace("}],", "}]"), "expected"),
        (sacct_json(&[&good]).replace("\"jobs\":[", "\"jobs\":{"), "expected"),
        (r#"{"job_id":1}"#.to_string(), "the `jobs` list is missing"),
        (r#"{"jobs":[],"jobs":[],"job_id":1}"#.to_string(), "the member `jobs` appears twice"),
    ] {
        let found = fault(&text);
        assert!(found.reason.contains(reason), "{text}: {found}");
    }
    assert!(matches!(
        with(&sacct_json(&[]), &ReadOptions::default()),
        Err(ReadError::NoJobs { .. })
    ));
    // The log is a minified Batsim workload.
    let job = |id: u32, profile: &str| {
        format!(r#"{{"id":"{id}","subtime":0,"res":1,"profile":"{profile}"}}"#)
    };
    let jobs: Vec<String> = (0..20).map(|id| job(id, if id == 15 { "y" } else { "x" })).collect();
    let text = format!(
        r#"{{"nb_res":1,"jobs":[{}],"profiles":{{"x":{{"type":"delay","delay":1}}}}}}"#,
        jobs.join(",")
    );
    let byte = text.find(r#"{"id":"15""#).unwrap();
    let reason = format!("jobs[15] (byte {byte}): job 15 refers to an unknown profile `y`");
    assert_eq!(fault(&text).reason, reason);
}

#[test]
fn sequences_of_batsim_are_added_up() {
    let log = |profiles: &str| {
        format!(
            r#"{{"nb_res":4,"jobs":[{{"id":"1","subtime":0,"res":2,"profile":"s"}}],
                "profiles":{{"d":{{"type":"delay","delay":10}},{profiles}}}}}"#
        )
    };
    for (profiles, run) in [
        (r#""s":{"type":"composed","repeat":4,"seq":["d","d"]}"#, 80),
        (r#""s":{"type":"composed","nb":3,"seq":["d"]}"#, 30),
        (r#""s":{"type":"SequentialComposition","seq":["d","d","d"]}"#, 30),
        (r#""s":{"type":"composed","repeat":2,"seq":["t","d"]},"t":{"seq":["d","d"]}"#, 60),
        (r#""s":{"type":"composed","seq":[]}"#, 0),
    ] {
        assert_eq!(seen(&read(&log(profiles)))[0].2, run, "{profiles}");
    }
    let mut deep = r#""s":{"seq":["s0","s0"]}"#.to_string();
    for level in 0..60 {
        deep += &format!(r#","s{level}":{{"seq":["s{}","s{}"]}}"#, level + 1, level + 1);
    }
    for (profiles, reason) in [
        (r#""s":{"seq":["s"]}"#, "is a sequence that contains itself"),
        (r#""s":{"seq":["t"]},"t":{"seq":["s"]}"#, "is a sequence that contains itself"),
        (r#""s":{"seq":["u"]}"#, "unknown profile `u`"),
        (r#""s":{"seq":["c"]},"c":{"type":"parallel","cpu":[1]}"#, "has no run time"),
        // The run time is 2^62 times 10 s. Each sequence must be summed only once.
        (&format!(r#"{deep},"s60":{{"seq":["d"]}}"#), "a time above"),
    ] {
        let found = fault(&log(profiles));
        assert!(found.reason.contains(reason), "{profiles}: {found}");
    }
}

/// Returns a record in an accounting log.
fn record(kind: &str, id: &str, pairs: &str) -> String {
    format!("03/18/2017 00:01:15;{kind};{id}.bw;user=ann queue=q {pairs}\n")
}

#[test]
fn accounting_logs_of_pbs_are_read() {
    let times = "ctime=100 qtime=101 start=160 end=220 Exit_status=0";
    for (pairs, nodes) in [
        ("exec_host=26742/0-31+26743/0-31 Resource_List.nodect=9", 2),
        ("exec_host=h/3+h/2+h/1+g/0", 2),
        ("exec_host=h/0*32 Resource_List.nodect=7", 1),
        ("Resource_List.nodect=7 Resource_List.nodes=9:ppn=32", 7),
        ("Resource_List.nodect=7 Resource_List.nodes=", 7),
        ("exec_host= Resource_List.nodes=4:ppn=8", 4),
        ("exec_vnode=(h:ncpus=4)+(g:ncpus=4+h:ncpus=2)", 2),
        ("Resource_List.nodes=n1:ppn=4+n2:ppn=4", 2),
        ("Resource_List.nodes=2:ppn=8:gpus=1+gpu:ppn=4+3#shared", 6),
        ("Resource_List.select=2:ncpus=8:mpiprocs=8+1:ncpus=4", 3),
        ("Resource_List.select=\"ncpus=4:host=a b+2\"", 3),
        ("account=\"a b=c\" exec_host=a/0+b/0+c/0", 3),
    ] {
        let limit = "Resource_List.walltime=04:00:00 resources_used.walltime=99:00:00";
        let log = record("Q", "71", "") + &record("E", "71", &format!("{times} {limit} {pairs}"));
        let trace = read(&log);
        assert_eq!(seen(&trace), [(71, 0, 60, Some(14_400), nodes)], "{pairs}");
        assert_eq!((trace.header.start(), trace.records[0].tags.status), (Some(100), 1));
    }
    // The log has a job that was rerun, a whole array, a job that never ran, and a job without a
    // start time.
    let log = record("R", "1", &format!("{times} exec_host=a/0"))
        + &record("E", "1", "ctime=100 start=300 end=400 exec_host=b/0+c/0 Exit_status=271")
        + &record("E", "2[]", times)
        + &record("E", "2[4]", &format!("{times} exec_host=a/0"))
        + &record("E", "3", "ctime=100 Exit_status=-1")
        + &record("E", "4", "qtime=500 resources_used.walltime=0:01:00 exec_host=a/0");
    let trace = read(&log);
    assert_eq!(seen(&trace), [(1, 0, 100, None, 2), (2, 0, 60, None, 1), (4, 400, 60, None, 1)]);
    assert_eq!(trace.records[0].tags.status, 0);
    assert_eq!(trace.report.skipped(Skip::Requeued).lines(), [1]);
    assert_eq!(trace.report.skipped(Skip::NoSize).lines(), [5]);
    let long = (0..20_000).map(|host| format!("node{host}/0")).collect::<Vec<_>>().join("+");
    let trace = read(&record("E", "9", &format!("{times} exec_host={long}")));
    assert_eq!(trace.records[0].nodes, 20_000);
}

#[test]
fn faults_in_accounting_logs_name_the_place() {
    let first = record("E", "1", "ctime=1 start=2 end=3 exec_host=a/0");
    for (line, reason) in [
        ("nonsense\n".to_string(), "expected an accounting record"),
        (record("E", "x", "ctime=1"), "is not a valid job id"),
        (record("E", "2", "ctime=soon"), "`soon` is not a valid time in seconds"),
        (record("E", "2", "ctime=1 Resource_List.walltime=long"), "`long` is not a valid duration"),
        (record("E", "2", "ctime=1 Resource_List.nodect=-1"), "`-1` is not a valid number"),
        (record("E", "2", "ctime=1 Resource_List.nodes=1.5:ppn=2"), "is not a valid request"),
        (record("E", "2", "ctime=1e99"), "is not a valid time in seconds"),
    ] {
        let found = fault(&format!("{first}{line}"));
        assert_eq!(found.line, 2);
        assert!(found.reason.contains(reason), "{line}: {found}");
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let trace = with(&format!("{first}{line}"), &options).unwrap();
        assert_eq!((trace.report.kept, trace.report.skipped(Skip::Malformed).count()), (1, 1));
    }
}

/// Returns a Job with additional members in its metadata and status.
fn job(name: &str, metadata: &str, status: &str) -> String {
    format!(
        r#"{{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{name}","namespace":"n",
            "uid":"u-{name}","creationTimestamp":"2026-01-05T08:00:00Z"{metadata}}},
            "spec":{{"activeDeadlineSeconds":7200}},"status":{{{status}}}}}"#
    )
}

/// Returns a Pod that belongs to a Job and runs on the given node.
fn pod(job: &str, node: &str) -> String {
    format!(
        r#"{{"kind":"Pod","metadata":{{"ownerReferences":[{{"kind":"Job","uid":"u-{job}"}}]}},
            "spec":{{"nodeName":"{node}"}},"status":{{"startTime":"2026-01-05T08:10:30Z",
            "containerStatuses":[{{"state":{{"terminated":
                {{"finishedAt":"2026-01-05T09:09:30Z"}}}}}}]}}}}"#
    )
}

fn list(items: &[String]) -> String {
    format!(r#"{{"apiVersion":"v1","items":[{}],"kind":"List"}}"#, items.join(","))
}

const DONE: &str = r#""startTime":"2026-01-05T08:10:00Z","completionTime":"2026-01-05T09:10:00Z""#;

#[test]
fn jobs_of_kubernetes_are_read() {
    let shaped = r#","annotations":{"pavior.dev/shape":"2x3"}"#;
    let queued = r#","labels":{"kueue.x-k8s.io/queue-name":"lq"}"#;
    let failed = r#""startTime":"2026-01-05T08:10:00Z","conditions":[{"type":"Suspended",
        "status":"False"},{"type":"Failed","status":"True",
        "lastTransitionTime":"2026-01-05T08:20:00Z"}]"#;
    let complete = r#""conditions":[{"type":"Complete","status":"True"}]"#;
    let alone = r#"{"kind":"Pod","metadata":{"name":"p"}}"#;
    let trace = read(&list(&[
        pod("b", "x"),
        job("a", shaped, DONE),
        job("b", queued, failed),
        pod("b", "y"),
        pod("b", "x"),
        job("c", "", r#""startTime":"2026-01-05T08:10:00Z""#),
        job("d", "", complete),
        pod("d", "z"),
        job("e", "", DONE),
        alone.to_string(),
    ]));
    let hours = Some(7200);
    assert_eq!(
        seen(&trace),
        [(0, 0, 3600, hours, 6), (1, 0, 600, hours, 2), (3, 0, 3540, hours, 1)]
    );
    let shape: Option<Sides> = trace.records[0].shape;
    assert_eq!((shape, trace.records[1].tags.status), (Some([2, 3, 1]), 0));
    assert_eq!(trace.names.get(Field::Queue, "lq"), Some(trace.records[1].tags.queue));
    assert_eq!(trace.report.skipped(Skip::NoRunTime).count(), 0);
    assert_eq!(trace.report.skipped(Skip::NoSize).count(), 2);
    assert_eq!((trace.report.notes.len(), trace.report.notes[0].count), (1, 1));
}

#[test]
fn lists_of_kubernetes_have_many_forms() {
    let kind = |text: &str| {
        let text = text.replace(r#""kind":"Job","metadata""#, r#""metadata""#);
        text.replace(r#"{"kind":"Pod","#, "{")
    };
    let (one, pods) = (job("a", "", DONE), [pod("a", "x"), pod("a", "y")]);
    let typed = |name: &str, items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| kind(item)).collect();
        format!(r#"{{"kind":"{name}List","apiVersion":"v1","items":[{}]}}"#, items.join(","))
    };
    let shaped = job("a", r#","annotations":{"pavior.dev/shape":"2"}"#, DONE);
    let shifted = DONE.replace("08:10:00Z", "10:10:00.000+02:00");
    let shifted = shifted.replace("09:10:00Z", "04:10:00.000000-05:00");
    for text in [
        shaped.clone(),
        format!("Warning: deprecated\n{shaped}"),
        typed("Job", std::slice::from_ref(&shaped)),
        typed("Job", std::slice::from_ref(&one)) + "\n" + &typed("Pod", &pods),
        one.clone() + &pods.concat(),
        list(&[job("a", r#","annotations":{"pavior.dev/shape":"2"}"#, &shifted)]),
    ] {
        assert_eq!(seen(&read(&text)), [(0, 0, 3600, Some(7200), 2)], "{text}");
    }
    for (text, reason) in [
        (list(&[kind(&one)]), "must have a kind unless its list has one"),
        (kind(&one), "must have a kind"),
        (shaped.replace("\"status\"", "\"kind\""), "the member `kind` appears twice"),
        (shaped.replace("09:10:00Z", "09:10:00"), "completionTime (byte 0): expected a date"),
    ] {
        assert!(fault(&text).reason.contains(reason), "{reason}: {}", fault(&text));
    }
}

#[test]
fn the_first_jobs_of_kubernetes_have_their_pods() {
    let items = ["a", "b"].map(|name| job(name, "", DONE)).into_iter();
    let pods = [("a", "x"), ("b", "y"), ("a", "z")].map(|(job, node)| pod(job, node));
    let items: Vec<String> = items.chain(pods).collect();
    let options = ReadOptions { first: Some(1), ..ReadOptions::default() };
    let trace = with(&list(&items), &options).unwrap();
    assert_eq!(trace.records.iter().map(|record| record.nodes).collect::<Vec<_>>(), [2]);
}

#[test]
fn jobs_of_a_set_are_one() {
    let of = |more: &str| {
        format!(r#","labels":{{"jobset.sigs.k8s.io/jobset-name":"s"}},"annotations":{{{more}}}"#)
    };
    let one = of(r#""pavior.dev/shape":"2x2","pavior.dev/box":"set""#);
    let each = of(r#""pavior.dev/shape":"2x2""#);
    for (metadata, nodes, shape) in [(one, 4, Some([2, 2, 1])), (each, 8, None), (of(""), 3, None)]
    {
        let later = DONE.replace("09:10", "09:20");
        let trace = read(&list(&[
            job("s-0", &metadata, DONE),
            job("s-1", &metadata, &later),
            pod("s-0", "x"),
            pod("s-1", "y"),
            pod("s-1", "z"),
        ]));
        assert_eq!(seen(&trace), [(0, 0, 4200, Some(7200), nodes)]);
        assert_eq!((trace.records[0].shape, trace.records[0].tags.status), (shape, 1));
    }
    for (text, reason) in [
        (job("a", r#","annotations":{"pavior.dev/shape":"2y"}"#, ""), "is not a valid shape"),
        (job("a", "", r#""startTime":5"#), "items[0].status.startTime (byte"),
        ("{}".to_string(), "a Kubernetes object must have a kind"),
        ("[]".to_string(), "expected an object"),
    ] {
        assert!(fault(&list(&[text])).reason.contains(reason), "{reason}");
    }
}

#[test]
fn an_entry_of_a_list_is_bounded() {
    let job = format!(r#"{{"job_id":1,"x":"{}"}}"#, "y".repeat(17 << 20));
    let error = with(&sacct_json(&[&job]), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
}

#[test]
fn the_text_says_its_format_before_the_name() {
    let swf = "; Version: 2.2\n1 0 -1 9 1 -1 -1 1 9 -1 5 1 1 1 1 1 -1 -1\n";
    let batsim = r#"{"jobs":[{"id":"1","subtime":0}],"profiles":{}}"#;
    for (text, name, format) in [
        (swf, "log", Some(Format::Swf)),
        (swf, "log.sim", Some(Format::Swf)),
        ("\u{feff}; a comment\n", "log.txt", Some(Format::Swf)),
        ("1 2 3\n", "log.swf", Some(Format::Swf)),
        ("1 2 3\n", "log", Some(Format::Sim)),
        ("1 2 3 mesh 1 1 2\n", "-", Some(Format::Sim)),
        (batsim, "log.txt", Some(Format::Batsim)),
        (batsim, "log.swf", Some(Format::Batsim)),
        ("{}", "log.json", Some(Format::Batsim)),
        (&sacct_json(&[r#"{"job_id":1}"#]), "log.json", Some(Format::SacctJson)),
        (&list(&[]), "log.json", Some(Format::Kubectl)),
        (&record("S", "1", ""), "20170318", Some(Format::Pbs)),
        ("sacct: warning\nJobID|State\n", "log.swf", Some(Format::Sacct)),
        ("JobID|State\n", "log.txt", Some(Format::Sacct)),
        ("hello world\n", "log.txt", None),
        ("", "log", None),
        ("", "log.sim", Some(Format::Sim)),
    ] {
        assert_eq!(Format::find(text.as_bytes(), name), format, "{text} {name}");
    }
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("swff".parse::<Format>().unwrap_err().reason.contains("swf"));
}
