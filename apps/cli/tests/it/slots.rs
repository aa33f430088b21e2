//! `pavior slots`.

use serde_json::{Value, json};

use crate::{pavior, stderr, stdout};

const BUSY: &str = r#"{"job":7,"parts":[{"base":[2,0],"sides":[2,2]}]}
{"job":"a","parts":[{"base":[5,0],"sides":[1,1]}]}
"#;

fn ask(more: &[&str], busy: &str) -> Value {
    let output = pavior(&[&["slots"], more].concat(), busy);
    assert!(output.status.success(), "{more:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn boxes_side_by_side_with_a_bound() {
    let busy = ["--machine", "mesh:6x2", "--busy", "-"];
    let with = |more: &[&str]| ask(&[&busy, more].concat(), BUSY);
    let found = with(&["--shape", "2x2"]);
    let boxes = json!([{"base": [0, 0], "sides": [2, 2]}]);
    assert_eq!(found, json!({"slots": 1, "bound": 1, "proven": true, "boxes": boxes}));
    assert_eq!(with(&["--shape", "1x2"])["slots"], 3);
    assert_eq!(with(&["--shape", "1x2", "--turn", "none"])["slots"], 3);
    assert_eq!(with(&["--shape", "2x1", "--turn", "none"])["slots"], 3);
    assert_eq!(with(&["--nodes", "4", "--freedom", "any-box"])["slots"], 1);
    assert_eq!(with(&["--shape", "7x1"])["slots"], 0);
    let empty = ask(&["--machine", "torus:16x16x16", "--shape", "4x4x4"], "");
    assert_eq!((&empty["slots"], &empty["proven"]), (&json!(64), &json!(true)));
}

#[test]
fn what_is_no_box_is_refused() {
    for (more, word) in [
        (["--nodes", "4", "--freedom", "connected"], "boxes"),
        (["--shape", "0x1", "--turn", "all"], "side"),
        (["--shape", "1x1", "--budget", "0x"], "--budget"),
    ] {
        let arguments = [&["slots", "--machine", "mesh:6x2"], &more[..]].concat();
        let output = pavior(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(word), "{more:?}: {}", stderr(&output));
    }
}
