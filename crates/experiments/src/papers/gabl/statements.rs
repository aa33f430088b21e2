//! What the GABL paper states, G1 to G7.

use super::{CASES, Case, FULL_QUEUE, LENGTHS, OTHERS, SCHEDULERS};
use crate::papers::{Estimate, Evidence, Statement};

/// The values that pick a point.
type At<'a> = [(&'a str, &'a str); 6];

fn at<'a>(
    case: &'a Case,
    scheduler: &'a str,
    flits: &'a str,
    load: &'a str,
    strategy: &'a str,
) -> At<'a> {
    [
        ("pattern", case.pattern),
        ("sides", case.sides),
        ("scheduler", scheduler),
        ("flits", flits),
        ("load", load),
        ("strategy", strategy),
    ]
}

/// Of 8 flits, under FCFS.
fn plain<'a>(case: &'a Case, load: &'a str, strategy: &'a str) -> At<'a> {
    at(case, "fcfs", "8", load, strategy)
}

/// The loads of a figure, ascending; that of figure 7 is none of them.
fn loads(evidence: &Evidence<'_>, case: &Case) -> Vec<String> {
    let pick = [("pattern", case.pattern), ("sides", case.sides), ("flits", "8")];
    let mut loads = evidence.loads(&pick);
    loads.retain(|load| load != FULL_QUEUE);
    loads
}

pub(super) fn statements(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = headline_numbers(evidence);
    all.extend(utilization(evidence));
    all.extend(blocks(evidence));
    all.extend(shortest_first(evidence));
    all.extend(longer_messages(evidence));
    all.extend(lowest(evidence));
    all
}

/// G1 and G2: GABL's turnaround over that of each other strategy.
fn headline_numbers(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for (id, case, load, stated) in [
        ("G1", &CASES[0], "0.0205", [0.64, 0.69, 0.36]),
        ("G2", &CASES[3], "0.1", [0.28, 0.30, 0.17]),
    ] {
        for ((other, name), stated) in OTHERS.into_iter().zip(stated) {
            let pair = [plain(case, load, "gabl"), plain(case, load, other)];
            let ours = evidence.ratio("turnaround", &pair[0], &pair[1]);
            all.push(Statement::ratio(format!("{id}@{other}"), stated, ours).note(format!(
                "turnaround of GABL over {name}'s, {}, {}, FCFS, load {load}",
                case.pattern, case.sides
            )));
        }
    }
    all
}

/// G3: utilisation with a full queue.
fn utilization(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for scheduler in SCHEDULERS {
        for case in &CASES {
            let of = |strategy| at(case, scheduler, "8", FULL_QUEUE, strategy);
            let id = |what: &str| format!("G3@{}-{scheduler}-{what}", case.name);
            let place = format!("{}, {}, {scheduler}", case.pattern, case.sides);
            let pairs = [("gabl", "paging"), ("gabl", "mbs"), ("paging", "mbs")];
            let ratios = pairs.map(|(a, b)| evidence.ratio("utilization", &of(a), &of(b)));
            let far = |ratio: &Estimate| (ratio.value - 1.0).abs();
            let farthest = ratios.into_iter().flatten().max_by(|a, b| far(a).total_cmp(&far(b)));
            all.push(
                Statement::close(id("equal"), "GABL, Paging(0), MBS about equal", farthest)
                    .note(format!("utilisation, the pair that is farthest apart, {place}")),
            );
            let said = if scheduler == "ssd" {
                "; of SSD the paper says that its results lead to the same conclusion"
            } else {
                ""
            };
            for strategy in ["gabl", "paging", "mbs", "ff"] {
                let ours = evidence.mean("utilization", &of(strategy));
                let statement = if strategy == "ff" {
                    Statement::at_most(id(strategy), 0.49, ours)
                } else {
                    Statement::between(id(strategy), (0.72, 0.79), ours)
                };
                all.push(statement.note(format!("utilisation, {place}{said}")));
            }
        }
    }
    all
}

/// G4: blocks per job.
fn blocks(evidence: &Evidence<'_>) -> Vec<Statement> {
    let case = &CASES[2];
    let mut all = Vec::new();
    for (load, stated) in [("0.025", 0.54), ("0.03", 0.59), ("0.035", 0.60)] {
        let pair = [plain(case, load, "gabl"), plain(case, load, "mbs")];
        let ours = evidence.ratio("blocks_per_job", &pair[0], &pair[1]);
        all.push(
            Statement::ratio(format!("G4@{load}"), stated, ours)
                .note("blocks per job of GABL over MBS's, all-to-all, uniform, FCFS"),
        );
    }
    for scheduler in SCHEDULERS {
        for load in loads(evidence, case) {
            let pair = ["gabl", "mbs"].map(|strategy| at(case, scheduler, "8", &load, strategy));
            all.push(
                Statement::below(
                    format!("G4@{scheduler}-{load}"),
                    "GABL below MBS",
                    evidence.difference("blocks_per_job", &pair[0], &pair[1]),
                    evidence.ratio("blocks_per_job", &pair[0], &pair[1]),
                )
                .note(format!("difference of blocks per job, all-to-all, uniform, {scheduler}")),
            );
        }
    }
    all
}

