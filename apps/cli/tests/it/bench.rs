//! Tests `pavior bench`: counts are exact, times are present, and invalid options are rejected.

use serde_json::Value;

use crate::{Folder, good, refused_for};

/// Runs `pavior bench` with few attempts and, by default, a single round.
fn quick(format: &str, options: &str) -> String {
    let mut line = format!("bench --format {format} {options}");
    for (option, value) in [("--attempts", 300), ("--rounds", 1)] {
        if !line.contains(option) {
            line += &format!(" {option} {value}");
        }
    }
    good(&line)
}

fn bench(options: &str) -> Value {
    serde_json::from_str(&quick("json", options)).unwrap()
}

/// Returns the results without measured values.
fn counted(results: &Value) -> Vec<Value> {
    let mut rows = results["results"].as_array().unwrap().clone();
    assert!(!rows.is_empty());
    for row in &mut rows {
        let row = row.as_object_mut().unwrap();
        row.retain(|key, _| !key.ends_with("_ns") && !key.starts_with("ratio"));
        assert_eq!(row.len(), 11, "{row:?}");
    }
    rows
}

/// Writes a log of jobs with the given sizes.
fn log(folder: &Folder, sizes: &[u32]) -> String {
    let line = |(at, size): (usize, &u32)| {
        format!("{at} {at} -1 60 {size} -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n")
    };
    folder.write("log.swf", sizes.iter().enumerate().map(line).collect::<String>())
}

#[test]
fn counts_depend_only_on_the_arguments() {
    let run = "--machine torus:6x5x4 --strategy random,tff,mbs --seed 7";
    let first = bench(run);
    assert_eq!(counted(&first), counted(&bench(run)));
    assert_eq!(counted(&first), counted(&bench(&format!("{run} --rounds 3"))));
    assert_ne!(counted(&first), counted(&bench(&run.replace('7', "8"))));
}

#[test]
fn results_have_counts_and_times() {
    let results = bench("--machine mesh:8x8 --strategy tff,tff:plain --rounds 2");
    assert_eq!((&results["schema"], &results["seed"]), (&1.into(), &1.into()));
    assert_eq!(results["machine"], "mesh:8x8");
    assert_eq!((&results["sides"], &results["trace"]), (&"uniform".into(), &Value::Null));
    assert_eq!((&results["rounds"], &results["fill"]), (&2.into(), &Value::Null));
    assert!(results["clock_overhead_ns"].as_f64().unwrap() >= 0.0);
    let rows = &results["results"];
    for row in rows.as_array().unwrap() {
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("attempts"), 300);
        assert_eq!(count("granted") + count("refused"), 300);
        assert_eq!(row["success_share"], count("granted") as f64 / 300.0);
        for kind in ["attempt", "granted", "refused"] {
            let time = |what: &str| row[format!("{kind}_{what}_ns")].as_f64().unwrap();
            assert!(time("median") <= time("p99") && time("mean") >= 0.0, "{row}");
        }
        assert!(row["whole_mean_ns"].as_f64().unwrap() > 0.0);
    }
    // Both searches grant the same boxes, so the machine passes through the same states.
    for key in ["granted", "warmup_attempts", "busy_submeshes"] {
        assert_eq!(rows[0][key], rows[1][key], "{key}");
    }
    assert_ne!(rows[0]["words_per_attempt"], rows[1]["words_per_attempt"]);
    assert_eq!((&rows[0]["ratio"], &rows[0]["ratio_ci95"]), (&1.0.into(), &Value::Null));
    assert!(rows[1]["ratio"].is_f64() && rows[1]["ratio_ci95"].is_f64());
}

#[test]
fn after_a_refusal_the_oldest_job_departs() {
    let folder = Folder::new();
    // Each job fills the machine, so each request is refused once and then granted.
    let full = log(&folder, &[4]);
    let run = format!("--machine mesh:2x2 --strategy ff --trace {full} --warmup 0");
    let row = &counted(&bench(&run))[0];
    assert_eq!((&row["granted"], &row["refused"]), (&150.into(), &150.into()));
    assert_eq!(row["busy_submeshes"], 0.5);
    assert_eq!(row["warmup_attempts"], 0);
    // The shape rule turns 3 nodes into a 2x2 box, so two such jobs fit on the machine only if they
    // may be split into pieces.
    let sizes = log(&folder, &[1, 3, 9]);
    let rows = counted(&bench(&format!("--machine mesh:2x2 --strategy ff,naive --trace {sizes}")));
    assert_eq!(rows[0]["busy_submeshes"], 0.5);
    assert!(rows[1]["busy_submeshes"].as_f64() > Some(1.0));
    for row in &rows {
        // Requests for 9 nodes never fit, so every third request is skipped.
        let granted = row["granted"].as_u64().unwrap();
        let rejected = row["rejected_requests"].as_u64().unwrap();
        assert!((granted / 2).abs_diff(rejected) <= 1, "{row}");
    }
}

