//! Tests `pavior unblock`, and the operations of `pavior allocate` that take over jobs, list jobs
//! and plan moves.

use serde_json::{Value, json};

use crate::{Folder, good_input, refused_input};

const BUSY: &str = r#"{"job":7,"parts":[{"base":[2,0],"sides":[2,2]}],"end":12.5}
{"job":"a","parts":[{"base":[5,0],"sides":[1,1]}],"end":3}
"#;

/// Returns the text printed for a 6x2 mesh whose state is read from standard input.
fn print(more: &str) -> String {
    good_input(&format!("unblock --machine mesh:6x2 --busy - {more}"), BUSY)
}

fn ask(more: &str) -> Value {
    serde_json::from_str(&print(more)).unwrap()
}

fn refused(more: &str) -> String {
    refused_input(&format!("unblock --machine mesh:6x2 --busy - {more}"), BUSY)
}

fn part(base: [u16; 2], sides: [u16; 2]) -> Value {
    json!({ "base": base, "sides": sides })
}

#[test]
fn room_by_a_time_comes_from_ends_moves_and_requeues() {
    const ROW: &str = r#"{"job":"a","parts":[{"base":[0],"sides":[2]}],"start":0,"end":8}
{"job":"b","parts":[{"base":[2],"sides":[2]}],"start":1.5,"end":20}
{"node":[5]}
"#;
    let line = |more: &str| format!("unblock --machine mesh:6 --busy - {more}");
    let reply = |more: &str| crate::json(&line(more), ROW);
    // By 9, job a has ended, and job b moves to the nodes that job a held.
    let plan = reply("--drain 2 --by 9 --now 5");
    let moves = json!([{"job": "b", "from": [{"base": [2], "sides": [2]}],
                        "to": [{"base": [0], "sides": [2]}], "ready": 8}]);
    assert_eq!((&plan["moves"], &plan["lost"]), (&moves, &json!(0.0)));
    assert_eq!((&plan["awaited"], &plan["requeued"]), (&json!(["a"]), &json!([])));
    // Making room for four nodes in a row by time 7 requires requeueing both jobs. Without --now,
    // no job is requeued.
    let plan = reply("--shape 4 --by 7 --now 5 --max-jobs 1");
    assert_eq!((&plan["requeued"], &plan["lost"]), (&json!(null), &json!(null)));
    let plan = reply("--shape 4 --by 7 --now 5 --max-jobs 2");
    assert_eq!((&plan["requeued"], &plan["lost"]), (&json!(["a", "b"]), &json!(17.0)));
    assert_eq!(reply("--shape 4 --by 7")["requeued"], json!(null));
    let moves_only = good_input(&line("--shape 4 --by 7 --format table"), ROW);
    assert!(moves_only.starts_with("no plan that moves at most 3 jobs"), "{moves_only}");
    let table = line("--shape 4 --by 7 --format table --now 5 --max-jobs 2");
    let table = good_input(&table, ROW);
    assert!(table.contains("free by 7 after requeueing 2 jobs"), "{table}");
    assert!(table.contains("lost work (nodes × time): 17"), "{table}");
    for wrong in ["--by x", "--now 5", "--by 5 --now 6", "--by nan", "--by 7 --earliest"] {
        refused_input(&line(&format!("--shape 2 {wrong}")), ROW);
    }
}

#[test]
fn starts_are_parsed_only_to_requeue_jobs() {
    const JOB: &str = r#"{"job":"a","parts":[{"base":[0],"sides":[2]}],"start":"soon","end":8}"#;
    let line = "unblock --machine mesh:6 --busy - --shape 6 --by 9";
    assert_eq!(crate::json(line, JOB)["awaited"], json!(["a"]));
    assert!(refused_input(&format!("{line} --now 5"), JOB).contains("is not a number"));
}

#[test]
fn lost_work_may_be_in_any_unit() {
    const JOB: &str = r#"{"job":"a","parts":[{"base":[0,0],"sides":[64,64]}],"start":0}"#;
    // One day, in nanoseconds, and one microsecond, in seconds.
    for (now, lost) in [("86400000000000", 3.538_944e17), ("0.000001", 0.004)] {
        let line = format!("unblock --machine mesh:64x64 --busy - --shape 1x1 --by {now}");
        let plan = crate::json(&format!("{line} --now {now}"), JOB);
        assert_eq!(plan["lost"], json!(lost));
    }
}

