//! Checks the engine's answers against the table of expected answers that all interfaces share.

use pavior_browser::Engine;
use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

/// Returns a log in which all jobs of a case are submitted at the same time.
fn log(case: &Value) -> Value {
    let jobs = case["jobs"].as_array().unwrap();
    let job = |job: &Value| {
        let [width, height] = [0, 1].map(|axis| job["sides"][axis].as_u64().unwrap());
        let (name, end) = (job["job"].to_string(), &job["end"]);
        json!({
            "id": name, "subtime": 0, "res": width * height, "walltime": end, "profile": name,
            "extra_data": { "shape": job["sides"] },
        })
    };
    let profile =
        |job: &Value| (job["job"].to_string(), json!({ "type": "delay", "delay": job["end"] }));
    json!({
        "nb_res": 8,
        "jobs": jobs.iter().map(job).collect::<Vec<_>>(),
        "profiles": jobs.iter().map(profile).collect::<Value>(),
    })
}

#[test]
fn answers_equal_the_shared_table() {
    let cases: Vec<Value> = serde_json::from_str(ANSWERS).unwrap();
    // Skip cases with unavailable nodes, because the page cannot mark nodes as unavailable.
    for case in cases.iter().filter(|case| case["unavailable"] == json!([])) {
        let mut engine = Engine::default();
        let mut reply_to = |command: Value, bytes: &str| -> Value {
            let reply = engine.answer(format!("{command}\n{bytes}").as_bytes());
            serde_json::from_str(&reply).unwrap()
        };
        reply_to(json!({ "do": "log", "name": "log.json" }), &log(case).to_string());
        // First fit places the jobs in the boxes that the table lists.
        let settings = json!({ "machine": "mesh:4x2", "strategy": "ff", "trace": "log.json" });
        reply_to(json!({ "do": "open", "run": 0, "settings": settings }), "");
        reply_to(json!({ "do": "step", "run": 0, "instants": 1 }), "");
        let shape = format!("{}x{}", case["shape"][0], case["shape"][1]);
        let answer = reply_to(json!({ "do": "ask", "run": 0, "shape": shape }), "");
        let jobs = case["jobs"].as_array().unwrap();
        let end = |job: &Value| job["end"].as_u64().unwrap();
        let times: Vec<_> = jobs.iter().map(|job| (format!("{}.00", end(job)), end(job))).collect();
        // Job numbers start at 1 in the table but at 0 in a run. Replace larger numbers first, to
        // avoid clashes.
        let numbers = (0..jobs.len()).rev();
        let mut names: Vec<_> =
            numbers.map(|job| (format!("job {job}"), format!("job {}", job + 1))).collect();
        names.push(("`ff`".to_string(), "`S`".to_string()));
        let lines = answer["lines"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        let lines = lines.map(|line| in_words_of_the_table(line.as_str().unwrap(), &times, &names));
        let why = case["why"].as_array().unwrap();
        // The last line, which counts free boxes, is not in the table.
        assert_eq!(
            json!(lines.take(why.len()).collect::<Vec<_>>()),
            case["why"],
            "{}",
            case["case"]
        );
    }
}
