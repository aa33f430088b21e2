//! Tests `pavior unblock`, and the operations of `pavior allocate` that take over, list and plan.

use serde_json::{Value, json};

use crate::{pavior, stderr, stdout};

const BUSY: &str = r#"{"job":7,"parts":[{"base":[2,0],"sides":[2,2]}],"end":12.5}
{"job":"a","parts":[{"base":[5,0],"sides":[1,1]}],"end":3}
"#;

/// Runs `pavior unblock` on a 6x2 mesh, with the state on standard input.
fn ask(more: &[&str]) -> Value {
    let arguments = [&["unblock", "--machine", "mesh:6x2", "--busy", "-"], more].concat();
    let output = pavior(&arguments, BUSY);
    assert!(output.status.success(), "{more:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn part(base: [u16; 2], sides: [u16; 2]) -> Value {
    json!({ "base": base, "sides": sides })
}

#[test]
fn room_by_a_time_is_made_by_who_ends_who_moves_and_who_is_requeued() {
    const ROW: &str = r#"{"job":"a","parts":[{"base":[0],"sides":[2]}],"start":0,"end":8}
{"job":"b","parts":[{"base":[2],"sides":[2]}],"start":1.5,"end":20}
{"node":[5]}
"#;
    let ask = |more: &[&str]| {
        let fixed = ["unblock", "--machine", "mesh:6", "--busy", "-"];
        let output = pavior(&[&fixed[..], more].concat(), ROW);
        assert!(output.status.success(), "{more:?}: {}", stderr(&output));
        stdout(&output)
    };
    let told = |more: &[&str]| -> Value { serde_json::from_str(&ask(more)).unwrap() };
    // By then, a has ended, and b moves to the nodes of a.
    let plan = told(&["--drain", "2", "--by", "9", "--now", "5", "--format", "json"]);
    let moves = json!([{"job": "b", "from": [{"base": [2], "sides": [2]}],
                        "to": [{"base": [0], "sides": [2]}], "ready": 8}]);
    assert_eq!((&plan["moves"], &plan["lost"]), (&moves, &json!(0.0)));
    assert_eq!((&plan["awaited"], &plan["requeued"]), (&json!(["a"]), &json!([])));
    // By 7, room for four in a row can be made only by requeueing a job. Without --now, no job is
    // requeued.
    let four = ["--shape", "4", "--by", "7", "--format"];
    let plan = told(&[&four[..], &["json", "--now", "5", "--max-jobs", "1"]].concat());
    assert_eq!((&plan["requeued"], &plan["lost"]), (&json!(null), &json!(null)));
    let plan = told(&[&four[..], &["json", "--now", "5", "--max-jobs", "2"]].concat());
    assert_eq!((&plan["requeued"], &plan["lost"]), (&json!(["a", "b"]), &json!(17.0)));
    assert_eq!(told(&[&four[..], &["json"]].concat())["requeued"], json!(null));
    let table = ask(&[&four[..], &["table", "--now", "5", "--max-jobs", "2"]].concat());
    assert!(table.contains("free by 7 after requeueing 2 jobs"), "{table}");
    assert!(table.contains("lost work: 17 nodes x time"), "{table}");
    for wrong in
        [&["--by", "x"][..], &["--now", "5"], &["--by", "nan"], &["--by", "7", "--earliest"]]
    {
        let fixed = ["unblock", "--machine", "mesh:6", "--busy", "-", "--shape", "2"];
        assert_eq!(pavior(&[&fixed[..], wrong].concat(), ROW).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_cheapest_moves_and_the_other_questions() {
    let moves = json!([{"job": 7, "from": [part([2, 0], [2, 2])], "to": [part([3, 0], [2, 2])]}]);
    assert_eq!(
        ask(&["--shape", "3x2"]),
        json!({"fits": false, "proven": true, "cost": 4, "jobs": [7],
               "placement": part([0, 0], [3, 2]), "moves": moves})
    );
    assert_eq!(
        ask(&["--shape", "2x1"]),
        json!({"fits": true, "proven": true, "cost": 0, "jobs": [],
               "placement": part([0, 0], [2, 1]), "moves": []})
    );
    assert_eq!(
        ask(&["--shape", "2x3", "--turn", "none"]),
        json!({"fits": false, "proven": true, "cost": null, "jobs": null, "placement": null,
               "moves": []})
    );
    assert_eq!(
        ask(&["--shape", "3x2", "--blockers"]),
        json!({"base": [0, 0], "sides": [3, 2], "weight": 4, "jobs": [7],
               "unavailable": []})
    );
    assert_eq!(
        ask(&["--shape", "3x2", "--earliest"]),
        json!({"at": 12.5, "base": [0, 0], "sides": [3, 2]})
    );
    assert_eq!(ask(&["--shape", "1x2", "--earliest"])["at"], 0);
    assert_eq!(
        ask(&["--shape", "5x2", "--nearest", "1"])["nearest"],
        json!([part([0, 0], [2, 2])])
    );
    assert_eq!(ask(&["--drain", "2,0"])["moves"][0]["to"], json!([part([0, 0], [2, 2])]));
}

#[test]
fn a_request_is_as_free_as_it_says() {
    // There is no free row of four, but a free 2x2 box.
    let [row, any] =
        [&["--shape", "4x1"][..], &["--shape", "4x1", "--freedom", "any-box"]].map(ask);
    assert_eq!((&row["fits"], &row["cost"]), (&json!(false), &json!(4)));
    assert_eq!((&any["fits"], &any["placement"]), (&json!(true), &part([0, 0], [2, 2])));
    let turned = |freedom: &str| {
        let asked = ask(&["--shape", "2x3", "--turn", "none", "--freedom", freedom]);
        (asked["cost"].clone(), asked["jobs"].clone())
    };
    assert_eq!(turned("box"), (Value::Null, Value::Null));
    // The request is turned, but the job that moves is not.
    assert_eq!(turned("turned"), (json!(4), json!([7])));
}

#[test]
fn plans_are_for_boxes_and_need_one() {
    let refused = |more: &[&str]| {
        let arguments = [&["unblock", "--machine", "mesh:6x2", "--busy", "-"], more].concat();
        let output = pavior(&arguments, BUSY);
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        stderr(&output)
    };
    let connected = refused(&["--shape", "3x2", "--freedom", "connected"]);
    assert!(connected.contains("only boxes can be planned: box, turned or any-box"), "{connected}");
    assert!(refused(&["--nodes", "4", "--freedom", "turnd"]).contains("did you mean `turned`?"));
    assert!(refused(&[]).contains("give --shape or --nodes"));
    assert!(refused(&["--drain", "2,0", "--freedom", "box"]).contains("cannot be used with"));
}

#[test]
fn weights_come_from_a_file_and_a_drawing_goes_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    std::fs::write(path("w"), "{\"job\":7,\"weight\":0.5}\n").unwrap();
    let told = ask(&["--shape", "3x2", "--weights", &path("w"), "--svg", &path("plan.svg")]);
    assert_eq!(told["cost"], 0.5);
    assert!(std::fs::read_to_string(path("plan.svg")).unwrap().starts_with("<svg"));
    for (line, word) in [
        ("{\"job\":8,\"weight\":1}", "holds no nodes"),
        ("{\"job\":7,\"weight\":-1}", "a weight must be a number"),
        ("{\"job\":7}", "missing \"weight\""),
    ] {
        std::fs::write(path("w"), line).unwrap();
        let arguments = ["unblock", "--machine", "mesh:6x2", "--busy", "-", "--shape", "3x2"];
        let output = pavior(&[&arguments[..], &["--weights", &path("w")]].concat(), BUSY);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}

#[test]
fn the_live_allocator_takes_over_lists_and_plans() {
    let input = r#"{"op":"hold","job":9,"parts":[{"base":[2,0],"sides":[2,2]}]}
{"op":"hold","job":"b","parts":[{"base":[3,0],"sides":[1,1]}]}
{"op":"hold","job":"b","parts":[{"base":[5,0],"sides":[2,1]}]}
{"op":"unblock","shape":[3,2],"max_jobs":1}
{"op":"drain","nodes":[[2,0]]}
{"op":"list"}
"#;
    let output = pavior(&["allocate", "--machine", "mesh:6x2", "--strategy", "ff"], input);
    let answers: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let held = [part([2, 0], [2, 2])];
    assert_eq!(
        answers[0],
        json!({"job": 9, "granted": true, "nodes": 4, "requested": 4, "parts": held})
    );
    assert!(answers[1]["error"].as_str().unwrap().contains("is not free"));
    assert!(answers[2]["error"].as_str().unwrap().contains("is not on"));
    assert_eq!(answers[3]["moves"][0]["to"], json!([part([3, 0], [2, 2])]));
    assert_eq!(answers[4]["drained"], json!([[2, 0]]));
    assert_eq!(answers[5], json!({"jobs": [{"job": 9, "parts": held}], "failed": [[2, 0]]}));
}

#[test]
fn places_are_rows_of_csv() {
    let rows = |more: &[&str]| {
        let ask = ["unblock", "--machine", "mesh:6x2", "--busy", "-", "--format", "csv"];
        let output = pavior(&[&ask, more].concat(), BUSY);
        assert!(output.status.success(), "{more:?}: {}", stderr(&output));
        stdout(&output)
    };
    let blockers = rows(&["--shape", "3x2", "--blockers"]);
    assert_eq!(blockers, "place,weight,jobs\n\"3x2 at 0,0\",4,7\n");
    let earliest = rows(&["--shape", "3x2", "--earliest"]);
    assert_eq!(earliest, "at,place\n12.5,\"3x2 at 0,0\"\n");
    let nearest = rows(&["--shape", "5x2", "--nearest", "1"]);
    assert_eq!(nearest, "place\n\"2x2 at 0,0\"\n");
}

#[test]
fn a_box_that_no_move_makes_room_for() {
    for shape in [["--shape", "7x1"], ["--nodes", "13"]] {
        let ask = ["unblock", "--machine", "mesh:6x2", "--busy", "-", "--format", "table"];
        let output = pavior(&[&ask[..], &shape].concat(), BUSY);
        assert_eq!(stdout(&output), "never: mesh:6x2 has no such box\n", "{}", stderr(&output));
    }
}
