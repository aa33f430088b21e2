//! The GABL paper: non-contiguous allocation on a 2D mesh whose jobs wait for their messages.
//!
//! Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "An efficient processor allocation strategy that
//! maintains a high degree of contiguity among processors in 2D mesh connected multicomputers", 2007,
//! figures 3 to 8. 16x16 mesh, t_s = 3, messages of 8 flits, 5 messages a job on average, 1000
//! completed jobs a run.

pub(super) mod alternatives;
mod statements;

use super::Paper;

pub(super) const PAPER: Paper = Paper {
    name: "gabl",
    title: "An efficient processor allocation strategy that maintains a high degree of contiguity \
            among processors in 2D mesh connected multicomputers",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    reading: &[
        "The paper leaves open how many messages of a job are in flight, to whom they go first, how \
         their number is rounded, how the processors of a job are numbered, and whether GABL turns \
         requests. Here one message of a job is in flight at a time, destinations follow the sender, \
         the number is rounded down, processors are numbered row by row over the whole allocation, \
         and GABL turns. Run with --alternatives, the program measures other readings.",
        "The curves are not available as data, and the axes not at all: every figure has the loads \
         that the text names, loads below saturation, and one of about twice what any strategy \
         sustains under FCFS, at which the queue is full. Utilisation is measured at a load of 1, at \
         which all jobs wait from the start.",
        "Messages of 16, 32 and 64 flits have loads that are lower in proportion to the time of a \
         message alone, so that all four lengths load the machine alike.",
    ],
    experiment,
    statements: statements::statements,
};

/// A pattern with a distribution of sides: what one of figures 3 to 6 shows.
pub(super) struct Case {
    /// In the names of statements.
    name: &'static str,
    figure: u32,
    pattern: &'static str,
    sides: &'static str,
    /// The loads of the figure.
    full: &'static [&'static str],
    quick: &'static [&'static str],
    /// The load for 8 flits, and those for [`LENGTHS`] that load the machine alike.
    alike: (&'static str, [&'static str; 3]),
}

impl Case {
    pub(super) fn loads(&self, quick: bool) -> &'static [&'static str] {
        if quick { self.quick } else { self.full }
    }

    /// The load of a length in flits.
    pub(super) fn load_of(&self, flits: &str) -> &'static str {
        let at = LENGTHS.iter().position(|length| *length == flits);
        at.map_or(self.alike.0, |at| self.alike.1[at])
    }
}

/// Figures 3 to 6. A message alone takes about 22 + P cycles in a one-to-all and 9 + P in an
/// all-to-all, P flits long: the loads for longer ones are the first divided by that.
pub(super) const CASES: [Case; 4] = [
    Case {
        name: "one-uniform",
        figure: 3,
        pattern: "one-to-all",
        sides: "uniform",
        full: &[
            "0.0025", "0.005", "0.0075", "0.01", "0.0125", "0.015", "0.0175", "0.0205", "0.025",
            "0.04",
        ],
        quick: &["0.005", "0.0205", "0.04"],
        alike: ("0.0205", ["0.0162", "0.0114", "0.0072"]),
    },
    Case {
        name: "one-decreasing",
        figure: 4,
        pattern: "one-to-all",
        sides: "uniform-decreasing",
        full: &["0.01", "0.02", "0.03", "0.04", "0.05", "0.06", "0.08", "0.12"],
        quick: &["0.02", "0.05", "0.12"],
        alike: ("0.05", ["0.0395", "0.0278", "0.0174"]),
    },
    Case {
        name: "all-uniform",
        figure: 5,
        pattern: "all-to-all",
        sides: "uniform",
        full: &["0.005", "0.01", "0.015", "0.02", "0.025", "0.03", "0.035", "0.045", "0.06"],
        quick: &["0.01", "0.025", "0.03", "0.035", "0.06"],
        alike: ("0.035", ["0.0238", "0.0145", "0.0082"]),
    },
    Case {
        name: "all-decreasing",
        figure: 6,
        pattern: "all-to-all",
        sides: "uniform-decreasing",
        full: &["0.02", "0.04", "0.06", "0.08", "0.1", "0.12", "0.16", "0.2"],
        quick: &["0.04", "0.1", "0.2"],
        alike: ("0.1", ["0.068", "0.0415", "0.0233"]),
    },
];

pub(super) const SCHEDULERS: [&str; 2] = ["fcfs", "ssd"];
/// What GABL is compared with, in the order of the figures' legends.
pub(super) const OTHERS: [(&str, &str); 3] =
    [("paging", "Paging(0)"), ("mbs", "MBS"), ("ff", "FF")];
