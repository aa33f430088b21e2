//! Tests `pavior forecast` for a given machine state and queue.

use serde_json::{Value, json};

use crate::{Folder, good_input, refused_input_for};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A state in which half of the machine is free and the other half becomes free at time 5400.
const BUSY: &str = r#"{"job":"a","parts":[{"base":[0,0],"sides":[8,4]}],"start":-1800,"end":5400}"#;

fn forecast(queue: &str, more: &str) -> Value {
    let busy = Folder::new();
    let path = busy.write("busy.jsonl", BUSY);
    crate::json(&format!("forecast --machine mesh:8x8 --busy {path} --queue - {more}"), queue)
}

fn plans(reply: &Value) -> Vec<Option<f64>> {
    reply["jobs"].as_array().unwrap().iter().map(|job| job["plan"].as_f64()).collect()
}

const QUEUE: &str = r#"{"job":"c","shape":[8,8],"estimate":3600}
{"job":"d","shape":[4,4],"estimate":1800}
{"job":8,"nodes":32,"estimate":7200}
{"job":"f","shape":[16,8],"estimate":60}
"#;

/// Checks that forecasts without past jobs show only the plan. Job d is short enough to be
/// backfilled before c, but job 8 would delay c and therefore starts after it.
#[test]
fn without_past_jobs_only_the_plan_is_printed() {
    let reply = forecast(QUEUE, "");
    assert_eq!((&reply["past"], &reply["now"]), (&Value::Null, &json!(0.0)));
    assert_eq!(plans(&reply), [Some(5400.0), Some(0.0), Some(9000.0), None]);
    let of = |job: usize, key: &str| reply["jobs"][job][key].clone();
    assert_eq!(
        [of(0, "earliest"), of(0, "latest"), of(2, "job")],
        [json!(null), json!(null), json!(8)]
    );
    assert_eq!(
        [of(1, "earliest"), of(1, "median"), of(1, "latest")],
        [0.0, 0.0, 0.0].map(|at| json!(at))
    );
    assert_eq!([of(2, "fits_ever"), of(3, "fits_ever")], [json!(true), json!(false)]);
}