#[test]
fn fill_limits_the_number_of_busy_nodes() {
    let run = "--machine mesh:8x8 --strategy naive,tff";
    let near = counted(&bench(run));
    let half = counted(&bench(&format!("{run} --fill 0.5")));
    for (near, half) in near.iter().zip(&half) {
        assert!(half["busy_submeshes"].as_f64() < near["busy_submeshes"].as_f64());
        assert!(half["granted"].as_u64() > near["granted"].as_u64());
    }
    let table = quick("table", &format!("{run} --fill 0.55"));
    assert!(table.contains("at most 55% of"), "{table}");
    // Nodes are freed before each request, so a strategy that only counts nodes refuses no request.
    let full = bench(&format!("{run} --fill 1"));
    let naive = &full["results"][0];
    assert_eq!((&naive["refused"], &naive["refused_median_ns"]), (&0.into(), &Value::Null));
}

#[test]
fn every_strategy_can_be_measured() {
    let all = crate::json("strategies", "");
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    let (plane, pod): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| **name != "tpu");
    let rows = bench(&format!("--machine mesh:8x8 --attempts 40 -s {}", plane.join(",")));
    assert_eq!(counted(&rows).len(), plane.len());
    let machine = "--machine torus:8x8x8 --sides pods --attempts 40";
    let rows = bench(&format!("{machine} -s {}", pod.join(",")));
    assert_eq!(counted(&rows).len(), 1);
}

#[test]
fn csv_has_the_json_keys_and_tables_have_three_rows_per_strategy() {
    let run = "--machine mesh:4x4 --strategy ff,tff";
    let csv = quick("csv", run);
    let json = bench(run);
    let keys: Vec<&String> = json["results"][0].as_object().unwrap().keys().collect();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(header[0], "machine");
    assert!(header[1..].iter().eq(&keys));
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.lines().all(|line| line.split(',').count() == header.len()));
    let table = quick("table", run);
    assert_eq!(table.lines().filter(|line| line.contains("granted")).count(), 2, "{table}");
}

#[test]
fn the_chart_names_every_strategy() {
    let folder = Folder::new();
    bench(&format!("-m mesh:4x4 -s ff,tff:plain --chart {}", folder.path("times.svg")));
    let svg = folder.read("times.svg");
    for text in [">ff<", ">tff:plain<", ">granted<", ">refused<", "prefers-color-scheme:dark"] {
        assert!(svg.contains(text), "{text}");
    }
    refused_for(&format!("bench --chart {}", folder.path("")), "directory");
}

#[test]
fn invalid_measurements_are_rejected() {
    let folder = Folder::new();
    let trace = format!("--trace {}", log(&folder, &[17]));
    for (options, at_fault) in [
        ("--strategy ff,tlb", "did you mean `tbl`?"),
        ("--strategy ff,ff", "appears twice"),
        ("-m mesh:8x8x8 --strategy ff,2db", "--strategy ff,2db\n                ^^^"),
        ("--machine mesh:0x4", "--machine"),
        ("--sides unifrom", "did you mean `uniform`?"),
        ("--sides uniform:0", "--sides uniform:0"),
        ("-m mesh:4x4 --sides uniform-decreasing", "--sides"),
        (&format!("--sides pods {trace}"), "--sides"),
        ("--trace nowhere.swf", "nowhere.swf"),
        (&format!("{trace} --filter user=3"), "job lines remain"),
        (&format!("{trace} -m mesh:4x4"), "none of the requests"),
        ("--shape-rule exact", "--shape-rule applies only to job logs"),
        ("--first 3", "--first applies only to job logs"),
        ("--fill 0", "--fill"),
        ("--fill -1", "--fill"),
        ("--fill 1.5", "--fill"),
        ("--fill NaN", "--fill"),
        ("--attempts 0", "--attempts"),
        ("--rounds 0", "--rounds"),
        ("--chart no/such/folder/x.svg", "x.svg"),
    ] {
        refused_for(&format!("bench {options}"), at_fault);
    }
}