/// Messages longer than the figures'.
pub(super) const LENGTHS: [&str; 3] = ["16", "32", "64"];
/// The load of figure 7.
pub(super) const FULL_QUEUE: &str = "1";

/// What is the same in everything that the paper measures.
pub(super) const COMMON: &str = "machine = \"mesh:16x16\"\nservice = \"messages:5\"\njobs = 1000\n\
    routing-delay = 3\nstrategy = [\"gabl\", \"paging\", \"mbs\", \"ff\"]\nbaseline = \"gabl\"\n\
    timing = false\nmetrics = [\"turnaround\", \"utilization\", \"waiting\", \"service\", \
    \"blocks_per_job\", \"dispersal\", \"latency\", \"blocking\", \"hops\"]\n";

fn experiment(quick: bool) -> String {
    let (least, most) = if quick { (3, 5) } else { (20, 500) };
    let mut text = format!(
        "name = \"gabl\"\ntitle = \"GABL: allocation in pieces, and messages\"\n{COMMON}\
         precision = 0.05\nmin-replications = {least}\nmax-replications = {most}\n"
    );
    for Case { pattern, sides, alike, .. } in &CASES {
        for (flits, load) in LENGTHS.iter().zip(alike.1) {
            text += &format!(
                "\n[[sweep]]\npattern = \"{pattern}\"\nsides = \"{sides}\"\nscheduler = \"fcfs\"\n\
                 flits = {flits}\nload = {load}\n"
            );
        }
    }
    for case in &CASES {
        let loads = case.loads(quick).join(", ");
        text += &format!(
            "\n[[sweep]]\npattern = \"{}\"\nsides = \"{}\"\nscheduler = [\"fcfs\", \"ssd\"]\n\
             flits = 8\nload = [{loads}, {FULL_QUEUE}]\n",
            case.pattern, case.sides
        );
    }
    text + &figures(quick)
}

fn figures(quick: bool) -> String {
    const LABELS: &str = "labels = { gabl = \"GABL\", paging = \"Paging(0)\", mbs = \"MBS\", \
        ff = \"FF\", fcfs = \"(FCFS)\", ssd = \"(SSD)\", \"one-to-all\" = \"One To All\", \
        \"all-to-all\" = \"All To All\" }\n";
    let mut text = String::new();
    let against_load = "x = \"load\"\nseries = [\"strategy\", \"scheduler\"]\n\
        x-label = \"load (jobs per cycle)\"\n";
    for case in &CASES {
        let Case { figure, pattern, sides, .. } = case;
        let loads = case.loads(quick).join(", ");
        // On the paper's axis, the lines of SSD lie at the bottom: once more without those of FCFS.
        let ssd = ", scheduler = \"ssd\"";
        for (part, only, fixed) in [("", "", ""), ("-ssd", " (SSD alone)", ssd)] {
            text += &format!(
                "\n[[figure]]\nname = \"fig{figure:02}{part}\"\n\
                 title = \"Fig. {figure}{only}: average turnaround time, {pattern}, {sides} side \
                 lengths\"\ny = \"turnaround\"\n{against_load}\
                 y-label = \"average turnaround time (cycles)\"\n\
                 where = {{ pattern = \"{pattern}\", sides = \"{sides}\", flits = 8, \
                 load = [{loads}]{fixed} }}\n{LABELS}"
            );
        }
    }
    for (name, sides, source) in [
        ("fig07", "uniform-decreasing", ""),
        ("fig07-uniform", "uniform", " (in the paper's text only)"),
    ] {
        text += &format!(
            "\n[[figure]]\nname = \"{name}\"\n\
             title = \"Fig. 7: mean system utilization, full queue, {sides} side lengths{source}\"\n\
             x = \"pattern\"\ny = \"utilization\"\nseries = [\"strategy\", \"scheduler\"]\n\
             x-label = \"communication pattern\"\ny-label = \"mean system utilization (fraction)\"\n\
             where = {{ sides = \"{sides}\", flits = 8, load = {FULL_QUEUE}, scheduler = \"fcfs\" }}\n\
             {LABELS}"
        );
    }
    let loads = CASES[2].loads(quick).join(", ");
    text += &format!(
        "\n[[figure]]\nname = \"fig08\"\n\
         title = \"Fig. 8: average blocks per job, all-to-all, uniform side lengths\"\n\
         y = \"blocks_per_job\"\n{against_load}y-label = \"average blocks per job\"\n\
         where = {{ pattern = \"all-to-all\", sides = \"uniform\", flits = 8, load = [{loads}], \
         strategy = [\"gabl\", \"mbs\"] }}\n{LABELS}"
    );
    text
}
