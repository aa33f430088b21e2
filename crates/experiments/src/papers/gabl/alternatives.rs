//! What the GABL paper leaves open, read otherwise, judged by G1 and G2.

use crate::papers::alternatives::{Alternatives, Goal, Reading};

pub(in crate::papers) const ALTERNATIVES: Alternatives = Alternatives {
    paper: "gabl",
    title: "GABL: other readings of what the paper leaves open",
    keys: "machine = \"mesh:16x16\"\nscheduler = \"fcfs\"\njobs = 1000\nflits = 8\n\
           baseline = \"gabl\"\ntiming = false\n\
           metrics = [\"turnaround\", \"utilization\", \"service\", \"latency\", \"blocking\", \
           \"hops\", \"blocks_per_job\"]\n",
    usual: &[
        ("pattern", "one-to-all"),
        ("sides", "uniform"),
        ("load", "0.0205"),
        ("service", "messages:5"),
        ("sending", "sequential"),
        ("rounds", ""),
        ("ranks", "coordinates"),
        ("routing-delay", "3"),
        ("buffer", "1"),
        ("engine", "worm"),
        ("release", "drained"),
    ],
    orders: false,
    goals: &[
        Goal {
            id: "G1",
            at: &[],
            metric: "turnaround",
            strategy: "gabl",
            others: &[("ff", 0.36), ("paging", 0.64), ("mbs", 0.69)],
        },
        Goal {
            id: "G2",
            at: &[("pattern", "all-to-all"), ("sides", "uniform-decreasing"), ("load", "0.1")],
            metric: "turnaround",
            strategy: "gabl",
            others: &[("ff", 0.17), ("paging", 0.28), ("mbs", 0.30)],
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
        name: "gabl-unturned",
        meaning: "GABL turns nothing",
        instead: &[("gabl", "gabl:turn=none")],
        ..Reading::PLAIN
    },
    Reading {
        name: "gabl-turns-first",
        meaning: "GABL turns the request, not its parts",
        instead: &[("gabl", "gabl:turn=first")],
        ..Reading::PLAIN
    },
    Reading {
        name: "gabl-turns-parts",
        meaning: "GABL turns the parts, not the request",
        instead: &[("gabl", "gabl:turn=parts")],
        ..Reading::PLAIN
    },
    Reading {
        name: "gabl-last-side",
        meaning: "of equal sides GABL shrinks the last",
        instead: &[("gabl", "gabl:tie=last")],
        ..Reading::PLAIN
    },
    Reading {
        name: "gabl-largest",
        meaning: "GABL takes the largest free submesh each time",
        instead: &[("gabl", "gabl:shape=largest")],
        ..Reading::PLAIN
    },
    Reading {
        name: "blocking",
        meaning: "one message of each processor in flight; all-to-all in rounds with barriers",
        set: &[("sending", "blocking")],
        ..Reading::PLAIN
    },
    Reading {
        name: "pipelined",
        meaning: "messages queue at their sources; all-to-all in rounds with barriers",
        set: &[("sending", "pipelined")],
        ..Reading::PLAIN
    },
    Reading {
        name: "blocking-free",
        meaning: "one message of each processor in flight, rounds without barriers",
        set: &[("sending", "blocking"), ("rounds", "free")],
        ..Reading::PLAIN
    },
    Reading {
        name: "pipelined-free",
        meaning: "messages queue at their sources, rounds without barriers",
        set: &[("sending", "pipelined"), ("rounds", "free")],
        ..Reading::PLAIN
    },
    Reading {
        name: "from-zero",
        meaning: "destinations 0, 1, 2, ...",
        instead: &[("one-to-all", "one-to-all:from-zero"), ("all-to-all", "all-to-all:from-zero")],
        ..Reading::PLAIN
    },
    Reading {
        name: "in-turn",
        meaning: "all-to-all: one processor's messages, then the next one's",
        instead: &[("all-to-all", "all-to-all:senders=in-turn")],
        ..Reading::PLAIN
    },
    Reading {
        name: "from-zero-in-turn",
        meaning: "destinations 0, 1, 2, ..., one processor after the other",
        instead: &[
            ("one-to-all", "one-to-all:from-zero"),
            ("all-to-all", "all-to-all:from-zero:senders=in-turn"),
        ],
        ..Reading::PLAIN
    },
    Reading {
        name: "rounded",
        meaning: "the number of messages rounded to the nearest",
        set: &[("service", "messages:5:rounding=nearest")],
        ..Reading::PLAIN
    },
    Reading {
        name: "rounded-up",
        meaning: "the number of messages rounded up",
        set: &[("service", "messages:5:rounding=up")],
        ..Reading::PLAIN
    },
    Reading {
        name: "rank-quota",
        meaning: "all-to-all: 5 messages of each processor, one of the job in flight",
        instead: &[("all-to-all", "all-to-all:quota=rank")],
        ..Reading::PLAIN
    },
    Reading {
        name: "rank-quota-blocking",
        meaning: "all-to-all: 5 messages of each processor, one of each in flight, in rounds",
        set: &[("sending", "blocking")],
        instead: &[("all-to-all", "all-to-all:quota=rank")],
    },
    Reading {
        name: "rank-quota-pipelined",
        meaning: "all-to-all: 5 messages of each processor, queueing at their sources",
        set: &[("sending", "pipelined"), ("rounds", "free")],
        instead: &[("all-to-all", "all-to-all:quota=rank")],
    },
    Reading {
        name: "released-when-passed",
        meaning: "a channel is free when the tail has passed, buffers of 2 flits",
        set: &[("engine", "flit"), ("release", "passed"), ("buffer", "2")],
        ..Reading::PLAIN
    },
    Reading {
        name: "buffer-2",
        meaning: "buffers of 2 flits",
        set: &[("buffer", "2")],
        ..Reading::PLAIN
    },
    Reading {
        name: "buffer-8",
        meaning: "buffers of a whole message",
        set: &[("buffer", "8")],
        ..Reading::PLAIN
    },
    Reading {
        name: "t_s-with-move",
        meaning: "the 3 cycles of t_s include the move to the next node",
        set: &[("routing-delay", "2")],
        ..Reading::PLAIN
    },
    Reading {
        name: "ff-by-columns",
        meaning: "FF scans column by column",
        instead: &[("ff", "ff:scan=yx")],
        ..Reading::PLAIN
    },
    Reading {
        name: "ff-from-above",
        meaning: "FF scans from the opposite corner",
        instead: &[("ff", "ff:scan=-x-y")],
        ..Reading::PLAIN
    },
    Reading {
        name: "ff-turns",
        meaning: "FF turns requests, too",
        instead: &[("ff", "ff:turn=all")],
        ..Reading::PLAIN
    },
    Reading {
        name: "random-pairs",
        meaning: "all-to-all: each message from a random processor to a random other one",
        instead: &[("all-to-all", "random")],
        ..Reading::PLAIN
    },
    Reading {
        name: "random-pipelined",
        meaning: "random-pairs, messages queue at their sources",
        set: &[("sending", "pipelined")],
        instead: &[("all-to-all", "random")],
    },
    Reading {
        name: "by-part-largest",
        meaning: "ranks-by-part and gabl-largest",
        set: &[("ranks", "parts")],
        instead: &[("gabl", "gabl:shape=largest")],
    },
    Reading {
        name: "by-part-last-side",
        meaning: "ranks-by-part and gabl-last-side",
        set: &[("ranks", "parts")],
        instead: &[("gabl", "gabl:tie=last")],
    },
    Reading {
        name: "by-part-from-zero",
        meaning: "ranks-by-part and from-zero",
        set: &[("ranks", "parts")],
        instead: &[("one-to-all", "one-to-all:from-zero"), ("all-to-all", "all-to-all:from-zero")],
    },
    Reading {
        name: "by-part-random-pairs",
        meaning: "ranks-by-part and random-pairs",
        set: &[("ranks", "parts")],
        instead: &[("all-to-all", "random")],
    },
    Reading {
        name: "by-part-rank-quota",
        meaning: "ranks-by-part and rank-quota-blocking",
        set: &[("ranks", "parts"), ("sending", "blocking")],
        instead: &[("all-to-all", "all-to-all:quota=rank")],
    },
    Reading {
        name: "largest-and-t_s",
        meaning: "gabl-largest and t_s-with-move",
        set: &[("routing-delay", "2")],
        instead: &[("gabl", "gabl:shape=largest")],
    },
];
