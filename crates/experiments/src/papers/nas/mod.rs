//! The NAS paper: contiguous and nearly contiguous allocation under three patterns of messages.
//!
//! Shdefat, Bani-Mohammad & Ababneh, "On allocation algorithms for manycore systems with network on
//! chip", 2023, figures 14 to 25. 16x16 mesh, messages of 8 flits, 3 cycles to route a header, one
//! iteration of the pattern a job, first come first served, 1000 completed jobs a run.

pub(super) mod alternatives;

use super::{Evidence, Paper, Statement};

pub(super) const PAPER: Paper = Paper {
    name: "nas",
    title: "On allocation algorithms for manycore systems with network on chip",
    source: "Shdefat, Bani-Mohammad & Ababneh 2023",
    reading: &[
        "The paper says neither how many messages of a job are in flight nor what its figures' loads \
         are, but for those named in its text. Here each rank sends one message at a time; ranks of \
         a job in several pieces are row-major by coordinates; a job's neighbours are those of the \
         grid that it requested. Each figure has the loads that the text names, one at least well \
         below saturation, and a highest one that keeps the queue full.",
        "\"Below\" and \"above\" a load are judged at that load, too, and at every further one on its \
         side. Response times where the queue grows as long as the run lasts depend on the length of \
         the run, 1000 jobs. All-to-all takes so many messages that a point gets 10 runs at most.",
        "What of N4 and N6 is not found here was tried under other readings (--alternatives): other \
         numbers of messages in flight, other ranks, orders, buffers and rounds, and the printed \
         neighbours of NAS. None gives all the orders that the paper states. Pipelined messages move the \
         load at which one-to-all fills the queue above 0.0005, and with it N2.",
    ],
    experiment,
    statements,
};

/// A pattern with a distribution of sides: a figure of utilisation, one of response time.
struct Case {
    pattern: &'static str,
    sides: &'static str,
    full: &'static str,
    quick: &'static str,
}

/// In the order of figures 14 to 19, and 20 to 25.
const CASES: [Case; 6] = [
    Case {
        pattern: "one-to-all",
        sides: "uniform",
        full: "[0.0001, 0.0002, 0.00033333, 0.0005, 0.001, 0.002]",
        quick: "[0.0002, 0.0005, 0.001]",
    },
    Case {
        pattern: "one-to-all",
        sides: "uniform-decreasing",
        full: "[0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01]",
        quick: "[0.0005, 0.002, 0.01]",
    },
    Case {
        pattern: "all-to-all",
        sides: "uniform",
        full: "[0.00002, 0.00004, 0.00005, 0.00006667, 0.0001, 0.0002]",
        quick: "[0.00005, 0.00006667, 0.0002]",
    },
    Case {
        pattern: "all-to-all",
        sides: "uniform-decreasing",
        full: "[0.00005, 0.0001, 0.0002, 0.0004, 0.0007, 0.001]",
        quick: "[0.0001, 0.0004, 0.001]",
    },
    Case {
        pattern: "near-neighbour",
        sides: "uniform",
        full: "[0.0025, 0.00333333, 0.004, 0.0125, 0.025, 0.05, 0.1]",
        quick: "[0.00333333, 0.004, 0.1]",
    },
    Case {
        pattern: "near-neighbour",
        sides: "uniform-decreasing",
        full: "[0.005, 0.0125, 0.025, 0.05, 0.1, 0.2]",
        quick: "[0.0125, 0.025, 0.2]",
    },
];

const STRATEGIES: [&str; 3] = ["nas", "lssa", "ff"];

