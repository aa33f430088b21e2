//! What the NAS paper leaves open, read otherwise, judged by the orders that its text states and the
//! default reading does not give: N4 at low load, and N6.

use crate::papers::alternatives::{Alternatives, Goal, Reading};

pub(in crate::papers) const ALTERNATIVES: Alternatives = Alternatives {
    paper: "nas",
    title: "NAS: other readings of what the paper leaves open",
    keys: "machine = \"mesh:16x16\"\nscheduler = \"fcfs\"\njobs = 1000\nflits = 8\n\
           service = \"iterations:1\"\nbaseline = \"nas\"\ntiming = false\n\
           metrics = [\"turnaround\", \"utilization\", \"service\", \"latency\", \"blocking\", \
           \"hops\", \"blocks_per_job\"]\n",
    usual: &[
        ("pattern", "near-neighbour"),
        ("sides", "uniform-decreasing"),
        ("load", "0.025"),
        ("sending", "blocking"),
        ("rounds", ""),
        ("ranks", "coordinates"),
        ("routing-delay", "3"),
        ("buffer", "1"),
        ("engine", "worm"),
        ("release", "drained"),
    ],
    orders: true,
    goals: &[
        Goal {
            id: "N4",
            at: &[("load", "0.0125")],
            metric: "utilization",
            strategy: "nas",
            others: &[("lssa", 1.0)],
        },
        Goal {
            id: "N6-near-ff",
            at: &[],
            metric: "turnaround",
            strategy: "ff",
            others: &[("nas", 1.0), ("lssa", 1.0)],
        },
        Goal {
            id: "N6-near-nas",
            at: &[("load", "0.05")],
            metric: "turnaround",
            strategy: "nas",
            others: &[("lssa", 1.0)],
        },
        Goal {
            id: "N6-all-ff",
            at: &[("pattern", "all-to-all"), ("load", "0.0002")],
            metric: "turnaround",
            strategy: "ff",
            others: &[("nas", 1.0), ("lssa", 1.0)],
        },
        Goal {
            id: "N6-all-nas",
            at: &[("pattern", "all-to-all"), ("load", "0.0004")],
            metric: "turnaround",
            strategy: "nas",
            others: &[("lssa", 1.0)],
        },
    ],
    readings: READINGS,
};

const READINGS: &[Reading] = &[
    Reading { name: "default", meaning: "the default reading", ..Reading::PLAIN },
    Reading {
        name: "ranks-by-part",
        meaning: "processors numbered part by part",
        set: &[("ranks", "parts")],
        ..Reading::PLAIN
    },
    Reading {
        name: "pipelined",
        meaning: "messages queue at their sources",
        set: &[("sending", "pipelined")],
        ..Reading::PLAIN
    },
    Reading {
        name: "pipelined-by-part",
        meaning: "pipelined and ranks-by-part",
        set: &[("sending", "pipelined"), ("ranks", "parts")],
        ..Reading::PLAIN
    },
    Reading {
        name: "sequential",
        meaning: "one message of the job in flight",
        set: &[("sending", "sequential")],
        ..Reading::PLAIN
    },
    Reading {
        name: "barriers",
        meaning: "a round starts when the one before is delivered",
        set: &[("rounds", "barrier")],
        ..Reading::PLAIN
    },
    Reading {
        name: "from-zero",
        meaning: "all-to-all: destinations 0, 1, 2, ...",
        instead: &[("all-to-all", "all-to-all:from-zero")],
        ..Reading::PLAIN
    },
    Reading {
        name: "from-zero-pipelined",
        meaning: "from-zero and pipelined",
        set: &[("sending", "pipelined")],
        instead: &[("all-to-all", "all-to-all:from-zero")],
    },
    Reading {
        name: "guarantee",
        meaning: "NAS grants the nearest nodes where the connected ones are too few",
        instead: &[("nas", "nas:guarantee")],
        ..Reading::PLAIN
    },
    Reading {
        name: "right-up",
        meaning: "NAS: neighbours at x + 1 and y + 1 only, as printed",
        instead: &[("nas", "nas:right-up")],
        ..Reading::PLAIN
    },
    Reading {
        name: "lssa-unturned",
        meaning: "LSSA tries one orientation of its pieces",
        instead: &[("lssa", "lssa:turn=none")],
        ..Reading::PLAIN
    },
    Reading {
        name: "ff-turns",
        meaning: "FF turns requests, too",
        instead: &[("ff", "ff:turn=all")],
        ..Reading::PLAIN
    },
    Reading {
        name: "buffer-8",
        meaning: "buffers of a whole message",
        set: &[("buffer", "8")],
        ..Reading::PLAIN
    },
    Reading {
        name: "released-when-passed",
        meaning: "a channel is free when the tail has passed, buffers of 2 flits",
        set: &[("engine", "flit"), ("release", "passed"), ("buffer", "2")],
        ..Reading::PLAIN
    },
];
