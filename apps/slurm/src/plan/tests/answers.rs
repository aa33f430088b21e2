//! Checks `pavior slurm why` against the table of answers that all interfaces share.

use pavior::answers::Queued;
use pavior_cluster::{Context, MAX_MOVES, date};
use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

use super::*;
use crate::plan::explanation::explainer;

const NOW: u64 = 1000;

#[test]
fn explanations_match_the_shared_table() {
    let cases: Vec<Value> = serde_json::from_str(ANSWERS).unwrap();
    let config = config("easy");
    for case in cases {
        assert_eq!(json!(answer(&config, &case)), case["why"], "{}", case["case"]);
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Returns a ledger with a test case's jobs and unavailable nodes.
fn ledger_of(case: &Value) -> Ledger {
    let held = case["jobs"].as_array().unwrap().iter().map(|job| {
        let [[x, y], [width, height]] =
            [&job["base"], &job["sides"]].map(|list| [number(&list[0]), number(&list[1])]);
        let row = |y: u64| (x..x + width).map(move |x| (4 * y + x) as u32);
        let nodes: Vec<u32> = (y..y + height).flat_map(row).collect();
        let shape = format!("{width}x{height}");
        running(&job["job"].to_string(), &shape, &nodes, number(&job["end"]))
    });
    let mut ledger = ledger(held.collect());
    for node in case["unavailable"].as_array().unwrap() {
        let at = (4 * number(&node[1]) + number(&node[0])) as usize;
        ledger.nodes[at].condition = Condition::Unavailable;
    }
    ledger
}

/// Explains, in the table's format, why a test case's request is waiting.
fn answer(config: &Config, case: &Value) -> Vec<String> {
    let ledger = ledger_of(case);
    let site = Site { is_fifo: true, ..Site::default() };
    let mut shaper = shaper(&config.grid);
    let world = World { config, ledger: &ledger, now: NOW };
    let state = MachineState::of(world, &site, &HashSet::new(), &mut shaper).unwrap();
    let shape = [number(&case["shape"][0]) as u16, number(&case["shape"][1]) as u16];
    let request = Request::shape(shape);
    let snapshot = state.planner.snapshot(&request);
    let context = Context { moved: MAX_MOVES, queued: Queued::First, planned: None };
    let (_, lines) = explainer(world, |one| one.explain(&snapshot, &request, &context));
    let ends = case["jobs"].as_array().unwrap().iter().map(|job| number(&job["end"]));
    let times: Vec<(String, u64)> = ends.map(|end| (date(NOW + end), end)).collect();
    let names = [(format!("`{}`", config.strategy), "`S`".to_string())];
    lines.iter().map(|line| in_words_of_the_table(line, &times, &names)).collect()
}