fn experiment(quick: bool) -> String {
    let (least, most, most_of_all) = if quick { (3, 5, 3) } else { (5, 200, 10) };
    let mut text = format!(
        "name = \"nas\"\ntitle = \"NAS: neighbours instead of boxes, under three patterns\"\n\
         machine = \"mesh:16x16\"\nscheduler = \"fcfs\"\nservice = \"iterations:1\"\n\
         flits = 8\nrouting-delay = 3\njobs = 1000\nstrategy = [\"nas\", \"lssa\", \"ff\"]\n\
         baseline = \"nas\"\nprecision = 0.05\nmin-replications = {least}\n\
         max-replications = {most}\ntiming = false\n"
    );
    for case in &CASES {
        let loads = if quick { case.quick } else { case.full };
        text += &format!(
            "\n[[sweep]]\npattern = \"{}\"\nsides = \"{}\"\nload = {loads}\n",
            case.pattern, case.sides
        );
        if case.pattern == "all-to-all" {
            text += &format!("max-replications = {most_of_all}\n");
        }
    }
    let figures = [
        (14, "System utilization", "utilization", "system utilization (fraction)", "\"x\""),
        (20, "Average response time", "turnaround", "response time (cycles)", "[\"x\", \"y\"]"),
    ];
    for (first, what, metric, label, log) in figures {
        for (number, Case { pattern, sides, .. }) in (first..).zip(&CASES) {
            text += &format!(
                "\n[[figure]]\nname = \"fig{number}\"\n\
                 title = \"Fig. {number}: {what}, {pattern}, {sides} sides\"\n\
                 x = \"load\"\ny = \"{metric}\"\nseries = \"strategy\"\nlog = {log}\n\
                 where = {{ pattern = \"{pattern}\", sides = \"{sides}\" }}\n\
                 x-label = \"arrival rate (jobs per cycle)\"\ny-label = \"{label}\"\n\
                 labels = {{ nas = \"NAS\", lssa = \"LSSA\", ff = \"FF\" }}\n"
            );
        }
    }
    text
}

/// The points of a figure.
struct Asked<'e, 'a> {
    evidence: &'e Evidence<'a>,
    case: &'static Case,
    number: usize,
    loads: Vec<String>,
}

/// How utilisation or response times of two strategies compare.
#[derive(Clone, Copy)]
enum Order {
    Above,
    Below,
    Close,
}

impl Asked<'_, '_> {
    fn at<'p>(&'p self, load: &'p str, strategy: &'p str) -> [(&'p str, &'p str); 4] {
        let Case { pattern, sides, .. } = self.case;
        [("pattern", pattern), ("sides", sides), ("load", load), ("strategy", strategy)]
    }

    fn highest(&self) -> &str {
        self.loads.last().expect("every figure has loads")
    }

    /// The loads from `low` to `high`, both included.
    fn between(&self, low: f64, high: f64) -> Vec<&str> {
        let inside = |load: &&String| {
            let value: f64 = load.parse().expect("loads are numbers");
            (low..=high).contains(&value)
        };
        self.loads.iter().filter(inside).map(String::as_str).collect()
    }

    /// One strategy beside another.
    fn compared(
        &self,
        id: String,
        metric: &str,
        load: &str,
        (one, order, other): (&str, Order, &str),
    ) -> Statement {
        let (a, b) = (self.at(load, one), self.at(load, other));
        let difference = self.evidence.difference(metric, &a, &b);
        let ratio = self.evidence.ratio(metric, &a, &b);
        let (first, second) = (one.to_uppercase(), other.to_uppercase());
        let statement = match order {
            Order::Above => {
                Statement::above(id, &format!("{first} above {second}"), difference, ratio)
            }
            Order::Below => {
                Statement::below(id, &format!("{first} below {second}"), difference, ratio)
            }
            Order::Close => {
                Statement::close(id, &format!("{first} about equal to {second}"), ratio)
            }
        };
        let Case { pattern, sides, .. } = self.case;
        let what = match metric {
            "utilization" => "utilisation",
            _ => "response time in cycles",
        };
        let kind = if matches!(order, Order::Close) { "ratio" } else { "paired difference" };
        let number = self.number;
        statement.note(format!(
            "{kind} of {what}, Figure {number}: {pattern}, {sides} sides, load {load}"
        ))
    }
}

fn statements(evidence: &Evidence<'_>) -> Vec<Statement> {
    let figure = |case: &'static Case, number: usize| {
        let loads = evidence.loads(&[("pattern", case.pattern), ("sides", case.sides)]);
        Asked { evidence, case, number, loads }
    };
    let utilization: Vec<Asked<'_, '_>> =
        CASES.iter().zip(14..).map(|(case, number)| figure(case, number)).collect();
    let response: Vec<Asked<'_, '_>> =
        CASES.iter().zip(20..).map(|(case, number)| figure(case, number)).collect();
    let mut all = highest_utilization(&utilization);
    all.extend(ranges(&utilization));
    all.extend(response_times(&response));
    all.extend(raised(&utilization));
    all
}

