//! The TBL paper: contiguous allocation on a 3D mesh, with and without turning the request.
//!
//! Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "A fast and efficient strategy for sub-mesh
//! allocation with minimal allocation overhead in 3D mesh connected multicomputers", 2007, figures 7
//! to 14. 8x8x8 mesh (16x16x16 beside it for the number of allocated submeshes), jobs of exponential
//! length with mean 1, first come first served, 1000 completed jobs a run.

use super::{Evidence, Paper, Statement};

pub(super) const PAPER: Paper = Paper {
    name: "tbl",
    title: "A fast and efficient strategy for sub-mesh allocation with minimal allocation overhead \
            in 3D mesh connected multicomputers",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    reading: &[
        "Loads of 3.8 to 4.6 are beyond what any of these strategies can sustain: the queue grows as \
         long as the run lasts, and turnaround there depends on the length of the run, 1000 jobs.",
        "Exponential sides have a mean of half the machine's side, are rounded up and cut at the \
         machine's side. Allocation times compare each strategy as its paper describes it: TBL with \
         its busy list against TFF as a plain search of the nodes (tff:plain); our bit-parallel TFF \
         is faster than both.",
    ],
    experiment,
    statements,
};

const FULL: &str = "[0.6, 1, 1.4, 1.8, 2.2, 2.6, 3, 3.4, 3.8, 4.2, 4.6]";
const QUICK: &str = "[1, 3.8, 4.2, 4.6]";
const DISTRIBUTIONS: [&str; 2] = ["uniform", "exponential"];
const SMALL: &str = "mesh:8x8x8";
const LARGE: &str = "mesh:16x16x16";

fn experiment(quick: bool) -> String {
    let (loads, least, most) = if quick { (QUICK, 3, 5) } else { (FULL, 5, 200) };
    let mut text = format!(
        "name = \"tbl\"\ntitle = \"TBL: allocation in a 3D mesh, turned and not\"\n\
         scheduler = \"fcfs\"\nservice = \"exponential:1\"\nsides = [\"uniform\", \"exponential\"]\n\
         jobs = 1000\nload = {loads}\nbaseline = \"tbl\"\nprecision = 0.05\n\
         min-replications = {least}\nmax-replications = {most}\n\n\
         [[sweep]]\nmachine = \"{SMALL}\"\n\
         strategy = [\"ff\", \"bl\", \"tff\", \"tbl\", \"tff:plain\"]\n\n\
         [[sweep]]\nmachine = \"{LARGE}\"\nstrategy = \"tbl\"\n"
    );
    let figures = [
        ("allocation time", "allocation_ns", "allocation time (ns, median of runs)"),
        ("turnaround time", "turnaround", "turnaround time (time units)"),
        ("system utilization", "utilization", "system utilization (fraction)"),
        ("number of allocated sub-meshes", "busy_submeshes", "allocated sub-meshes (m)"),
    ];
    let mut number = 7;
    for (what, metric, label) in figures {
        for sides in DISTRIBUTIONS {
            let (series, drawn) = match metric {
                "allocation_ns" => (
                    "strategy",
                    format!("machine = \"{SMALL}\", strategy = [\"tbl\", \"tff:plain\"]"),
                ),
                "busy_submeshes" => ("machine", "strategy = \"tbl\"".to_string()),
                _ => (
                    "strategy",
                    format!("machine = \"{SMALL}\", strategy = [\"bl\", \"ff\", \"tbl\", \"tff\"]"),
                ),
            };
            text += &format!(
                "\n[[figure]]\nname = \"fig{number:02}\"\n\
                 title = \"Fig. {number}: mean {what}, {sides} side lengths\"\nx = \"load\"\n\
                 y = \"{metric}\"\nseries = \"{series}\"\n\
                 where = {{ sides = \"{sides}\", {drawn} }}\n\
                 x-label = \"load (jobs per time unit)\"\ny-label = \"{label}\"\n\
                 labels = {{ ff = \"FF\", bl = \"BL\", tff = \"TFF\", tbl = \"TBL\", \
                 \"tff:plain\" = \"TFF\", \"{SMALL}\" = \"8x8x8 mesh\", \
                 \"{LARGE}\" = \"16x16x16 mesh\" }}\n"
            );
            number += 1;
        }
    }
    text
}

