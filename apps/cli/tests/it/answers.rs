//! Checks `pavior explain` against the table of expected answers that all interfaces share.

use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

#[test]
fn explain_answers_equal_the_shared_table() {
    let cases: Vec<Value> = serde_json::from_str(ANSWERS).unwrap();
    for case in cases {
        let mut busy = String::new();
        for job in case["jobs"].as_array().unwrap() {
            let part = json!({ "base": job["base"], "sides": job["sides"] });
            let line = json!({ "job": job["job"], "parts": [part], "end": job["end"] });
            busy += &format!("{line}\n");
        }
        for node in case["unavailable"].as_array().unwrap() {
            busy += &format!("{}\n", json!({ "node": node }));
        }
        let shape = format!("{}x{}", case["shape"][0], case["shape"][1]);
        let run = format!("explain --machine mesh:4x2 --busy - --strategy ff --shape {shape}");
        let reply = crate::json(&run, &busy);
        let names = [("`ff`".to_string(), "`S`".to_string())];
        let lines = reply["why"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let lines: Vec<String> =
            lines.map(|line| in_words_of_the_table(line, &[], &names)).collect();
        assert_eq!(json!(lines), case["why"], "{}", case["case"]);
    }
}