fn highest_utilization(figures: &[Asked<'_, '_>]) -> Vec<Statement> {
    let mut all = Vec::new();
    for figure in figures {
        for other in ["lssa", "ff"] {
            let id = format!("N1@{}-{}-{other}", figure.case.pattern, figure.case.sides);
            let claim = ("nas", Order::Above, other);
            all.push(figure.compared(id, "utilization", figure.highest(), claim));
        }
    }
    all
}

/// N2 to N4: what holds below one load and what above another.
fn ranges(figures: &[Asked<'_, '_>]) -> Vec<Statement> {
    const NAS_ABOVE: &[(&str, Order, &str)] =
        &[("nas", Order::Above, "lssa"), ("nas", Order::Above, "ff")];
    const EQUAL: &[(&str, Order, &str)] =
        &[("nas", Order::Close, "lssa"), ("nas", Order::Close, "ff")];
    const TWO_ABOVE: &[(&str, Order, &str)] =
        &[("nas", Order::Close, "lssa"), ("nas", Order::Above, "ff"), ("lssa", Order::Above, "ff")];
    const LSSA_ABOVE: &[(&str, Order, &str)] =
        &[("lssa", Order::Above, "nas"), ("lssa", Order::Above, "ff")];
    // The statement, its figure's place, the ends of the two ranges, and the claim of the lower one.
    let ranges = [
        ("N2", 0, 0.0005, 0.001, EQUAL),
        ("N3", 2, 0.00005, 0.000_066_67, TWO_ABOVE),
        ("N4", 4, 0.003_333_33, 0.004, LSSA_ABOVE),
        ("N4", 5, 0.0125, 0.025, LSSA_ABOVE),
    ];
    let mut all = Vec::new();
    for (id, place, to, from, below) in ranges {
        let figure = &figures[place];
        let sides = if id == "N4" { format!("{}-", figure.case.sides) } else { String::new() };
        let parts = [(figure.between(0.0, to), below), (figure.between(from, f64::MAX), NAS_ABOVE)];
        for (loads, claims) in parts {
            for load in loads {
                for &claim in claims {
                    // `N2@0.0005-lssa` is about NAS and LSSA.
                    let (one, _, other) = claim;
                    let names = match id {
                        "N2" => other.to_string(),
                        _ => format!("{one}-{other}"),
                    };
                    let id = format!("{id}@{sides}{load}-{names}");
                    all.push(figure.compared(id, "utilization", load, claim));
                }
            }
        }
    }
    all
}

/// N5 and N6, at every load.
fn response_times(figures: &[Asked<'_, '_>]) -> Vec<Statement> {
    const NAS_LOWEST: &[(&str, &str)] = &[("nas", "lssa"), ("nas", "ff")];
    const FF_LOWEST: &[(&str, &str)] = &[("ff", "nas"), ("ff", "lssa"), ("nas", "lssa")];
    let mut all = Vec::new();
    for figure in figures {
        let &Case { pattern, sides, .. } = figure.case;
        let (start, claims) = if pattern == "one-to-all" {
            (format!("N5@{sides}"), NAS_LOWEST)
        } else {
            (format!("N6@{pattern}-{sides}"), FF_LOWEST)
        };
        for load in &figure.loads {
            for &(one, other) in claims {
                let id = format!("{start}-{load}-{one}-{other}");
                all.push(figure.compared(id, "turnaround", load, (one, Order::Below, other)));
            }
        }
    }
    all
}

/// N7: uniform-decreasing sides raise utilisation, at the highest load of each figure.
fn raised(figures: &[Asked<'_, '_>]) -> Vec<Statement> {
    let mut all = Vec::new();
    for pair in figures.chunks(2).take(2) {
        let (uniform, decreasing) = (&pair[0], &pair[1]);
        for strategy in STRATEGIES {
            let a = decreasing.at(decreasing.highest(), strategy);
            let b = uniform.at(uniform.highest(), strategy);
            let evidence = uniform.evidence;
            let pattern = uniform.case.pattern;
            all.push(
                Statement::above(
                    format!("N7@{pattern}-{strategy}"),
                    &format!("{} higher with uniform-decreasing sides", strategy.to_uppercase()),
                    evidence.difference("utilization", &a, &b),
                    evidence.ratio("utilization", &a, &b),
                )
                .note(format!(
                    "difference of utilisation, {pattern}, load {} against {}",
                    decreasing.highest(),
                    uniform.highest()
                )),
            );
        }
    }
    all
}
