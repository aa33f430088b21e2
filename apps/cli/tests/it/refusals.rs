//! Tests that options and inputs that would have no effect are rejected.

use crate::{
    Folder, good, good_input, noted, pavior, refused, refused_for, refused_input_for, stderr,
    stdout, words,
};

const LOG: &str = "1 0 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n\
                   2 5 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n";

/// Creates a folder with a log of two jobs and another file. Returns the folder and the paths of
/// the files.
fn folder(name: &str, contents: &str) -> (Folder, String, String) {
    let folder = Folder::new();
    let (log, other) = (folder.write("log.swf", LOG), folder.write(name, contents));
    (folder, log, other)
}

#[test]
fn a_warm_up_longer_than_the_log_is_rejected() {
    let experiment = "trace = 'log.swf'\nwarmup = [0, 2]\n";
    let (folder, log, file) = folder("e.toml", experiment);
    let reason = "the warm-up (2 jobs) must be shorter than the log (2 jobs)";
    for run in [
        format!("simulate --trace {log} --warmup 2"),
        format!("experiment {file} --out {} --threads=1", folder.path("out")),
    ] {
        let message = refused(&run);
        assert!(message.contains(reason) && message.contains("log.swf"), "{message}");
    }
    good(&format!("simulate --trace {log} --warmup 1"));
}

#[test]
fn a_conversion_without_jobs_is_rejected() {
    let (folder, log) = Folder::with("log.swf", LOG);
    let convert = format!("trace convert {log} {} --filter queue=1", folder.path("to.swf"));
    refused_for(&convert, "none of the 2 job lines remain (2 were filtered out");
    assert_eq!(folder.names(), ["log.swf"]);
}

#[test]
fn drawings_need_a_matching_extension() {
    let table = "strategy,load,metric,mean,ci95\nff,1,turnaround,2,\nff,2,turnaround,3,\n";
    let (folder, _, results) = folder("results.csv", table);
    let plot = |name: &str| format!("plot {results} --out {}", folder.path(name));
    refused_for(&plot("x.pdf"), "x.pdf: the name must end in .svg or .json");
    refused_for(
        &format!("bench --chart {}", folder.path("b.pdf")),
        "b.pdf: the name must end in .svg",
    );
    for kept in ["x.svg", "x.json", "X.SVG"] {
        good(&plot(kept));
    }
    assert_eq!(folder.names(), ["X.SVG", "log.swf", "results.csv", "x.json", "x.svg"]);
}

#[test]
fn log_columns_are_rejected_for_synthetic_jobs() {
    let (folder, log, file) = folder("e.toml", "freedom = 'any:queue=2'\njobs = 10\n");
    for run in [
        "simulate --freedom box:4,any:queue=2",
        "simulate --migration 0 --movable queue=2",
        &format!("experiment {file} --out {}", folder.path("out")),
    ] {
        refused_for(run, "queue=2 applies only to job logs; specify one with");
    }
    good(&format!("simulate --trace {log} --freedom any:queue=2"));
    good("simulate --jobs 10 --freedom box:4,any:25%");
}

#[test]
fn options_without_effect_on_a_generated_log_are_rejected() {
    for (more, reason) in [
        ("lublin --nodes 16 --load 2", "--load applies only to side distributions"),
        ("lublni --nodes 16 --load 2", "did you mean `lublin`?"),
        ("uniform --machine mesh:4x4 --load 1,2", "specify only one load"),
        ("uniform --nodes 16", "a side distribution requires --machine, not --nodes"),
    ] {
        refused_for(&format!("trace generate {more}"), reason);
    }
    good("trace generate uniform --machine mesh:4x4 --load 2 --jobs 3");
}

