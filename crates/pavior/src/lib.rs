//! Processor allocation on meshes and tori: the choice of nodes for a job, and its consequences.
//!
//! It is meant for schedulers that need an exact and fast allocator for such machines, and for
//! studies of strategies, schedulers and networks. It does not start processes; it decides where
//! they run.
//!
//! # Overview
//!
//! | purpose | item | feature |
//! |---|---|---|
//! | allocate nodes to jobs and release them | [`Machine`] | |
//! | learn why a request is refused, and what would help | `answers::why` | `answers` |
//! | write and test a strategy | [`strategies`] | |
//! | find out which jobs to move, and when a job will start | `answers` | `answers` |
//! | simulate jobs that arrive, wait and run | `simulation::Setup`, `workload` | `simulation` |
//! | write a scheduler | `scheduling::Scheduler` | `simulation` |
//! | write a metric | `simulation::Observer`, `simulation::metrics` | `simulation` |
//! | give your strategy or scheduler options | [`names`] | |
//! | let jobs send messages | `network` | `network` |
//! | compare many runs, with confidence intervals | `experiments::Specification` | `experiments` |
//! | store machine names, boxes and requests as data | `Serialize`, `Deserialize` | `serde` |
//!
//! No feature is on by default. `experiments` enables `simulation` and `network`. The folder
//! `examples` of the package has the programs `own_strategy`, `own_scheduler`, `own_metric` and
//! `own_experiment`. Each of them defines one such item and uses it:
//! `cargo run -p pavior --features experiments --example own_strategy`.
//!
//! The examples on the linked pages use the names of the crates behind this facade.
//! `pavior_scheduling` there is `pavior::scheduling` here, and the same applies to `workload`,
//! `simulation`, `network`, `answers` and `experiments`. Items of `pavior_mesh`, `pavior_kernel`
//! and `pavior_allocation` are in `pavior`, [`strategies`] or [`names`].
//!
//! # A machine
//!
//! A [`Machine`] is a [`Grid`] of nodes with an allocation strategy, chosen by name. It grants
//! [`Request`]s as [`Placement`]s, gives the reason if it refuses, and releases nodes.
//!
//! ```
//! use pavior::{JobId, Machine, Refusal, Request};
//!
//! let mut machine = Machine::new("torus:8x8x8".parse()?, "tff")?;
//! let placement = machine.allocate(JobId(1), &Request::shape([4, 4, 2]))?;
//! assert_eq!(placement.parts()[0].sides, [4, 4, 2]);
//!
//! // 480 of 512 nodes are free.
//! let refused = machine.allocate(JobId(2), &Request::shape([8, 8, 8])).unwrap_err();
//! assert_eq!(refused.refusal(), Some(Refusal::TooFewFreeNodes));
//!
//! machine.release(JobId(1))?;
//! assert_eq!(machine.free().count(), 512);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own strategy
//!
//! Most strategies are a rule for the place of a box of one shape. The rest is shared. `entry`
//! turns a rule into a strategy that claims to refuse only if no box is free. A separate claim is
//! that a rule finds the best score ([`strategies::claim`]), which `own_strategy` makes.
//!
//! ```
//! use pavior::strategies::contiguous::{BoxRule, Scored, View, entry};
//! use pavior::strategies::{Registry, Scan, Sides, conformance};
//! use pavior::{JobId, Machine, Request};
//!
//! /// The free place that touches least of what is busy.
//! #[derive(Clone)]
//! struct WorstCorner;
//!
//! impl BoxRule for WorstCorner {
//!     fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
//!         view.best(view.placements(shape, Scan::default()), |view, at| -view.contact(at))
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.add(entry("worst-corner", WorstCorner))?;
//! let strategy = registry.select("worst-corner")?;
//!
//! let mut machine = Machine::new("mesh:8x8".parse()?, &strategy)?;
//! machine.allocate(JobId(1), &Request::shape([3, 2]))?;
//! // Every answer on every occupancy of a small machine is held against what is claimed.
//! conformance::every_occupancy(&strategy, &"mesh:3x2".parse()?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A simulation
//!
#![cfg_attr(feature = "simulation", doc = "```")]
#![cfg_attr(not(feature = "simulation"), doc = "```ignore")]
//! use pavior::simulation::Setup;
//! use pavior::workload::{Synthetic, SyntheticJobs};
//!
//! let grid = "mesh:16x16".parse()?;
//! let jobs = SyntheticJobs::new(&Synthetic::at_load(1.5), &grid, 1, 0)?.take(1000);
//! let run = Setup::new(grid, "tff", "easy")?.simulation(jobs);
//! let measured = run.measure(&["turnaround", "utilization"])?.run()?;
//! assert!(measured.value("utilization") > Some(0.3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # An experiment
//!
#![cfg_attr(feature = "experiments", doc = "```")]
#![cfg_attr(not(feature = "experiments"), doc = "```ignore")]
//! use pavior::experiments::{Catalogue, Environment, NoStore, Shard, Specification};
//!
//! let file = "
//! machine = 'mesh:8x8'
//! strategy = ['ff', 'tff']
//! load = 1
//! jobs = 100
//! replications = 2
//! metrics = ['turnaround']
//! ";
//! let experiment = Specification::parse_with(file, "example", &Catalogue::default())?;
//! let samples = experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)?;
//! let [ff, tff] = [&samples[0], &samples[1]].map(|samples| samples[0].values[0]);
//! assert!(ff > tff);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_allocation::{
    AllocateError, Answers, BadProposal, BuildError, Change, Fork, Machine, Placement,
    PlacementError, Refusal, RelocateError, UnknownJob, UnknownNode,
};
pub use pavior_kernel::{BadName, Checksum};
pub use pavior_mesh::{
    Cuboid, Freedom, Grid, GridError, JobId, NodeId, Occupancy, OccupancyError, Pool, Request,
    UnknownFreedom,
};

pub mod names {
    //! The shared parts of the registries of strategies, schedulers, shape rules and patterns:
    //! names, their options, and error messages for wrong ones.
    //!
    //! An entry declares its options as [`OptionSpec`]s, and is built from the given [`Options`].
    //! The example `own_scheduler` has an option.

    pub use pavior_kernel::{
        BadEntry, BadName, CallerError, EntryHandle, OptionSpec, Options, Values, unknown_name,
    };
}

pub mod strategies {
    //! The registry of strategies, and the items for writing and testing one outside this library.
    //!
    //! ```
    //! use pavior::strategies::Registry;
    //! let names: Vec<&str> = Registry::new().entries().map(|entry| entry.name).collect();
    //! assert!(names.contains(&"tff") && names.contains(&"mbs"));
    //! ```

    pub use pavior_allocation::explain::{State, answer, index};
    pub use pavior_allocation::{
        ANY_GRID, Entry, MfaCandidate, MfaVerdict, Registry, Selection, Strategy, StrategyKind,
        Unsupported, Work, claim, conformance, contiguous, mfa_candidates, oracle,
    };
    pub use pavior_kernel::Stream;
    pub use pavior_mesh::{BaseSet, Coordinates, Scan, Sides, orientations};
}

pub use pavior_kernel::Time;

#[cfg(feature = "answers")]
pub use pavior_answers as answers;
#[cfg(feature = "experiments")]
pub use pavior_experiments as experiments;
#[cfg(feature = "network")]
pub use pavior_network as network;
#[cfg(feature = "answers")]
pub use pavior_scheduling as scheduling;
#[cfg(feature = "simulation")]
pub use pavior_simulation as simulation;
#[cfg(feature = "answers")]
pub use pavior_workload as workload;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
