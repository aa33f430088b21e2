//! Tests `pavior explain`: its answers and drawings, and its messages for invalid files.

use serde_json::{Value, json};

use crate::{Folder, good_input, refused_for, refused_input, refused_input_for};

const EXAMPLE_1: &str = r#"{"job":"b1","parts":[{"base":[1,2],"sides":[4,3]}]}
{"job":"b2","parts":[{"base":[5,5],"sides":[2,2]}]}

{"job":3,"parts":[{"base":[0,5],"sides":[2,2]}]}
{"job":"b4","parts":[{"base":[2,7],"sides":[3,1]}]}
"#;

/// Runs `pavior explain` for a state read from standard input.
fn explain(machine: &str, busy: &str, more: &str) -> Value {
    crate::json(&format!("explain --machine {machine} --busy - {more}"), busy)
}

#[test]
fn mfa_gives_the_choice_of_its_paper() {
    let answer = explain("mesh:8x8", EXAMPLE_1, "--shape 3x2");
    assert_eq!(answer["request"], json!({"nodes":6,"shape":[3,2]}));
    let counts =
        ["free", "busy", "failed", "jobs", "perfect_index"].map(|key| answer[key].as_u64());
    assert_eq!(counts, [41, 23, 0, 4, 10].map(Some));
    let strategies = answer["strategies"].as_array().unwrap();
    assert!(strategies.len() > 30, "every strategy that works on a plane");
    let of = |name: &str| strategies.iter().find(|entry| entry["strategy"] == name).unwrap();
    assert_eq!(
        of("mfa"),
        &json!({"strategy":"mfa","contiguous":true,"granted":true,"reason":null,"nodes":6,
                "index":10,"part_indices":[10],"parts":[{"base":[2,5],"sides":[3,2]}]})
    );
    assert_eq!(
        of("2db"),
        &json!({"strategy":"2db","contiguous":true,"granted":false,"reason":"no-free-submesh",
                "nodes":0,"index":null,"part_indices":[],"parts":[]})
    );
    // `tpu` does not work on this machine and was not requested.
    assert!(strategies.iter().all(|entry| entry["strategy"] != "tpu"));
    assert_eq!(answer["fits"], json!({"base":[0,0],"sides":[3,2]}));
    assert_eq!(answer["blocked"], Value::Null);
}

/// A 4x4 mesh with two jobs and a failed node.
const CROWDED: &str = r#"{"job":7,"parts":[{"base":[0,0],"sides":[4,1]}]}
{"job":"7","parts":[{"base":[0,3],"sides":[1,1]},{"base":[2,1],"sides":[1,1]}]}
{"node":[1,2]}
"#;

#[test]
fn refusals_name_the_jobs_in_the_way_and_the_moves_that_help() {
    let answer = explain("mesh:4x4", CROWDED, "--shape 2x3 --strategy tff,naive");
    assert_eq!(answer["strategies"][0]["reason"], "no-free-submesh");
    assert_eq!(answer["strategies"][1]["granted"], true);
    assert_eq!(answer["fits"], Value::Null);
    assert_eq!(answer["nearest"], json!({"base":[2,2],"sides":[2,2]}));
    assert_eq!(answer["largest_free"], json!({"base":[2,2],"sides":[2,2]}));
    let mut blocked = answer["blocked"].clone();
    let moves = blocked.as_object_mut().unwrap().remove("moves").unwrap();
    assert_eq!(
        blocked,
        json!({"base":[2,1],"sides":[2,3],"busy_nodes":1,"jobs":[{"job":"7","nodes":2}],
               "and_more":0,"failed":[],"until":null})
    );
    assert_eq!((&moves[0]["job"], moves.as_array().unwrap().len()), (&json!("7"), 1));
    assert_eq!(
        answer["why"][0],
        "It needs 6 nodes, and 9 are free, but `tff` cannot place it on them."
    );
    assert_eq!(answer["why"][1], "Blocked on 2x3 at 2,1 by job 7 (2 nodes).");
}

#[test]
fn end_times_are_printed_as_in_the_file() {
    let ends = CROWDED.replace("[2,1],\"sides\":[1,1]}]}", "[2,1],\"sides\":[1,1]}],\"end\":12.5}");
    let answer = explain("mesh:4x4", &ends, "--shape 2x3 --strategy tff");
    assert_eq!(answer["blocked"]["until"], 12.5);
    assert!(
        answer["why"][0].as_str().unwrap().ends_with("; 2x3 at 2,1 becomes free first, at 12.5.")
    );
}

#[test]
fn failed_nodes_are_in_the_way() {
    let answer = explain("mesh:4x4", CROWDED, "--shape 4x4 --strategy tff");
    assert_eq!(answer["blocked"]["failed"], json!([[1, 2]]));
    let jobs = json!([{"job":7,"nodes":4},{"job":"7","nodes":2}]);
    assert_eq!(answer["blocked"]["jobs"], jobs);
}

