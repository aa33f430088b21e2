//! The values specified for parameters, as typed fields.
//!
//! The parameters in [`parameters::ALL`](crate::parameters::ALL) parse text into this type.
//! [`RunSettings`](crate::RunSettings) is created from it, and checks combinations of values.

use pavior_mesh::{Cuboid, Grid, Sides};
use pavior_network::{
    EngineKind, PatternSelection, RankOrder, Release, Rounds, Sending, VirtualChannels,
};
use pavior_simulation::Contention;
use pavior_workload::traces::{Estimates, Filter, Format, ReadOptions};
use pavior_workload::{
    ArrivalProcess, FailureClasses, FreedomRule, JobRule, Selection, ServiceDistribution,
    ShapeRule, SideDistribution,
};

use crate::boxes::Slice;

/// The value of each parameter, or `None` if no value was specified.
#[derive(Clone, Default)]
#[expect(missing_docs, reason = "each is documented at the parameter of the same name")]
pub struct Given {
    pub machine: Option<Grid>,
    pub strategy: Option<pavior_allocation::Selection>,
    pub scheduler: Option<pavior_scheduling::Selection>,
    pub seed: Option<u64>,
    pub freedom: Option<FreedomRule>,
    pub warmup: Option<u64>,
    pub slowdown_bound: Option<f64>,
    pub max_waiting: Option<u64>,
    pub max_time: Option<f64>,
    pub max_interruptions: Option<u64>,

    pub load: Option<f64>,
    pub sides: Option<Selection<SideDistribution>>,
    pub service: Option<Selection<ServiceDistribution>>,
    pub arrivals: Option<Selection<ArrivalProcess>>,
    pub jobs: Option<u64>,

    pub trace: Option<String>,
    pub shape_rule: Option<Selection<ShapeRule>>,
    pub arrival_scale: Option<f64>,
    pub first: Option<u64>,
    pub filter: Option<Filter>,
    pub status: Option<Filter>,
    pub estimates: Option<Selection<Estimates>>,
    pub kill: Option<bool>,
    pub lenient: Option<bool>,
    pub dependencies: Option<bool>,
    pub processors_per_node: Option<u32>,
    pub nodes_from: Option<u32>,
    pub pieces: Option<bool>,
    pub log_format: Option<Format>,
    pub placed: Option<String>,

    pub communication: Option<f64>,
    pub contention: Option<Contention>,
    pub cycles_per_second: Option<u64>,
    pub pattern: Option<PatternSelection>,
    pub order: Option<String>,
    pub sending: Option<Sending>,
    pub rounds: Option<Rounds>,
    pub ranks: Option<RankOrder>,
    pub flits: Option<u32>,
    pub routing_delay: Option<u32>,
    pub buffer: Option<u32>,
    pub engine: Option<EngineKind>,
    pub release: Option<Release>,
    pub lanes: Option<VirtualChannels>,
    pub link_energy: Option<f64>,
    pub router_energy: Option<f64>,

    pub mttf: Option<f64>,
    pub mttr: Option<f64>,
    pub fail_classes: Option<FailureClasses>,
    pub spares: Option<u32>,
    pub spare_switches: Option<u32>,
    pub(crate) slice: Option<Slice>,
    pub failures: Option<String>,
    pub checkpoint: Option<f64>,
    pub reservations: Option<String>,
    pub migration: Option<f64>,
    pub movable: Option<JobRule>,

    pub busy: Option<Vec<Cuboid>>,
    pub submeshes: Option<u64>,
    pub request: Option<Sides>,
}

impl Given {
    /// Returns the options for reading a log.
    pub fn reading(&self) -> ReadOptions {
        let filter = self.filter.clone().unwrap_or_default();
        ReadOptions {
            lenient: self.lenient.unwrap_or_default(),
            first: self.first,
            filter: filter.and(&self.status.clone().unwrap_or_default()),
            format: self.log_format,
            processors_per_node: self.processors_per_node,
            nodes_from: self.nodes_from,
            pieces: self.pieces.unwrap_or_default(),
            dependencies: self.dependencies.unwrap_or_default(),
            hosts: self.placed.is_some(),
        }
    }
}
