//! Parameters for jobs that send messages, and for the network that carries them.

use pavior_kernel::BadName;
use pavior_network::{EngineKind, RankOrder, Release, Rounds, Sending, VirtualChannels};
use pavior_simulation::Contention;

use super::{
    Applies, COMMON, Heading, Parameter, Reading, ValueType, chosen, count, number, selected,
    verbatim,
};
use crate::Given;

const MESSAGE: Parameter =
    Parameter { heading: Heading::Messages, applies: Applies::Messages, ..COMMON };

/// The fields shared by parameters that apply only to logs whose jobs send messages.
const SHARED: Parameter =
    Parameter { heading: Heading::Messages, applies: Applies::Communication, ..COMMON };

/// The maximum number of cycles or flits in a network setting.
const MOST: u64 = u32::MAX as u64;

/// The fraction of a logged job's run time spent on communication.
pub const COMMUNICATION: Parameter = Parameter {
    name: "communication",
    meaning: "the fraction of a logged job's run time, from 0 to 1, that is spent on \
              communication; the duration of this part depends on the network",
    kind: ValueType::Number,
    applies: Applies::Log,
    read: |text, _| {
        number(
            text,
            |value| (0.0..=1.0).contains(&value),
            "from 0 to 1",
            |given| &mut given.communication,
        )
    },
    ..MESSAGE
};

pub(super) const CONTENTION: Parameter = Parameter {
    name: "contention",
    meaning: "the model of contention between logged jobs that share links",
    kind: ValueType::Choice(&[
        ("estimated", "a queueing model of the links"),
        ("simulated", "a slow simulation of the jobs' messages"),
    ]),
    default: &["estimated"],
    read: |text, _| {
        let words = [("estimated", Contention::Estimated), ("simulated", Contention::Simulated)];
        chosen(text, words, |given| &mut given.contention)
    },
    ..SHARED
};

pub(super) const CYCLES_PER_SECOND: Parameter = Parameter {
    name: "cycles-per-second",
    meaning: "the number of network cycles per second of log time",
    kind: ValueType::Count,
    unit: "cycles",
    default: &["1000000"],
    read: |text, _| count(text, 1..=1_000_000, |given| &mut given.cycles_per_second),
    ..SHARED
};

pub(super) const PATTERN: Parameter = Parameter {
    name: "pattern",
    alias: Some("patterns"),
    meaning: "the messages that jobs send; see `pavior patterns`",
    default: &["one-to-all"],
    read: |text, catalogue| selected(catalogue.patterns.select(text), |given| &mut given.pattern),
    ..MESSAGE
};

pub(super) const ORDER: Parameter = Parameter {
    name: "order",
    meaning: "the order of destinations in one-to-all and all-to-all patterns",
    read: |text, _| Ok(verbatim(text, |given| &mut given.order)),
    ..MESSAGE
};

pub(super) const SENDING: Parameter = Parameter {
    name: "sending",
    meaning: "the number of messages in flight at a time; default: sequential for messages, \
        blocking for iterations",
    kind: ValueType::Choice(&[
        ("sequential", "one message per job"),
        ("blocking", "one message per rank"),
        ("pipelined", "all messages of each rank"),
    ]),
    read: |text, _| {
        let words = [
            ("sequential", Sending::Sequential),
            ("blocking", Sending::Blocking),
            ("pipelined", Sending::Pipelined),
        ];
        chosen(text, words, |given| &mut given.sending)
    },
    ..MESSAGE
};

pub(super) const ROUNDS: Parameter = Parameter {
    name: "rounds",
    meaning: "the synchronization between a pattern's rounds; default: as the pattern specifies",
    kind: ValueType::Choice(&[
        ("barrier", "a round starts once the previous one's messages are delivered"),
        ("free", "ranks continue without waiting"),
    ]),
    read: |text, _| {
        let words = [("barrier", Rounds::Barrier), ("free", Rounds::Free)];
        chosen(text, words, |given| &mut given.rounds)
    },
    ..MESSAGE
};