/// The values that pick a point.
type At<'a> = [(&'a str, &'a str); 4];

fn at<'a>(machine: &'a str, sides: &'a str, load: &'a str, strategy: &'a str) -> At<'a> {
    [("machine", machine), ("sides", sides), ("load", load), ("strategy", strategy)]
}

fn statements(evidence: &Evidence<'_>) -> Vec<Statement> {
    let loads = evidence.loads(&[("machine", SMALL)]);
    let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
    let mut all = vec![allocation_time(evidence)];
    all.extend(turned(evidence));
    all.extend(close(evidence, &loads));
    all.extend(utilization(evidence, &loads));
    all.extend(submeshes(evidence));
    all.extend(faster(evidence, &loads));
    all
}

fn allocation_time(evidence: &Evidence<'_>) -> Statement {
    let of = |strategy| at(SMALL, "uniform", "4.6", strategy);
    let ours = evidence.measured_ratio(&of("tbl"), &of("tff:plain"));
    let fast = evidence.measured_ratio(&of("tbl"), &of("tff"));
    let fast = fast.map_or(String::new(), |fast| format!("; over our fast TFF {:.2}", fast.value));
    Statement::ratio("T1", 0.33, ours).note(format!(
        "allocation time of TBL over TFF's, each as its paper describes it; measured here{fast}"
    ))
}

/// Turning lowers turnaround.
fn turned(evidence: &Evidence<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for (load, stated) in [("3.8", 0.47), ("4.2", 0.53), ("4.6", 0.56)] {
        let of = |strategy| at(SMALL, "uniform", load, strategy);
        let over = |strategy| evidence.ratio("turnaround", &of("tbl"), &of(strategy));
        let bl = Statement::ratio("", stated, over("bl"));
        let mut statement = Statement::ratio(format!("T2@{load}"), stated, over("ff"));
        // One number for both: it holds if it holds for both.
        statement.holds &= bl.holds;
        let beside = bl.ours.unwrap_or(f64::NAN);
        all.push(statement.note(format!(
            "turnaround of TBL over FF's, uniform; over BL's {beside:.3}, which {}",
            bl.verdict()
        )));
    }
    for load in ["3.8", "4.2", "4.6"] {
        for other in ["ff", "bl"] {
            let pair =
                [at(SMALL, "exponential", load, "tbl"), at(SMALL, "exponential", load, other)];
            let name = other.to_uppercase();
            all.push(
                Statement::below(
                    format!("T2@exponential-{load}-{other}"),
                    &format!("TBL clearly below {name}"),
                    evidence.difference("turnaround", &pair[0], &pair[1]),
                    evidence.ratio("turnaround", &pair[0], &pair[1]),
                )
                .note("paired difference of turnaround, exponential"),
            );
        }
    }
    all
}

/// What does not differ in what it finds does not differ in turnaround.
fn close(evidence: &Evidence<'_>, loads: &[&str]) -> Vec<Statement> {
    let mut all = Vec::new();
    for (a, b, note) in
        [("tbl", "tff", "turnaround"), ("bl", "ff", "turnaround; not in the paper, ours to add")]
    {
        for sides in DISTRIBUTIONS {
            for load in loads {
                let ours = evidence.ratio(
                    "turnaround",
                    &at(SMALL, sides, load, a),
                    &at(SMALL, sides, load, b),
                );
                let claim = format!("{} very close to {}", a.to_uppercase(), b.to_uppercase());
                let id = if a == "tbl" {
                    format!("T3@{sides}-{load}")
                } else {
                    format!("T3@{sides}-{load}-bl")
                };
                all.push(Statement::close(id, &claim, ours).note(format!("ratio of {note}")));
            }
        }
    }
    all
}

