//! Tests that options and inputs that would have no effect are rejected.

use crate::{good, pavior, refused, refused_for, stderr};

const LOG: &str = "1 0 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n\
                   2 5 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n";

/// Creates a folder with a log of two jobs and another file. Returns the folder and the paths of
/// the files.
fn folder(name: &str, contents: &str) -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [log, other] = ["log.swf", name].map(|name| folder.path().join(name));
    std::fs::write(&log, LOG).unwrap();
    std::fs::write(&other, contents).unwrap();
    let [log, other] = [log, other].map(|path| path.to_str().unwrap().to_string());
    (folder, log, other)
}

#[test]
fn a_warm_up_that_leaves_nothing_of_a_log() {
    let experiment = "trace = 'log.swf'\nwarmup = [0, 2]\n";
    let (folder, log, file) = folder("e.toml", experiment);
    let out = folder.path().join("out");
    let reason = "a warm-up of 2 leaves none of 2 jobs";
    for run in [
        ["simulate", "--trace", &log, "--warmup", "2"],
        ["experiment", &file, "--out", out.to_str().unwrap(), "--threads=1"],
    ] {
        let message = refused(&run);
        assert!(message.contains(reason) && message.contains("log.swf"), "{message}");
    }
    good(&["simulate", "--trace", &log, "--warmup", "1"]);
}

#[test]
fn a_converted_log_without_jobs() {
    let (folder, log, _) = folder("x", "");
    let to = folder.path().join("to.swf");
    let convert = ["trace", "convert", &log, to.to_str().unwrap(), "--filter", "queue=1"];
    refused_for(&convert, "none of 2 job lines is left (2 filtered out");
    assert!(!to.exists());
}

#[test]
fn a_drawing_under_a_name_of_another_format() {
    let table = "strategy,load,metric,mean,ci95\nff,1,turnaround,2,\nff,2,turnaround,3,\n";
    let (folder, _, results) = folder("results.csv", table);
    let name = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    refused_for(
        &["plot", &results, "--out", &name("x.pdf")],
        "x.pdf: the name must end in .svg or .json",
    );
    refused_for(&["bench", "--chart", &name("b.pdf")], "b.pdf: the name must end in .svg");
    for kept in ["x.svg", "x.json", "X.SVG"] {
        good(&["plot", &results, "--out", &name(kept)]);
    }
    assert!(!folder.path().join("x.pdf").exists() && !folder.path().join("b.pdf").exists());
}

#[test]
fn columns_of_a_log_for_drawn_jobs() {
    let (folder, log, file) = folder("e.toml", "freedom = 'any:queue=2'\njobs = 10\n");
    let out = folder.path().join("out");
    let migrates = ["simulate", "--migration", "0", "--movable", "queue=2"];
    for run in [
        &["simulate", "--freedom", "box:4,any:queue=2"][..],
        &migrates,
        &["experiment", &file, "--out", out.to_str().unwrap()],
    ] {
        let message = refused(run);
        assert!(
            message.contains("queue=2 applies only to job logs; specify one with"),
            "{message}"
        );
    }
    good(&["simulate", "--trace", &log, "--freedom", "any:queue=2"]);
    good(&["simulate", "--jobs", "10", "--freedom", "box:4,any:25%"]);
}

#[test]
fn options_that_a_generated_log_does_not_have() {
    let generate = |more: &[&str]| refused(&[&["trace", "generate"], more].concat());
    let model = generate(&["lublin", "--nodes", "16", "--load", "2"]);
    assert!(model.contains("--load applies only to distributions of sides"), "{model}");
    let unknown = generate(&["lublni", "--nodes", "16", "--load", "2"]);
    assert!(unknown.contains("did you mean `lublin`?"), "{unknown}");
    let several = generate(&["uniform", "--machine", "mesh:4x4", "--load", "1,2"]);
    assert!(several.contains("a log can have only one load"), "{several}");
    let nodes = generate(&["uniform", "--nodes", "16"]);
    assert!(nodes.contains("request sides need a --machine, not --nodes"), "{nodes}");
    good(&["trace", "generate", "uniform", "--machine", "mesh:4x4", "--load", "2", "--jobs", "3"]);
}

#[test]
fn options_of_what_is_not_simulated() {
    let (_folder, log, _) = folder("x", "");
    let simulate = |more: &[&str]| refused(&[&["simulate"], more].concat());
    let unhit = simulate(&["--max-interruptions", "5"]);
    assert!(unhit.contains("--max-interruptions applies only to failures"), "{unhit}");
    let cubes = ["--machine", "torus:8x8x8", "--fail-classes", "cube:mttf=9:mttr=1"];
    let whole = simulate(&[&cubes[..], &["--spare-switches", "1"]].concat());
    assert!(whole.contains("no switch fails"), "{whole}");
    let all = ["--fail-classes", "switch:mttf=9:mttr=1", "--spare-switches", "48"];
    let all = simulate(&[&["--machine", "torus:8x8x8", "--strategy", "tpu"], &all[..]].concat());
    assert!(all.contains("48 spare switches of 48 leave none in use"), "{all}");
    let moves = ["--trace", &log, "--machine", "mesh:4x4", "--strategy", "ff", "--migration", "1"];
    let moved = simulate(&[&moves[..], &["--jobs-csv", "jobs.csv"]].concat());
    assert!(moved.contains("a job that moves has several: use --placements"), "{moved}");
    let unbounded = simulate(&["--trace", &log, "--max-waiting", "3"]);
    assert!(unbounded.contains("--max-waiting applies only to synthetic workloads"), "{unbounded}");
    let standard = simulate(&["--jobs", "9", "--strategy", "ff", "--placements", "-"]);
    assert!(standard.contains("use /dev/stdout for standard output"), "{standard}");
}

#[test]
fn jobs_that_could_never_be_placed_are_told() {
    let (_folder, log, _) = folder("x", "");
    let table = |machine: &str| {
        let run = ["simulate", "--trace", &log, "--strategy", "ff", "--format", "table"];
        good(&[&run[..], &["--no-timing", "--machine", machine]].concat())
    };
    assert!(table("mesh:3x1").contains("rejected"), "{}", table("mesh:3x1"));
    assert!(!table("mesh:2x2").contains("rejected"), "{}", table("mesh:2x2"));
    // The count appears next to the mean and in a sentence.
    let text = table("mesh:3x1");
    let head = text.lines().find(|line| line.starts_with("strategy")).unwrap();
    assert!(head.contains("rejected"), "{text}");
}

#[test]
fn a_list_in_the_place_of_a_message() {
    let output = pavior(&["network", "--machine", "mesh:8x8"], "[0,[0,0],[3,2],8]\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("a message must be an object"), "{}", stderr(&output));
}

#[test]
fn lines_of_a_log_that_are_no_jobs_are_counted() {
    let (_folder, log, more) =
        folder("more.swf", &format!("{LOG}3 -1 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n"));
    let notes = |log: &str| {
        stderr(&pavior(
            &["simulate", "--trace", log, "--strategy", "ff", "--filter", "queue=2"],
            "",
        ))
    };
    assert!(notes(&more).contains("note: 1 of 3 job lines skipped"), "{}", notes(&more));
    assert!(!notes(&log).contains("skipped"), "{}", notes(&log));
}
