//! Tests `pavior slots`.

use serde_json::{Value, json};

use crate::{good, good_input, refused_for};

const BUSY: &str = r#"{"job":7,"parts":[{"base":[2,0],"sides":[2,2]}]}
{"job":"a","parts":[{"base":[5,0],"sides":[1,1]}]}
"#;

fn ask(line: &str, busy: &str) -> Value {
    crate::json(&format!("slots {line}"), busy)
}

#[test]
fn boxes_are_counted_with_a_bound() {
    let with = |line: &str| ask(&format!("--machine mesh:6x2 --busy - {line}"), BUSY);
    let found = with("--shape 2x2");
    let boxes = json!([{"base": [0, 0], "sides": [2, 2]}]);
    let now = json!({"slots": 1, "bound": 1, "proven": true, "boxes": boxes, "next": null});
    assert_eq!(found, now);
    assert_eq!(with("--shape 1x2")["slots"], 3);
    assert_eq!(with("--shape 1x2 --turn none")["slots"], 3);
    assert_eq!(with("--shape 2x1 --turn none")["slots"], 3);
    assert_eq!(with("--nodes 4 --freedom any-box")["slots"], 1);
    assert_eq!(with("--shape 7x1")["slots"], 0);
    let never = "slots --machine mesh:6x2 --shape 7x1 --format table";
    assert_eq!(good(never), "no box of size 7x1 fits even on an empty mesh:6x2\n");
    let words = |line: &str| good(&format!("slots --machine mesh:4x3 --format table {line}"));
    assert!(words("--nodes 4 --freedom any-box").starts_with("Now: 3 boxes of 4 nodes fit"));
    let no_moves = "simultaneously.\nNo moves were found that free more boxes.\n";
    assert!(words("--shape 2x2 --moves 1").contains(no_moves));
    let empty = ask("--machine torus:16x16x16 --shape 4x4x4", "");
    assert_eq!((&empty["slots"], &empty["proven"]), (&json!(64), &json!(true)));
}

#[test]
fn moves_and_job_ends_free_more_boxes() {
    let ends = BUSY.replace("}]}\n", "}],\"end\":12.5}\n");
    let busy = "--machine mesh:6x2 --busy - --shape 3x1";
    let found = ask(&format!("{busy} --moves 1"), &ends);
    assert_eq!((&found["slots"], &found["proven"]), (&json!(0), &json!(true)));
    let after = &found["after"];
    assert_eq!(
        (&after["slots"], &after["bound"], &after["proven"]),
        (&json!(2), &json!(2), &json!(true))
    );
    assert_eq!(after["moves"][0]["job"], 7);
    assert_eq!(after["boxes"].as_array().unwrap().len(), 2);
    // Both jobs end at 12.5, and then all twelve nodes are free.
    assert_eq!(found["next"], json!({"at": 12.5, "slots": 4, "proven": true}));
    assert_eq!(ask(busy, BUSY)["next"], json!(null));
    let text = good_input(&format!("slots {busy} --moves 1 --format table"), &ends);
    let lines: Vec<&str> = text.lines().take(3).collect();
    let after = "After the moves: 2 boxes of size 3x1 fit simultaneously.";
    let next = "At 12.5: 4 boxes of size 3x1 fit simultaneously.";
    assert_eq!(lines, ["Now: no box of size 3x1 is free.", after, next]);
}

#[test]
fn boxes_are_described_as_requested() {
    for (ask, expected) in [
        ("--shape 8x1 --freedom box", "no box of size 8x1 fits even on an empty mesh:4x4"),
        ("--shape 8x1 --freedom turned", "no box of size 8x1 fits even on an empty mesh:4x4"),
        ("--nodes 5 --shape-rule exact", "no box of 5 nodes fits even on an empty mesh:4x4"),
        ("--shape 5x1 --freedom any-box", "no box of 5 nodes fits even on an empty mesh:4x4"),
        ("--shape 2x3 --freedom turned", "Now: 2 boxes of size 2x3 fit simultaneously."),
        ("--shape 1x3 --freedom any-box", "Now: 5 boxes of 3 nodes fit simultaneously."),
    ] {
        let text = good(&format!("slots --machine mesh:4x4 {ask} --format table"));
        assert_eq!(text.lines().next(), Some(expected), "{ask}");
    }
}

#[test]
fn requests_without_a_box_are_rejected() {
    for (more, word) in [
        ("--nodes 4 --freedom connected", "boxes"),
        ("--shape 0x1 --turn all", "side"),
        ("--shape 1x1 --budget 0x", "--budget"),
        ("--nodes 4 --moves -1", "-1"),
        ("--nodes 4 --moves 1 --freedom box", "--freedom"),
    ] {
        refused_for(&format!("slots --machine mesh:6x2 {more}"), word);
    }
}
