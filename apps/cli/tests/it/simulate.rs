//! Tests `pavior simulate`: results do not depend on the number of threads, and agree with theory.

use serde_json::Value;

use crate::{good, refused};

fn simulate(line: &str) -> Value {
    crate::json(&format!("simulate {line}"), "")
}

#[test]
fn threads_do_not_change_the_output() {
    let run = |threads: &str| {
        let line = "simulate --machine torus:6x6 --load 1,3 --replications 7 --jobs 200 \
                    --no-timing --scheduler fcfs,ssd --threads";
        good(&format!("{line} {threads}"))
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("5"));
    assert_ne!(one, run("1").replace("\"seed\": 1", "\"seed\": 2"));
}

#[test]
fn threads_do_not_change_the_reported_deadlock() {
    let run = |threads: &str| {
        let line = "simulate --machine torus:5x5 --strategy tff,random,naive,mc --pattern \
                    all-to-all --service iterations:2 --sending pipelined --lanes 1 --jobs 30 \
                    --load 0.0005,0.005 --threads";
        refused(&format!("{line} {threads}"))
    };
    let one = run("1");
    assert!(one.contains("deadlock at cycle"), "{one}");
    for _ in 0..8 {
        assert_eq!(run("8"), one);
    }
}

#[test]
fn results_have_the_keys_of_the_contract() {
    let results = simulate("--jobs 50 --replications 2 --strategy ff");
    assert_eq!(results["schema"], 1);
    assert_eq!(results["seed"], 1);
    let row = &results["results"][0];
    assert_eq!(row["machine"], "mesh:16x16");
    assert_eq!((&row["strategy"], &row["scheduler"]), (&"ff".into(), &"fcfs".into()));
    assert_eq!((&row["load"], &row["replications"]), (&1.5.into(), &2.into()));
    assert!(row["overloaded"].is_boolean());
    let turnaround = &row["metrics"]["turnaround"];
    assert!(turnaround["mean"].is_f64() && turnaround["ci95"].is_f64());
    assert_eq!(turnaround["unit"], "time_unit");
    assert!(row["metrics"]["allocation_ns"]["mean"].is_f64());
    assert!(row["metrics"].get("largest_free").is_none());
}

#[test]
fn csv_has_one_line_per_metric() {
    let text = good(
        "simulate --jobs 50 --replications 1 --strategy ff --format csv --metrics \
         turnaround,+largest_free --no-timing",
    );
    assert!(text.starts_with(
        "machine,strategy,scheduler,load,replications,overloaded,metric,mean,ci95,unit\n"
    ));
    assert!(text.contains("largest_free"));
    assert!(text.lines().nth(1).unwrap().starts_with("mesh:16x16,ff,fcfs,1.5,1,false,turnaround,"));
}

#[test]
fn equal_strategies_have_equal_results() {
    // First Fit's fast search and its plain search must produce the same results.
    let results = simulate(
        "--machine grid:8wx5x4 --load 3 --jobs 300 --replications 2 --no-timing --strategy \
         tff,tff:plain,ff:turn=all",
    );
    let metrics = |row: usize| &results["results"][row]["metrics"];
    assert_eq!(metrics(0), metrics(1));
    assert_eq!(metrics(0), metrics(2));
}

#[test]
fn precision_stops_replications() {
    let results =
        simulate("--machine mesh:8x8 --load 0.5 --strategy ff --precision 0.1 --no-timing");
    let row = &results["results"][0];
    let replications = row["replications"].as_u64().unwrap();
    assert!(replications >= 5 && replications % 5 == 0, "{replications}");
    let turnaround = &row["metrics"]["turnaround"];
    assert!(turnaround["ci95"].as_f64().unwrap() <= 0.1 * turnaround["mean"].as_f64().unwrap());
}

#[test]
fn the_tbl_experiment_agrees_with_an_independent_program() {
    // Reference results for 8x8x8, uniform sides, load 4.6, and 160 runs of 1000 jobs: TBL's
    // turnaround is 0.55 times that of FF; utilization is 0.49 with rotation and 0.366 without; TBL
    // has 2.79 busy submeshes. The margins here are wider because there are fewer runs.
    let results =
        simulate("--machine mesh:8x8x8 --load 4.6 --strategy ff,tbl --replications 40 --no-timing");
    let mean = |row: usize, metric: &str| {
        results["results"][row]["metrics"][metric]["mean"].as_f64().unwrap()
    };
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.08;
    assert!(near(mean(1, "turnaround") / mean(0, "turnaround"), 0.55));
    assert!(near(mean(1, "utilization"), 0.49) && near(mean(0, "utilization"), 0.366));
    assert!(near(mean(1, "busy_submeshes"), 2.79));
}

#[test]
fn added_metrics_come_first_in_the_table() {
    let table = good("simulate --jobs 20 --format table --metrics +largest_free");
    let header = table.lines().find(|line| line.starts_with("strategy")).unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(columns[..3], ["strategy", "largest_free", "turnaround"], "{table}");
}