fn utilization(evidence: &Evidence<'_>, loads: &[&str]) -> Vec<Statement> {
    let (low, high) = (loads[0], loads[loads.len() - 1]);
    let mut all = Vec::new();
    for sides in DISTRIBUTIONS {
        let over = |strategy: &str| {
            let pair = [at(SMALL, sides, low, strategy), at(SMALL, sides, low, "tbl")];
            evidence.ratio("utilization", &pair[0], &pair[1])
        };
        let ratios = ["ff", "bl", "tff"].map(over);
        let worst = ratios
            .into_iter()
            .flatten()
            .max_by(|a, b| (a.value - 1.0).abs().total_cmp(&(b.value - 1.0).abs()));
        all.push(
            Statement::close(format!("T4@{sides}-{low}"), "all equal at low load", worst)
                .note("utilisation over TBL's, of the strategy that is farthest from it"),
        );
        for (strategy, turns) in [("tff", true), ("tbl", true), ("ff", false), ("bl", false)] {
            let ours = evidence.mean("utilization", &at(SMALL, sides, high, strategy));
            let id = format!("T4@{sides}-{high}-{strategy}");
            let note = format!("utilisation of {}, {sides}", strategy.to_uppercase());
            let statement = if turns {
                Statement::between(id, (0.47, 0.49), ours)
            } else {
                Statement::at_most(id, 0.36, ours)
            };
            all.push(statement.note(note));
        }
    }
    all
}

/// The number of allocated submeshes.
fn submeshes(evidence: &Evidence<'_>) -> Vec<Statement> {
    const LOAD: &str = "4.6";
    let mut all = Vec::new();
    let of = |machine, sides| at(machine, sides, LOAD, "tbl");
    for sides in DISTRIBUTIONS {
        let ours = evidence.mean("busy_submeshes", &of(SMALL, sides));
        all.push(
            Statement::at_most(format!("T5@{sides}-far-below-n"), 51.2, ours)
                .note("m; \"much lower than n\" (512) is read as a tenth of it at most"),
        );
    }
    for machine in [SMALL, LARGE] {
        let pair = [of(machine, "exponential"), of(machine, "uniform")];
        let size = machine.trim_start_matches("mesh:");
        all.push(
            Statement::above(
                format!("T5@larger-{size}"),
                "m larger for exponential sides",
                evidence.difference("busy_submeshes", &pair[0], &pair[1]),
                evidence.ratio("busy_submeshes", &pair[0], &pair[1]),
            )
            .note(format!("difference of m, {size}, load {LOAD}")),
        );
    }
    for sides in DISTRIBUTIONS {
        let pair = [of(LARGE, sides), of(SMALL, sides)];
        let ours = evidence.ratio("busy_submeshes", &pair[0], &pair[1]);
        all.push(
            Statement::at_most(format!("T5@{sides}-growth"), 1.1, ours)
                .note("m on 16x16x16 over m on 8x8x8; \"does not grow\" is at most 10 % more"),
        );
    }
    all
}

/// TBL allocates in less time.
fn faster(evidence: &Evidence<'_>, loads: &[&str]) -> Vec<Statement> {
    let mut all = Vec::new();
    let (low, high) = (loads[0], loads[loads.len() - 1]);
    for sides in DISTRIBUTIONS {
        let pair = |load| [at(SMALL, sides, load, "tbl"), at(SMALL, sides, load, "tff:plain")];
        for load in loads {
            let [tbl, tff] = pair(load);
            all.push(
                Statement::below(
                    format!("T6@{sides}-{load}"),
                    "TBL's allocation time below TFF's",
                    evidence.measured_difference(&tbl, &tff),
                    evidence.measured_ratio(&tbl, &tff),
                )
                .note("median difference in ns, measured here"),
            );
        }
        let ([tbl_high, tff_high], [tbl_low, tff_low]) = (pair(high), pair(low));
        let growth = evidence.measured_growth([&tff_high, &tbl_high], [&tff_low, &tbl_low]);
        all.push(
            Statement::above(
                format!("T6@{sides}-growth"),
                "the difference grows with load",
                growth,
                None,
            )
            .note(format!("how much greater the difference in ns is at {high} than at {low}")),
        );
    }
    all
}
