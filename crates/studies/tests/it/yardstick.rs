//! Tests that the yardstick's jobs match its version and that its bounds are valid.

use pavior::Stream;
use pavior::experiments::{Catalogue, NoProgress};
use pavior::workload::TimeUnit;
use pavior::workload::traces::{ReadOptions, Record, Tags, swf};
use pavior::{Grid, Time};
use pavior_studies::yardstick::bounds::{
    Arrivals, Last, Prices, Task, ascend, look_ahead, makespan,
};
use pavior_studies::yardstick::{
    Effort, Instance, ScenarioInfo, Yardstick, judge_all, keeps_boxes,
};

use crate::exact::{Exact, Goal, Places};

#[test]
fn the_set_has_twenty_scenarios_with_a_purpose_each() {
    let yardstick = Yardstick::built_in();
    let scenarios: Vec<ScenarioInfo<'_>> = yardstick.scenarios().collect();
    assert_eq!(scenarios.len(), 20);
    assert!(scenarios.iter().all(|scenario| scenario.purpose.ends_with('.')));
    assert_eq!(scenarios.iter().filter(|scenario| scenario.log.is_some()).count(), 4);
    let mut names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 20);
}

#[test]
fn generated_jobs_match_their_checksums() {
    // `draw` fails if the jobs do not match the checksums in the file.
    let instances = Yardstick::built_in().draw(None, Effort::FULL).unwrap();
    assert_eq!(instances.len(), 16);
    assert!(instances.iter().all(|instance| instance.tasks.len() == 400));
}

/// Returns eight jobs on a small machine. The seed determines the jobs.
fn small(machine: &str, seed: u64) -> (Instance, Vec<[u16; 3]>) {
    let grid: Grid = machine.parse().unwrap();
    let mut draw = Stream::new(seed, 0, "small");
    let mut below = |bound: u64| (draw.unit() * bound as f64) as u64;
    let second = TimeUnit::SECOND.ticks;
    let mut submits: Vec<u64> = (0..8).map(|_| below(7)).collect();
    submits.sort_unstable();
    let mut all = Vec::new();
    let records: Vec<Record> = submits
        .into_iter()
        .zip(0..)
        .map(|(submit, number)| {
            let sides = grid.sides().map(|side| 1 + below(u64::from(side)) as u16);
            all.push(sides);
            let run = Time((1 + below(5)) * second);
            Record {
                number,
                line: 0,
                submit: Time(submit * second),
                run,
                estimate: Some(run),
                nodes: sides.iter().map(|&side| u32::from(side)).product(),
                shape: Some(sides),
                freedom: None,
                tags: Tags::UNKNOWN,
                wait: None,
                dependency: None,
            }
        })
        .collect();
    (Instance::new("small", grid, &records, Vec::new()).unwrap(), all)
}

/// Strategies that place boxes.
const BOXES: [&str; 4] = ["ff", "tff", "bf", "tbl"];
const OTHERS: [&str; 4] = ["mbs", "gabl", "paging", "random"];

