use super::*;
use crate::Verdict;

const HOUR: f64 = 3600.0;

/// Returns a run of 300 jobs whose turnarounds vary around `hours` with a period of 10 jobs.
fn run(scenario: &str, (strategy, scheduler): (&str, &str), hours: f64) -> Row {
    let wave = |job: usize| (hours + (job % 10) as f64 / 10.0 - 0.45) * HOUR;
    Row {
        scenario: scenario.to_string(),
        strategy: strategy.to_string(),
        scheduler: scheduler.to_string(),
        jobs: 300,
        turnaround: hours * HOUR,
        bound: HOUR,
        node_gap: 0.0,
        makespan_gap: 0.0,
        behind: None,
        each: (0..300).map(wave).collect(),
    }
}

fn cost(hours: f64) -> Change {
    Change { difference: hours * HOUR, half_width: Some(0.5 * HOUR) }
}

/// Returns a board with all scenarios. Jobs take 2 hours with `mbs`, 4 hours with `tff`, and 8
/// hours with `tff` under `fcfs`. Boxes cost an hour, but they save two hours if nodes fail. The
/// cost of estimates is not significant.
fn board(yardstick: &Yardstick) -> (Board, Vec<Parts>) {
    let (mut rows, mut parts) = (Vec::new(), Vec::new());
    for ScenarioInfo { name, .. } in yardstick.scenarios() {
        rows.push(run(name, ("mbs", "easy"), 2.0));
        rows.push(run(name, ("tff", "easy"), 4.0));
        rows.push(run(name, ("tff", "fcfs"), 8.0));
        let fails = name == "pod-failures";
        parts.push(Parts {
            scenario: name.to_string(),
            jobs: 300,
            gap: 3.0 * HOUR,
            contiguity: cost(if fails { -2.0 } else { 1.0 }),
            estimates: cost(0.4),
            order: (!fails).then(|| cost(0.6)),
            arrivals: (!fails).then(|| cost(-0.1)),
            rest: HOUR,
        });
    }
    (Board { rows, certificates: Vec::new(), incomplete: Vec::new() }, parts)
}

/// Judges a single row on the board, after making a change to the board or the parts.
fn judged(row: &str, change: impl FnOnce(&mut Board, &mut Vec<Parts>)) -> Judged {
    let yardstick = Yardstick::built_in();
    let (mut board, mut parts) = board(&yardstick);
    change(&mut board, &mut parts);
    let evidence =
        BoardEvidence { yardstick: &yardstick, board: &board, parts: &parts, whole: true };
    Findings::read(&statement(row)).unwrap().judge(&evidence).unwrap()
}

fn statement(row: &str) -> String {
    format!("[[statement]]\nid = 'Y'\nclaim = 'it'\nrow = [{{ {row}, note = 'what' }}]")
}

/// Returns a row that covers all scenarios.
fn all(number: &str, rule: &str) -> String {
    format!("of = 'all', number = {{ {number} }}, rule = {rule}")
}

#[test]
fn true_statements_hold_and_false_ones_differ() {
    use Verdict::{Differs, Holds};
    let boxes = "number = { shown-longer = { cost = 'boxes' } }";
    let failing = "of = 'pod-failures', number = { longer = { cost = 'boxes' } }";
    let light = "of = 'mesh-light', number = { longer = { cost = 'estimates' } }";
    let order = "number = { shown-longer = { cost = 'order' } }";
    let slow = "number = { longer = { a = 'tff fcfs', b = 'tff easy' } }";
    let more = "number = { shown-longer = { a = 'tff easy', b = 'tff fcfs' } }";
    for (row, ours, verdict) in [
        (format!("of = 'drawn', {boxes}, rule = 'at-least', bound = 15"), 15.0, Holds),
        (format!("of = 'drawn', {boxes}, rule = 'at-least', bound = 16"), 15.0, Differs),
        (format!("of = 'logs', {boxes}, rule = 'at-most', bound = 3"), 4.0, Differs),
        (format!("{failing}, rule = 'below'"), -2.0, Holds),
        (format!("{failing}, rule = 'above'"), -2.0, Differs),
        // The interval contains 0, so neither order holds.
        (format!("{light}, rule = 'above'"), 0.4, Differs),
        (format!("{light}, rule = 'below'"), 0.4, Differs),
        (format!("of = 'all', {order}, rule = 'at-least', bound = 19"), 19.0, Holds),
        (format!("of = 'log-kth', {slow}, rule = 'above'"), 4.0, Holds),
        (format!("of = 'log-kth', {slow}, rule = 'at-least', bound = 4.1"), 4.0, Differs),
        (format!("of = 'all', {more}, rule = 'at-most', bound = 0"), 0.0, Holds),
        (all("ratio = 'tff easy'", "'at-most', bound = 3"), 4.0, Differs),
        (all("ratio = 'mbs easy'", "'at-most', bound = 2.01"), 2.0, Holds),
        (all("best = 'strategy'", "'at-most', bound = 19"), 20.0, Differs),
        (all("best = 'strategy-in-boxes'", "'at-least', bound = 20"), 20.0, Holds),
    ] {
        let judged = judged(&row, |_, _| ());
        let [one] = &judged.rows[..] else { panic!("{row}") };
        assert!((one.ours.unwrap() - ours).abs() < 1e-9, "{row}: {:?}", one.ours);
        assert_eq!(one.verdict, verdict, "{row}");
        assert_eq!(judged.counts[0].verdict(), verdict, "{row}");
        assert_eq!((one.id.as_str(), one.note.as_str()), ("Y", "what"));
    }
}