#[test]
fn options_of_disabled_features_are_rejected() {
    let (_folder, log) = Folder::with("log.swf", LOG);
    let pod = "--machine torus:8x8x8";
    let moves = format!("--trace {log} --machine mesh:4x4 --strategy ff --migration 1");
    for (options, reason) in [
        ("--max-interruptions 5".to_string(), "--max-interruptions requires failures"),
        (format!("{pod} --fail-classes cube:mttf=9:mttr=1 --spare-switches 1"), "switch can fail"),
        (
            format!("{pod} -s tpu --fail-classes switch:mttf=9:mttr=1 --spare-switches 48"),
            "48 spare switches are too many for a machine with 48 switches",
        ),
        (format!("{moves} --jobs-csv jobs.csv"), "a job that moves has several; use --placements"),
        (
            format!("--trace {log} --max-waiting 3"),
            "--max-waiting applies only to synthetic workloads",
        ),
        (
            "--jobs 9 --strategy ff --placements -".to_string(),
            "use /dev/stdout for standard output",
        ),
    ] {
        refused_for(&format!("simulate {options}"), reason);
    }
}

#[test]
fn jobs_that_can_never_be_placed_are_reported() {
    let (_folder, log) = Folder::with("log.swf", LOG);
    let table = |machine: &str| {
        let run = format!("simulate --trace {log} --strategy ff --format table --no-timing");
        good(&format!("{run} --machine {machine}"))
    };
    assert!(!table("mesh:2x2").contains("rejected"), "{}", table("mesh:2x2"));
    // Rejected jobs are reported in a column and in a sentence.
    let text = table("mesh:3x1");
    let row = text.lines().find(|line| line.starts_with("ff ")).unwrap();
    assert!(text.contains("strategy  rejected") && words(row)[1] == "2", "{text}");
    let sentence =
        "Jobs that could never be placed were rejected and are excluded from all means of: ff.";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn values_other_than_messages_are_rejected() {
    for line in ["[0,[0,0],[3,2],8]", "5", "null"] {
        let reason = "each message must be an object";
        refused_input_for("network --machine mesh:8x8", line, reason);
    }
}

#[test]
fn messages_delivered_before_a_deadlock_are_printed() {
    let line = |from: u64, to: u64| format!("{{\"at\":0,\"from\":[{from},0],\"to\":[{to},0]}}\n");
    // Each of the first four messages waits for a channel that the next one holds.
    let ring: String = (0..4).map(|node| line(node, (node + 2) % 4)).collect();
    let other = "{\"at\":0,\"from\":[0,1],\"to\":[1,1]}\n";
    let network = "network --machine torus:4x4 --lanes 1";
    for (input, ids) in [(ring.clone() + other, "4"), (other.to_string() + &ring, "0")] {
        for format in ["json", "csv"] {
            let output = pavior(&format!("{network} --format {format}"), &input);
            assert_eq!(output.status.code(), Some(2));
            assert!(stderr(&output).contains("deadlock"), "{}", stderr(&output));
            let text = stdout(&output).replace("{\"id\":", "");
            let row = text.lines().last().unwrap_or_default().split(',').next();
            assert_eq!(row, Some(ids), "{text}");
        }
    }
}

#[test]
fn deliveries_are_printed_in_input_order() {
    let line = |at: u64| format!("{{\"at\":{at},\"from\":[0,0],\"to\":[1,0]}}\n");
    let input = [900, 500, 0].map(line).concat();
    let text = good_input("network --machine mesh:4x4 --format csv", &input);
    let ids: Vec<&str> = text.lines().skip(1).map(|row| &row[..1]).collect();
    assert_eq!(ids, ["0", "1", "2"], "{text}");
}

#[test]
fn skipped_log_lines_are_counted() {
    let (_folder, log, more) =
        folder("more.swf", &format!("{LOG}3 -1 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n"));
    let notes =
        |log: &str| noted(&format!("simulate --trace {log} --strategy ff --filter queue=2"), "").1;
    assert!(notes(&more).contains("note: 1 of 3 job lines were skipped"), "{}", notes(&more));
    assert!(!notes(&log).contains("skipped"), "{}", notes(&log));
}
