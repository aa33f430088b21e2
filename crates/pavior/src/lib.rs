//! Processor allocation on meshes and tori: the choice of nodes for a job, and its consequences.
//!
//! It is meant for schedulers that need an exact and fast allocator for such machines, and for
//! studies of strategies, schedulers and networks. It does not start processes; it decides where
//! they run.
//!
//! # Overview
//!
//! | purpose | module | feature |
//! |---|---|---|
//! | allocate nodes to jobs and release them | [`Machine`] and the other items of this page | |
//! | write and test a strategy | [`strategies`] | |
//! | give your strategy or scheduler options | [`names`] | |
//! | read and write sides, draw an occupancy as text | [`boxes`] | |
//! | quote untrusted text in a message, show dates | [`text`], [`time`] | |
//! | ask why a request waits, when it starts, which jobs to move | `answers` | `answers` |
//! | build a service or a simulator on a queue and a scheduler | `scheduling` | `answers` |
//! | read requests and logs, draw jobs | `workload` | `answers` |
//! | read JSON from other programs without ambiguity | `json` | `json` |
//! | simulate jobs that arrive, wait and run; write a metric | `simulation` | `simulation` |
//! | let jobs send messages | `network` | `network` |
//! | draw machines, schedules and measurements | `draw` | `draw` |
//! | read files within limits and write them whole | `files` | `files` |
//! | compare many runs, with confidence intervals | `experiments` | `experiments` |
//! | store boxes, requests, answers and more as data | `Serialize`, `Deserialize` | `serde` |
//!
//! No feature is on by default. `answers` enables `json`. `simulation` enables `answers`, and
//! `experiments` enables everything but `serde`. Only `files` opens files, only
//! `experiments` has a pool of threads, and only they need an operating system: the rest also
//! compiles for `wasm32-unknown-unknown`.
//!
//! Each module lists what it contains and has an example. The folder `examples` of the package has
//! the programs `own_strategy`, `own_scheduler`, `own_metric` and `own_experiment`. Each of them
//! defines one such item and uses it:
//! `cargo run -p pavior --features experiments --example own_strategy`.
//!
//! Some examples of single items name the crate that defines them. `pavior_scheduling` there is
//! `pavior::scheduling` here, and the same applies to the other modules. Items of `pavior_mesh`,
//! `pavior_kernel` and `pavior_allocation` are on this page or in [`strategies`], [`names`],
//! [`boxes`], [`text`] and [`time`].
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
//! use pavior::strategies::{Registry, Scan, conformance};
//! use pavior::{JobId, Machine, Request, Sides};
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

#[cfg(feature = "answers")]
pub mod answers;
pub mod boxes;
#[cfg(feature = "draw")]
pub mod draw;
#[cfg(feature = "experiments")]
pub mod experiments;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "json")]
pub mod json;
pub mod names;
#[cfg(feature = "network")]
pub mod network;
#[cfg(feature = "answers")]
pub mod scheduling;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod strategies;
pub mod text;
pub mod time;
#[cfg(feature = "answers")]
pub mod workload;

pub use pavior_allocation::{
    AllocateError, Answers, BadProposal, BuildError, Change, Fork, Machine, Placement,
    PlacementError, Refusal, RelocateError, UnknownJob, UnknownNode,
};
pub use pavior_kernel::{BadName, Checksum, Stream, Time};
pub use pavior_mesh::{
    Coordinates, Cuboid, Freedom, Grid, GridError, JobId, NodeId, Occupancy, OccupancyError, Pool,
    Request, Sides, UnknownFreedom,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