#[test]
fn best_runs_are_counted_by_name_including_ties() {
    let often = |best: &str| {
        let row = all(&format!("best = '{best}'"), "'at-least', bound = 1");
        let judged = judged(&row, |board, _| {
            // This run ties with the best one in one scenario and beats it in another.
            for (at, hours) in [(1, 2.0), (4, 1.5)] {
                let own = board.rows[at].clone();
                board.rows[at] = run(&own.scenario, ("tff", "fcfs"), hours);
            }
        });
        judged.rows[0].ours
    };
    assert_eq!(often("strategy"), Some(19.0));
    assert_eq!(often("scheduler"), Some(19.0));
    assert_eq!(often("strategy-in-boxes"), Some(20.0));
}

#[test]
fn statements_about_missing_runs_are_left_out() {
    let row = all("shown-longer = { cost = 'boxes' }", "'at-least', bound = 1");
    let without = |change: fn(&mut Board, &mut Vec<Parts>)| {
        let judged = judged(&row, change);
        assert!(judged.rows.is_empty() && judged.counts.is_empty());
        judged.left_out
    };
    assert_eq!(without(|_, parts| drop(parts.pop())), ["Y"]);
    assert_eq!(without(|_, parts| parts[3].contiguity.half_width = None), ["Y"]);
    let row = "of = 'drawn', number = { ratio = 'mbs easy' }, rule = 'at-least', bound = 1";
    assert_eq!(judged(row, |board, _| drop(board.rows.remove(0))).left_out, ["Y"]);
    // The row covers only scenarios with generated jobs, so a missing log run does not matter.
    assert_eq!(judged(row, |board, _| drop(board.rows.pop())).rows.len(), 1);
}

#[test]
fn built_in_statements_are_valid_and_faults_are_found() {
    assert!(Findings::built_in().rows().unwrap().len() > 5);
    for (row, reason) in [
        (all("ratio = 'tff'", "'at-most', bound = 1"), "STRATEGY SCHEDULER"),
        (all("ratio = 'tfff easy'", "'at-most', bound = 1"), "tfff"),
        (all("ratio = 'tff easy'", "'at-most'"), "`bound` is missing"),
        (all("ratio = 'tff easy'", "'above'"), "apply only to `longer`"),
        (all("ratio = 'tff easy'", "'close', bound = 1"), "`rule` must be"),
        (all("cost = 'boxes'", "'at-most', bound = 1"), "unknown variant"),
    ] {
        let fault = Findings::read(&statement(&row)).err().expect(&row);
        assert!(fault.reason.contains(reason), "{row}: {}", fault.reason);
        let (text, span) = fault.place.unwrap();
        assert!(text[span].contains(&row), "the row is underlined");
    }
    let row = "of = 'mesh', number = { best = 'strategy' }, rule = 'at-most', bound = 1";
    let yardstick = Yardstick::built_in();
    let (board, parts) = board(&yardstick);
    let evidence =
        BoardEvidence { yardstick: &yardstick, board: &board, parts: &parts, whole: true };
    let judged = Findings::read(&statement(row)).unwrap().judge(&evidence);
    assert!(judged.is_err_and(|fault| fault.reason.contains("no such scenario: `mesh`")));
}