#[test]
fn too_few_free_nodes_and_too_small_machines_are_distinguished() {
    let answer = explain("mesh:4x4", CROWDED, "--nodes 10 --strategy naive,tff");
    assert_eq!(answer["strategies"][0]["reason"], "too-few-free-nodes");
    let answer = explain("mesh:4x4", CROWDED, "--nodes 17 --strategy naive,tff");
    assert_eq!(answer["request"], json!({"nodes":17,"shape":null}));
    let reasons = [0, 1].map(|index| answer["strategies"][index]["reason"].clone());
    assert_eq!(reasons, [json!("larger-than-machine"), json!("larger-than-machine")]);
}

#[test]
fn only_jobs_running_at_the_given_time_count() {
    let line = |job: u32, start: u32, end: &str| {
        let parts = r#""parts":[{"base":[0,0],"sides":[4,4]}]"#;
        format!("{{\"job\":{job},\"submit\":0,\"start\":{start},\"end\":{end},{parts}}}\n")
    };
    let placed = line(1, 0, "5") + &line(2, 5, "9.5") + &line(3, 20, "null");
    for (time, jobs) in [("-1", 0), ("0", 1), ("4.9", 1), ("9.5", 0), ("19", 0), ("1e9", 1)] {
        let answer = explain("mesh:4x4", &placed, &format!("--nodes 1 --at {time}"));
        assert_eq!(answer["jobs"], jobs, "{time}");
    }
    refused_for("explain -m mesh:8x8 --nodes 1 --busy - --at nan", "a finite number");
    let run = "explain -m mesh:8x8 --nodes 1 --busy - --at 1";
    refused_input_for(run, EXAMPLE_1, "--at requires a \"start\" for every job");
    for (times, reason, place) in [
        (r#""start":0,"end":"5""#, r#""end" must be a number"#, "stdin:1:26:"),
        (r#""start":"5","end":9"#, r#""start" must be a number"#, "stdin:1:18:"),
    ] {
        let line = format!(r#"{{"job":1,{times},"parts":[{{"base":[0,0],"sides":[4,4]}}]}}"#);
        let message = refused_input(run, &line);
        assert!(message.contains(reason) && message.contains(place), "{message}");
    }
}

#[test]
fn simulated_placements_can_be_explained() {
    let folder = Folder::new();
    let placements = folder.path("placements.jsonl");
    for service in ["exponential", "messages"] {
        let run = "simulate -m mesh:4x4 -s ff --jobs 20 --replications 1 --no-timing --service";
        good_input(&format!("{run} {service} --placements {placements}"), "");
        let start = &folder.json_lines("placements.jsonl")[0]["start"];
        let run = format!("explain -m mesh:4x4 --nodes 1 -s ff --busy {placements} --at {start}");
        assert_ne!(crate::json(&run, "")["jobs"], 0, "{service}");
    }
}

#[test]
fn tables_fit_80_columns_and_csv_has_one_line_per_strategy() {
    let run = "explain --machine mesh:8x8 --busy - --shape 4x4 --format";
    let table = good_input(&format!("{run} table"), EXAMPLE_1);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("refused: no-free-submesh"), "{table}");
    assert!(table.contains("Blocked on "), "{table}");
    let csv = good_input(&format!("{run} csv --strategy naive,ff"), EXAMPLE_1);
    assert_eq!(
        csv,
        "strategy,granted,reason,nodes,index,parts,placement\n\
         naive,true,,16,16,2,\"8x1 at 0,0; 8x1 at 0,1\"\nff,false,no-free-submesh,,,,\n"
    );
}

#[test]
fn drawings_are_complete_files() {
    let folder = Folder::new();
    let svg = folder.path("state.svg");
    let run = format!("--shape 3x2 --strategy mfa,gabl,2db --svg {svg}");
    explain("mesh:8x8", EXAMPLE_1, &run);
    let drawn = folder.read("state.svg");
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(drawn.contains("refused: no-free-submesh") && drawn.contains(">b4</text>"));
    assert!(!drawn.contains("stroke-dasharray"), "the box is free: nothing is to be emptied");
    explain("mesh:8x8", EXAMPLE_1, &format!("--shape 8x8 --strategy mfa --svg {svg}"));
    let drawn = folder.read("state.svg");
    assert!(drawn.contains("stroke-dasharray") && drawn.contains("cheapest to empty"));
    assert_eq!(folder.names(), ["state.svg"]);
}

#[test]
fn an_output_that_is_a_folder_is_refused_before_input_is_read() {
    let folder = Folder::new();
    let run = format!("explain --machine mesh:8x8 --busy - --shape 1x1 --svg {}", folder.path(""));
    refused_input_for(&run, "nonsense", "directory");
}

/// Returns the error message for an invalid state.
fn refused_state(busy: &str) -> String {
    refused_input("explain --machine mesh:4x4 --busy - --shape 1x1", busy)
}

#[test]
fn errors_underline_the_wrong_part_of_a_line() {
    let part = r#"{"base":[0,0],"sides":[2,2]}"#;
    let held = format!("{{\"job\":1,\"parts\":[{part}]}}\n");
    let cases = [
        (format!("{held}{{\"job\":2,"), "stdin:2:9:", "not JSON"),
        ("[]".into(), "stdin:1:1:", "each line must be an object"),
        ("\n {\"job\":1}".into(), "stdin:2:2:", "expected \"parts\""),
        ("{\"parts\":[]}".into(), "stdin:1:1:", "missing \"job\""),
        ("{\"job\":1,\"parts\":[]}".into(), "stdin:1:18:", "at least one box"),
        (format!("{{\"job\":1.5,\"parts\":[{part}]}}"), "stdin:1:8:", "integer or a string"),
        (format!("{{\"job\":1,\"part\":[{part}],\"parts\":1}}"), "stdin:1:10:", "unknown key"),
        (format!("{held}{held}"), "stdin:2:8:", "job 1 already holds nodes (line 1"),
        (
            format!("{held}{{\"job\":\"é\",\"parts\":[{part}]}}"),
            "stdin:2:21:",
            "overlaps a part of job 1 on line 1",
        ),
        (format!("{{\"job\":1,\"parts\":[{part},{part}]}}"), "stdin:1:48:", "of the same job"),
        (held.replace("[0,0]", "[3,0]"), "stdin:1:19:", "extends beyond mesh:4x4"),
        (held.replace("[0,0]", "[0]"), "stdin:1:27:", "a list of 2 integers"),
        (held.replace("[0,0]", "[0,-1]"), "stdin:1:30:", "integers from 0"),
        (held.replace("[2,2]", "[2,0]"), "stdin:1:44:", "integers from 1"),
        (held.replace("\"base\"", "\"bse\""), "stdin:1:20:", "unknown key \"bse\""),
        (held.replace("\"base\":[0,0],", ""), "stdin:1:19:", "a part must have the form"),
        ("{\"node\":[0,4]}".into(), "stdin:1:9:", "outside mesh:4x4"),
        ("{\"node\":[0,0],\"failed\":false}".into(), "stdin:1:24:", "only failed nodes"),
        ("{\"node\":[0,0],\"node\":[0,0]}".into(), "stdin:1:15:", "appears twice"),
        (r#"{"a\"b":1,"a\"b" :2}"#.into(), "stdin:1:11:", "appears twice"),
        (
            held.replace("\"sides\"", "\"base\":[1,1],\"sides\""),
            "stdin:1:33:",
            "`base` appears twice",
        ),
    ];
    for (busy, place, reason) in cases {
        let message = refused_state(&busy);
        assert!(message.contains(place) && message.contains(reason), "{busy}: {message}");
        assert!(message.lines().last().unwrap().trim_start().starts_with('^'), "{message}");
    }
    // If the line is long, only the part around the error is shown.
    let parts: Vec<String> = (0..400).map(|_| part.to_string()).collect();
    let message = refused_state(&format!("{{\"job\":1,\"parts\":[{}]}}", parts.join(",")));
    assert!(message.lines().all(|line| line.chars().count() < 200), "{message}");
    assert!(message.contains('…') && message.contains("stdin:1:48:"), "{message}");
}

#[test]
fn answers_of_allocate_and_placements_are_accepted() {
    let lines = r#"
{"job":7,"granted":true,"nodes":4,"requested":3,"parts":[{"base":[0,0],"sides":[2,2]}]}
{"job":8,"submit":0,"start":1,"end":9,"nodes":1,"parts":[{"base":[3,3],"sides":[1,1]}]}
{"node":[3,0],"failed":true,"job":null}
"#;
    let answer = explain("mesh:4x4", lines, "--shape 1x1 --strategy ff");
    assert_eq!(
        (&answer["busy"], &answer["failed"], &answer["jobs"]),
        (&5.into(), &1.into(), &2.into())
    );
}

#[test]
fn invalid_requests_are_rejected() {
    for (request, reason) in [
        ("--shape 3", "expected 2 sides, one for each axis of the machine, but found 1"),
        ("--shape 3x0", "`0` is not a valid side"),
        ("--shape 3x+2", "`+2` is not a valid side"),
        ("--shape 1x1x1x1", "but found 4"),
        ("--shape 1x1 --nodes 3", "cannot be used with"),
        ("--nodes 0", "0 is not in 1.."),
        ("", "--shape"),
        ("--shape 1x1 --strategy tpu", "does not work on mesh:4x4"),
        ("--shape 1x1 --strategy mfq", "did you mean"),
    ] {
        refused_for(&format!("explain --machine mesh:4x4 --busy - {request}"), reason);
    }
}

#[test]
fn text_that_is_not_utf8_is_rejected_at_its_position() {
    let state = b"{\"job\":\"a\xff\",\"parts\":[{\"base\":[0,0],\"sides\":[1,1]}]}\n";
    let output = crate::pavior("explain --machine mesh:4x4 --busy - --shape 1x1", state);
    let text = crate::stderr(&output);
    assert!(text.contains("not UTF-8 text") && text.contains("stdin:1:10:"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}