#[test]
fn bounds_are_at_most_the_optimum_and_policies_at_least() {
    let effort = Effort { buckets: 30, steps: 100, ..Effort::FULL };
    let strategies: Vec<String> =
        BOXES.iter().chain(&OTHERS).map(|name| (*name).to_string()).collect();
    let (mut bounds, mut optima) = (0, 0);
    for (machine, seed) in ["mesh:4x4", "mesh:3x3x2"]
        .iter()
        .flat_map(|m| (0..pavior_trials::size(1, 2, 2)).map(move |s| (m, s)))
    {
        let (instance, sides) = small(machine, seed);
        let instances = [instance];
        let board =
            judge_all(&instances, &Catalogue::default(), &strategies, effort, &NoProgress).unwrap();
        let [instance] = &instances;
        assert!(board.certificates[0].left_out.is_empty() && board.incomplete.is_empty());
        let best = |tasks: &[Task], goal, places| {
            Exact::best(&instance.machine, tasks, &sides, (goal, places))
        };
        let by_nodes: Vec<Task> =
            instance.tasks.iter().map(|task| Task { weight: task.nodes, ..*task }).collect();
        let certificate = &board.certificates[0];
        let nodes = best(&instance.tasks, Goal::Completions, Places::Nodes);
        let boxes = best(&instance.tasks, Goal::Completions, Places::Boxes);
        let weighted = best(&by_nodes, Goal::Completions, Places::Nodes);
        let last = best(&instance.tasks, Goal::Makespan, Places::Nodes);
        let name = format!("{machine}, seed {seed}");
        assert!(certificate.completions.claim <= nodes && nodes <= boxes, "{name}");
        assert!(certificate.node_completions.claim <= weighted, "{name}");
        assert!(certificate.makespan.claim <= last, "{name}");
        let released: i64 = instance.tasks.iter().map(|task| task.release).sum();
        for row in &board.rows {
            let reached = row.turnaround * 8.0 + released as f64 + 1e-6;
            // The `easy-freedom` scheduler may also place jobs outside boxes.
            let in_boxes = BOXES.contains(&&*row.strategy) && row.scheduler != "easy-freedom";
            let optimum = if in_boxes { boxes } else { nodes };
            assert!(reached >= optimum as f64, "{name}: {} {}", row.strategy, row.scheduler);
        }
        bounds += certificate.completions.claim - released;
        optima += nodes - released;
    }
    // Waits are a large part of these turnarounds, so a much looser bound would be useless.
    assert!(bounds as f64 > 0.85 * optima as f64, "{bounds} of {optima}");
}

#[test]
fn lookahead_schedules_are_not_below_the_optimum() {
    let (mut optima, mut reached) = (0, 0);
    for seed in 0..6 {
        let (instance, sides) = small("mesh:4x4", seed);
        let tasks = &instance.tasks;
        let optimum =
            Exact::best(&instance.machine, tasks, &sides, (Goal::Completions, Places::Nodes));
        let [known, unknown] = [Arrivals::Known, Arrivals::Unknown].map(|arrivals| {
            let ends = look_ahead(tasks, 16, arrivals);
            ends.into_iter().map(Option::unwrap).sum::<i64>()
        });
        assert!(optimum <= known && optimum <= unknown, "{seed}: {optimum} {known} {unknown}");
        let released: i64 = tasks.iter().map(|task| task.release).sum();
        optima += optimum - released;
        reached += known - released;
    }
    assert!(reached as f64 <= 1.05 * optima as f64, "{reached} of {optima}");
}

#[test]
fn box_keeping_strategies_grant_the_requested_box() {
    let catalogue = Catalogue::default();
    for (name, keeps) in [
        ("ff", true),
        ("tff", true),
        ("gradient", true),
        ("2db", true),
        ("asff", false),
        ("lssa", false),
        ("flexfold", false),
        ("mbs", false),
        ("gabl", false),
    ] {
        assert_eq!(keeps_boxes(&catalogue, name), keeps, "{name}");
    }
}

/// If every job needs all nodes, shortest-first is optimal, and the bound must come close to it.
#[test]
fn bounds_are_tight_for_jobs_that_need_all_nodes() {
    let runs = [30, 10, 50, 20, 40];
    let tasks = runs.map(|run| Task { release: 0, run, nodes: 16, weight: 1 });
    let optimum = 10 + 30 + 60 + 100 + 150;
    let prices = ascend(&tasks, 16, 150, 300);
    let (bound, _) = prices.bound(&tasks, 16);
    assert!(bound <= optimum && bound >= optimum - 5, "{bound} of {optimum}");
    // With prices of zero, the bound is merely the sum of the run times.
    let nothing = Prices { start: 0, width: 10, prices: vec![0; 15] };
    assert_eq!(nothing.bound(&tasks, 16).0, 150);
    assert_eq!(makespan(&tasks, 16).unwrap(), (150, Last::From(0)));
}

#[test]
fn jobs_without_fixed_submit_times_have_no_bounds() {
    let log =
        "1 0 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 1 6\n";
    let trace = swf::read(log.as_bytes(), &ReadOptions::default()).unwrap();
    let grid = "mesh:4x4".parse().unwrap();
    let refused = Instance::new("small", grid, &trace.records, Vec::new()).map(drop);
    assert!(refused.unwrap_err().contains("fixed submit times"));
    assert!(Instance::new("small", grid, &trace.records[..1], Vec::new()).is_ok());
}