#[test]
fn all_questions_have_answers() {
    let moves = json!([{"job": 7, "from": [part([2, 0], [2, 2])], "to": [part([3, 0], [2, 2])]}]);
    assert_eq!(
        ask("--shape 3x2"),
        json!({"fits": false, "proven": true, "cost": 4, "jobs": [7],
               "placement": part([0, 0], [3, 2]), "moves": moves})
    );
    assert_eq!(
        ask("--shape 2x1"),
        json!({"fits": true, "proven": true, "cost": 0, "jobs": [],
               "placement": part([0, 0], [2, 1]), "moves": []})
    );
    assert_eq!(
        ask("--shape 2x3 --turn none"),
        json!({"fits": false, "proven": true, "cost": null, "jobs": null, "placement": null,
               "moves": []})
    );
    assert_eq!(
        ask("--shape 3x2 --blockers"),
        json!({"base": [0, 0], "sides": [3, 2], "weight": 4, "jobs": [7],
               "unavailable": []})
    );
    assert_eq!(ask("--shape 3x2 --earliest"), json!({"at": 12.5, "base": [0, 0], "sides": [3, 2]}));
    assert_eq!(ask("--shape 1x2 --earliest")["at"], 0);
    assert_eq!(ask("--shape 5x2 --nearest 1")["nearest"], json!([part([0, 0], [2, 2])]));
    assert_eq!(ask("--drain 2,0")["moves"][0]["to"], json!([part([0, 0], [2, 2])]));
}

#[test]
fn plans_respect_the_freedom_of_the_request() {
    // There is no free row of four nodes, but there is a free 2x2 box.
    let [row, any] = ["--shape 4x1", "--shape 4x1 --freedom any-box"].map(ask);
    assert_eq!((&row["fits"], &row["cost"]), (&json!(false), &json!(4)));
    assert_eq!((&any["fits"], &any["placement"]), (&json!(true), &part([0, 0], [2, 2])));
    let turned = |freedom: &str| {
        let asked = ask(&format!("--shape 2x3 --turn none --freedom {freedom}"));
        (asked["cost"].clone(), asked["jobs"].clone())
    };
    assert_eq!(turned("box"), (Value::Null, Value::Null));
    // The request is rotated, but the job that moves is not.
    assert_eq!(turned("turned"), (json!(4), json!([7])));
}

#[test]
fn plans_need_a_box() {
    let connected = refused("--shape 3x2 --freedom connected");
    assert!(connected.contains("plans are limited to boxes; choose box, turned"), "{connected}");
    assert!(refused("--nodes 4 --freedom turnd").contains("did you mean `turned`?"));
    assert!(refused("").contains("pass --shape or --nodes"));
    assert!(refused("--drain 2,0 --freedom box").contains("cannot be used with"));
}

#[test]
fn weights_are_read_and_drawings_are_written() {
    let folder = Folder::new();
    let weighted = format!("--shape 3x2 --weights {}", folder.path("w"));
    folder.write("w", "{\"job\":7,\"weight\":0.5}\n");
    let reply = ask(&format!("{weighted} --svg {}", folder.path("plan.svg")));
    assert_eq!(reply["cost"], 0.5);
    assert!(folder.read("plan.svg").starts_with("<svg"));
    for (line, word) in [
        ("{\"job\":8,\"weight\":1}", "holds no nodes"),
        ("{\"job\":7,\"weight\":-1}", "a weight must be a number"),
        ("{\"job\":7}", "missing \"weight\""),
    ] {
        folder.write("w", line);
        assert!(refused(&weighted).contains(word), "{}", refused(&weighted));
    }
}

#[test]
fn the_live_allocator_holds_lists_and_plans() {
    let input = r#"{"op":"hold","job":9,"parts":[{"base":[2,0],"sides":[2,2]}]}
{"op":"hold","job":"b","parts":[{"base":[3,0],"sides":[1,1]}]}
{"op":"hold","job":"b","parts":[{"base":[5,0],"sides":[2,1]}]}
{"op":"unblock","shape":[3,2],"max_jobs":1}
{"op":"drain","nodes":[[2,0]]}
{"op":"list"}
"#;
    let answers = crate::allocate::answers("mesh:6x2", "ff", &[input.trim_end()]);
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
fn csv_has_one_row_per_place() {
    let blockers = print("--shape 3x2 --blockers --format csv");
    assert_eq!(blockers, "place,weight,jobs\n\"3x2 at 0,0\",4,7\n");
    let earliest = print("--shape 3x2 --earliest --format csv");
    assert_eq!(earliest, "at,place\n12.5,\"3x2 at 0,0\"\n");
    let nearest = print("--shape 5x2 --nearest 1 --format csv");
    assert_eq!(nearest, "place\n\"2x2 at 0,0\"\n");
}

#[test]
fn a_box_without_a_possible_plan_is_reported() {
    for shape in ["--shape 7x1", "--nodes 13"] {
        let reply = print(&format!("{shape} --format table"));
        assert_eq!(reply, "never: no such box fits on mesh:6x2\n", "{shape}");
    }
}
