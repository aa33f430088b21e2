//! Checks `POST /v1/explain` against the table of answers shared by all interfaces.

use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

use crate::server::fresh;

#[test]
fn explain_gives_the_answers_of_the_table() {
    let cases: Vec<Value> = serde_json::from_str(ANSWERS).unwrap();
    for case in cases {
        let (server, setup) = fresh(|setup| setup.machine = "mesh:4x2".into());
        let mut client = server.client();
        let mut times = Vec::new();
        let mut names = vec![(format!("`{}`", setup.strategy), "`S`".to_string())];
        for job in case["jobs"].as_array().unwrap() {
            let parts = json!([{ "base": job["base"], "sides": job["sides"] }]);
            let seconds = &job["end"];
            let hold = json!({ "parts": parts, "job": job["job"], "ttl_s": seconds });
            let held = client.post("/v1/hold", hold);
            assert_eq!(held.status, 201, "{}", held.text);
            let lease = held.json();
            times.push((lease["expires"].as_str().unwrap().into(), seconds.as_u64().unwrap()));
            names.push((format!("lease {}", lease["id"]), format!("job {}", job["job"])));
        }
        for node in case["unavailable"].as_array().unwrap() {
            let drained = client.post("/v1/nodes/drain", json!({ "node": node }));
            assert_eq!(drained.status, 200, "{}", drained.text);
        }
        let explanation = client.post("/v1/explain", json!({ "shape": case["shape"] })).json();
        let lines = explanation["diagnosis"]["why"].as_array().unwrap().iter();
        let lines = lines.map(|line| in_words_of_the_table(line.as_str().unwrap(), &times, &names));
        assert_eq!(json!(lines.collect::<Vec<_>>()), case["why"], "{}", case["case"]);
    }
}