pub(super) const RANKS: Parameter = Parameter {
    name: "ranks",
    meaning: "the order in which ranks are assigned to a job's nodes",
    kind: ValueType::Choice(&[
        ("coordinates", "row-major over the whole allocation"),
        ("parts", "part by part"),
        ("snake", "row by row, with every other row of the job reversed"),
        ("hilbert", "along the Hilbert curve through the machine"),
        ("greedy", "next to the previous rank if possible, otherwise on the nearest unused node"),
        (
            "pattern",
            "chosen so that the pattern's messages need few hops, even if the job has a single \
             box",
        ),
    ]),
    default: &["coordinates"],
    read: |text, _| chosen(text, RankOrder::NAMED, |given| &mut given.ranks),
    ..MESSAGE
};

pub(super) const FLITS: Parameter = Parameter {
    name: "flits",
    meaning: "the message length",
    kind: ValueType::Count,
    unit: "flits",
    default: &["8"],
    read: |text, _| count(text, 1..=MOST, |given| &mut given.flits),
    ..MESSAGE
};

pub(super) const ROUTING_DELAY: Parameter = Parameter {
    name: "routing-delay",
    meaning: "the time a node takes to route a header",
    kind: ValueType::Count,
    unit: "cycles",
    default: &["3"],
    read: |text, _| count(text, 0..=MOST, |given| &mut given.routing_delay),
    ..MESSAGE
};

pub(super) const BUFFER: Parameter = Parameter {
    name: "buffer",
    meaning: "the capacity of each channel's buffer",
    kind: ValueType::Count,
    unit: "flits",
    default: &["1"],
    read: |text, _| count(text, 1..=MOST, |given| &mut given.buffer),
    ..MESSAGE
};

pub(super) const ENGINE: Parameter = Parameter {
    name: "engine",
    meaning: "the network engine; the two engines give the same results",
    kind: ValueType::Choice(&[("worm", "header events only"), ("flit", "flit by flit")]),
    default: &["worm"],
    read: |text, _| {
        let words = [("worm", EngineKind::Worm), ("flit", EngineKind::Flit)];
        chosen(text, words, |given| &mut given.engine)
    },
    ..MESSAGE
};

pub(super) const RELEASE: Parameter = Parameter {
    name: "release",
    meaning: "when a channel becomes free for the next message",
    kind: ValueType::Choice(&[
        ("drained", "when its buffer has drained"),
        ("passed", "when the tail has passed"),
    ]),
    default: &["drained"],
    read: |text, _| {
        let words = [("drained", Release::Drained), ("passed", Release::Passed)];
        chosen(text, words, |given| &mut given.release)
    },
    ..MESSAGE
};

pub(super) const LANES: Parameter = Parameter {
    name: "lanes",
    meaning: "the virtual channels per link on axes that wrap around",
    kind: ValueType::Choice(&[
        ("1", "one, which can deadlock"),
        ("2", "two, each with the full bandwidth"),
        ("shared", "two that share the bandwidth"),
    ]),
    default: &["2"],
    read: |text, _| {
        let words = [
            ("1", VirtualChannels::One),
            ("2", VirtualChannels::Two),
            ("shared", VirtualChannels::Shared),
        ];
        chosen(text, words, |given| &mut given.lanes)
    },
    ..MESSAGE
};

pub(super) const LINK_ENERGY: Parameter = Parameter {
    name: "link-energy",
    meaning: "the energy to move one flit over a link",
    read: |text, _| energy(text, |given| &mut given.link_energy),
    ..ENERGY
};

pub(super) const ROUTER_ENERGY: Parameter = Parameter {
    name: "router-energy",
    meaning: "the energy to move one flit through a router",
    read: |text, _| energy(text, |given| &mut given.router_energy),
    ..ENERGY
};

const ENERGY: Parameter =
    Parameter { kind: ValueType::Number, unit: "units of energy", default: &["1"], ..MESSAGE };

fn energy(text: &str, field: fn(&mut Given) -> &mut Option<f64>) -> Result<Reading, BadName> {
    number(text, |value| value >= 0.0, ">= 0", field)
}