#[test]
fn forecasts_depend_on_the_options() {
    let fcfs = forecast(QUEUE, "--scheduler fcfs");
    assert_eq!(plans(&fcfs)[1], Some(9000.0), "d stands behind c");
    let later = forecast(QUEUE, "--now 1400");
    assert_eq!(plans(&later), [Some(5400.0), Some(1400.0), Some(9000.0), None]);
    let turned = [r#"{"job":1,"shape":[4,8],"freedom":"box"}"#, r#"{"job":1,"shape":[4,8]}"#];
    let starts = turned.map(|queue| plans(&forecast(queue, ""))[0]);
    assert_eq!(starts, [Some(5400.0), Some(0.0)], "only a box that may turn fits now");
    // The first job never ends, so the second one has no start time.
    let endless = "{\"job\":1,\"shape\":[8,4]}\n{\"job\":2,\"shape\":[8,8],\"estimate\":60}";
    assert_eq!(plans(&forecast(endless, "")), [Some(0.0), None]);
}

/// Checks that forecasts from past jobs (the `pavior advise` log) do not depend on the number of
/// threads.
#[test]
fn intervals_from_past_jobs_do_not_depend_on_threads() {
    let of = |threads: u8| {
        forecast(QUEUE, &format!("--past {ROOT}/docs/advise.in/jobs.sacct --threads {threads}"))
    };
    let reply = of(1);
    assert_eq!(reply, of(2));
    assert!(reply["past"]["run_times"].as_u64().unwrap() > 300, "{}", reply["past"]);
    assert_eq!(reply["past"]["calibrated"], true);
    let job = &reply["jobs"][0];
    let [low, median, high] =
        ["earliest", "median", "latest"].map(|key| job[key].as_f64().unwrap());
    assert!(0.0 < low && low <= median && median <= high, "{job}");
    assert_eq!(plans(&reply)[..2], [Some(5400.0), Some(0.0)]);
    assert_eq!(reply["jobs"][1]["latest"], 0.0);
}

#[test]
fn tables_and_csv_contain_the_json_values() {
    let queue = "{\"job\":\"c\",\"nodes\":60,\"estimate\":7200}\n\
         {\"job\":2,\"nodes\":9,\"estimate\":60,\"shape\":null,\"freedom\":null,\"user\":null}";
    let print = |format: &str| {
        good_input(&format!("forecast --machine mesh:8x8 --queue - --format {format}"), queue)
    };
    assert_eq!(print("csv"), "job,nodes,earliest,median,latest,plan\nc,60,0,0,0,0\n2,9,,,,7200\n");
    let table = print("table");
    assert!(table.contains("Without --past") && table.contains("job  nodes  plan h"), "{table}");
    assert!(table.contains("2        9     2.0"), "{table}");
}

/// Checks that a job has no start time if it needs an unavailable node (every 3x3 box contains [1,
/// 1]). Under `fcfs`, the next job has no start time either, but for a different reason.
#[test]
fn a_job_that_cannot_start_has_no_time() {
    let (_folder, busy) = Folder::with("busy.jsonl", r#"{"node":[1,1]}"#);
    let queue =
        "{\"job\":1,\"shape\":[3,3],\"estimate\":60}\n{\"job\":2,\"nodes\":1,\"estimate\":60}";
    let state = format!("forecast --machine mesh:4x4 --busy {busy} --queue - --scheduler fcfs");
    let print = |format: &str| good_input(&format!("{state} --format {format}"), queue);
    let reply: Value = serde_json::from_str(&print("json")).unwrap();
    assert_eq!(plans(&reply), [None, None]);
    let of = |job: usize| [&reply["jobs"][job]["obstacle"], &reply["jobs"][job]["place"]];
    let place = json!({ "base": [0, 0], "sides": [3, 3] });
    assert_eq!(of(0), [&json!("unavailable"), &place]);
    assert_eq!(of(1), [&json!("horizon"), &Value::Null]);
    let table = print("table");
    assert!(
        table.contains("1        9  blocked") && table.contains("2        1        -"),
        "{table}"
    );
    assert!(print("csv").ends_with("1,9,,,,\n2,1,,,,\n"));
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let machine = "--machine mesh:8x8";
    for (queue, more, expected) in [
        ("{\"job\":1}", machine, "specify a shape or a number of nodes"),
        ("{\"nodes\":1}", machine, "missing \"job\""),
        ("{\"job\":1,\"shape\":[4]}", machine, "expected 2 sides, one for each axis"),
        ("{\"job\":1,\"nodes\":0}", machine, "at least 1 node"),
        ("{\"job\":1,\"nodes\":-5}", machine, "\"nodes\" must be a positive integer"),
        ("{\"job\":1,\"shape\":[-1,2]}", machine, "must be a list of positive integers"),
        ("{\"job\":1,\"nodes\":1,\"estimate\":1e9}", machine, "seconds from 0 to 1e8"),
        ("{\"job\":1,\"nodes\":1,\"estimate\":-1}", machine, "a number of seconds"),
        ("{\"job\":1,\"nodes\":1,\"user\":\"x\"}", machine, "a numeric user ID from the log"),
        ("{\"job\":1,\"nodes\":1,\"freedom\":\"bxo\"}", machine, "box"),
        ("{\"job\":1,\"nodes\":1}\n{\"job\":1,\"nodes\":1}", machine, "already waiting (line 1"),
        ("{\"job\":1,\"nodes\":1,\"parts\":[]}", machine, "unknown key \"parts\""),
        ("", "--machine mesh:8x8 --first 3", "--first applies only to logs"),
        ("", "--machine mesh:8x8 --past /nowhere.swf", "/nowhere.swf"),
        ("", "--machine mesh:8x8 --out x", "cannot be used with"),
        ("", "--machine mesh:8x8 log.swf", "cannot be used with"),
        ("", "", "--queue requires --machine"),
    ] {
        refused_input_for(&format!("forecast --queue - {more}"), queue, expected);
    }
}

#[test]
fn without_waiting_jobs_there_is_no_coverage() {
    let log = format!("{ROOT}/docs/advise.in/jobs.sacct");
    let run = format!("forecast {log} --first 20 --futures 1 --machine torus:64x64 --format");
    let reply = crate::json(&format!("{run} json"), "");
    assert_eq!((&reply["waited"], &reply["held"]), (&json!(0), &Value::Null));
    let text = good_input(&format!("{run} table"), "");
    assert!(text.starts_with("0 of 20 jobs had to wait.\n"), "{text}");
}