/// G5: SSD against FCFS, where the queue is full.
fn shortest_first(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for case in &CASES {
        let loads = loads(evidence, case);
        let load = loads.last().expect("a figure has loads");
        for strategy in ["gabl", "paging", "mbs", "ff"] {
            let pair = ["ssd", "fcfs"].map(|scheduler| at(case, scheduler, "8", load, strategy));
            all.push(
                Statement::below(
                    format!("G5@{}-{strategy}", case.name),
                    "SSD much lower than FCFS",
                    evidence.difference("turnaround", &pair[0], &pair[1]),
                    evidence.ratio("turnaround", &pair[0], &pair[1]),
                )
                .note(format!(
                    "difference of turnaround in cycles, {}, {}, load {load}",
                    case.pattern, case.sides
                )),
            );
        }
    }
    all
}

/// G6: the order stays with longer messages, and GABL's advantage grows.
fn longer_messages(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    // From the ratios of G1 and G2.
    let order = [("gabl", "mbs"), ("mbs", "paging"), ("paging", "ff")];
    let named = |strategy: &str| {
        let other = OTHERS.iter().find(|(other, _)| *other == strategy);
        other.map_or("GABL", |(_, name)| name)
    };
    for case in &CASES {
        let place = format!("{}, {}, FCFS", case.pattern, case.sides);
        for flits in LENGTHS {
            let load = case.load_of(flits);
            for (lower, higher) in order {
                let pair = [lower, higher].map(|one| at(case, "fcfs", flits, load, one));
                all.push(
                    Statement::below(
                        format!("G6@{}-{flits}-{lower}", case.name),
                        &format!("{} below {}", named(lower), named(higher)),
                        evidence.difference("turnaround", &pair[0], &pair[1]),
                        evidence.ratio("turnaround", &pair[0], &pair[1]),
                    )
                    .note(format!(
                        "difference of turnaround in cycles, {flits} flits, {place}, load {load}"
                    )),
                );
            }
        }
    }
    for case in CASES.iter().filter(|case| case.pattern == "one-to-all") {
        for (shorter, longer) in [("8", "16"), ("16", "32"), ("32", "64")] {
            for (other, name) in OTHERS {
                let over = |flits| {
                    let load = case.load_of(flits);
                    ["gabl", other].map(|one| at(case, "fcfs", flits, load, one))
                };
                let (high, low) = (over(longer), over(shorter));
                let growth =
                    evidence.ratio_growth("turnaround", [&high[0], &high[1]], [&low[0], &low[1]]);
                all.push(
                    Statement::below(
                        format!("G6@{}-{longer}-over-{other}", case.name),
                        &format!("advantage over {name} grows"),
                        growth,
                        None,
                    )
                    .note(format!(
                        "how much greater GABL's turnaround over {name}'s is with {longer} flits \
                         than with {shorter}, mean of the runs, {}",
                        case.sides
                    )),
                );
            }
        }
    }
    all
}

/// GABL's share of the other's turnaround.
fn share(statement: &Statement) -> f64 {
    statement.ratio.unwrap_or(f64::INFINITY)
}

/// G7: GABL has the lowest turnaround, everywhere.
fn lowest(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for case in &CASES {
        for scheduler in SCHEDULERS {
            for load in loads(evidence, case) {
                let of = |strategy| at(case, scheduler, "8", &load, strategy);
                let id = format!("G7@{}-{scheduler}-{load}", case.name);
                let below = OTHERS.map(|(other, name)| {
                    let difference = evidence.difference("turnaround", &of("gabl"), &of(other));
                    let ratio = evidence.ratio("turnaround", &of("gabl"), &of(other));
                    (name, Statement::below(&id, "GABL lowest", difference, ratio))
                });
                let holds = below.iter().all(|(_, statement)| statement.holds);
                // The one that GABL is least below, as a share.
                let (name, mut nearest) = below
                    .into_iter()
                    .max_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)))
                    .expect("there are others");
                nearest.holds = holds;
                all.push(nearest.note(format!(
                    "difference of turnaround in cycles to {name}, the nearest to GABL or below it, \
                     {}, {}, {scheduler}",
                    case.pattern, case.sides
                )));
            }
        }
    }
    all
}
