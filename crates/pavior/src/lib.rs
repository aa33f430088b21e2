//! Allocation of nodes to jobs on meshes and tori, and tools for studying it: about forty
//! strategies from the literature, schedulers, simulations, a network and experiments.
//!
//! The nodes of such a machine form a grid of one to three dimensions, and each node is linked to
//! its neighbors; on a torus, the axes wrap around. The crate decides which nodes a job gets,
//! usually a box of them, and which job starts next. It does not start processes, and it reads no
//! clock, so the same code runs in a live scheduler and in a simulation.
//!
//! # Contents
//!
//! Each section of this guide is a complete program.
//!
//! | task | reference | feature |
//! |---|---|---|
//! | [allocate and release nodes](#allocation) | [`Machine`] | |
//! | [write and test a strategy](#a-strategy-of-your-own) | [`strategies`], [`names`] | |
//! | [write a scheduler, or a service](#a-scheduler-of-your-own) | `scheduling` | `answers` |
//! | [ask why a request is waiting and which jobs to move](#questions) | `answers` | `answers` |
//! | [simulate jobs](#simulations), drawn or logged | `simulation`, `workload` | `simulation` |
//! | let jobs exchange messages | `network` | `network` |
//! | [compare many runs](#experiments-and-drawings) | `experiments` | `experiments` |
//! | draw machines, schedules and results | `draw` | `draw` |
//! | [read and write files](#files) within limits | `files` | `files` |
//! | write boxes, quote untrusted text, show dates | [`boxes`], [`text`], [`time`] | |
//! | read JSON without ambiguity | `json` | `json` |
//! | store boxes, requests and answers as data | `Serialize`, `Deserialize` | `serde` |
//!
//! No feature is on by default. `answers` enables `json`, `simulation` enables `answers`, and
//! `experiments` enables everything except `serde`. Only `files` opens files, and only
//! `experiments` starts threads. Everything also compiles for `wasm32-unknown-unknown`, where
//! opening a file is an error and runs use one thread.
//!
//! Longer programs are in the folder `examples` of the package. To run one, use
//! `cargo run -p pavior --features experiments --example own_strategy`.
//!
//! # Conventions
//!
//! - Sides and coordinates are given as one to three numbers, x first. Missing sides are 1, and
//!   missing coordinates are 0. A box is displayed as its sides and its base, such as `4x2 at 0,5`.
//! - Strategies, schedulers and patterns are chosen by name, with options after colons, such as
//!   `"tff:scan=yzx"`. An unknown name is a [`BadName`], which suggests similar names.
//! - A [`Time`] is an integer number of ticks, whose length the caller defines (see
//!   `workload::TimeUnit`).
//! - Random draws come from a [`Stream`] with a seed. The same inputs give the same results on
//!   every platform and with any number of threads.
//! - A function that returns an error does not change anything, unless its documentation says
//!   otherwise. A function that panics on bad arguments has a *Panics* section.
//! - In cost statements, N is the number of nodes.
//!
//! # Allocation
//!
//! A [`Machine`] is a [`Grid`] of nodes with a strategy. It grants a [`Request`] as a
//! [`Placement`], or refuses it with a reason. Strategies that are exact, such as `tff`, refuse
//! only if no box of free nodes has the requested sides.
//!
//! ```
//! use pavior::{JobId, Machine, Refusal, Request};
//!
//! let mut machine = Machine::new("torus:8x8x8".parse()?, "tff")?;
//! let placement = machine.allocate(JobId(1), &Request::shape([4, 4, 2]))?;
//! assert_eq!(placement.to_string(), "4x4x2 at 0,0,0");
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
//! # A strategy of your own
//!
//! Most strategies consist of a rule that chooses a place for a box with given sides. Such a rule
//! is a [`BoxRule`](strategies::contiguous::BoxRule). [`entry`](strategies::contiguous::entry)
//! turns the rule into a strategy, which tries all orientations of a request and claims to refuse
//! only if no box is free. The conformance suite tests this claim. For a strategy that grants other
//! sets of nodes, implement [`Strategy`](strategies::Strategy).
//!
//! ```
//! use pavior::strategies::contiguous::{BoxRule, Scored, View, entry};
//! use pavior::strategies::{Registry, Scan, conformance};
//! use pavior::{JobId, Machine, Request, Sides};
//!
//! /// Chooses the free place with the least contact to busy nodes and borders.
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
//! let placement = machine.allocate(JobId(1), &Request::shape([3, 2]))?;
//! assert_eq!(placement.to_string(), "3x2 at 1,1");
//! // Tests the answers in every state of a small machine.
//! conformance::every_occupancy(&strategy, &"mesh:3x2".parse()?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A scheduler of your own
//!
//! A `Scheduler` chooses the job that starts next, and is called again until it chooses none. It
//! reads the queue and the running jobs, and queries a `MachineView` whether a job could start now.
//! A `Dispatcher` keeps the machine, queue and running jobs consistent. Your program provides the
//! time and the events.
//!
//! ```
//! use pavior::scheduling::{
//!     Dispatcher, MachineView, Queue, Registry, Running, Scheduler, Start, entry,
//! };
//! use pavior::workload::Job;
//! use pavior::{JobId, Machine, Request, Time};
//!
//! /// Starts the largest waiting job that fits.
//! struct LargestFirst;
//!
//! impl Scheduler for LargestFirst {
//!     fn next(
//!         &mut self,
//!         _now: Time,
//!         queue: &Queue,
//!         _running: &Running,
//!         view: &mut MachineView<'_>,
//!     ) -> Option<Start> {
//!         let mut jobs: Vec<_> = queue.iter().enumerate().collect();
//!         jobs.sort_by_key(|(_, job)| std::cmp::Reverse(job.request.nodes));
//!         let fits = jobs.into_iter().find(|(_, job)| view.can_start(job).is_ok());
//!         fits.map(|(index, _)| Start::at(index))
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.add(entry("largest-first", || LargestFirst))?;
//! let scheduler = registry.select("largest-first")?.build(())?;
//!
//! let machine = Machine::new("mesh:4x4".parse()?, "tff")?;
//! let mut dispatcher = Dispatcher::new(machine, scheduler);
//! for (number, sides) in [(1, [2, 2]), (2, [4, 3]), (3, [4, 1])] {
//!     // The estimated run time is 60 ticks.
//!     let job = Job::new(JobId(number), Time(0), Request::shape(sides), Time(60));
//!     dispatcher.submit(job)?;
//! }
//! let mut started = Vec::new();
//! while let Some(start) = dispatcher.start_next(Time(0), &mut ())? {
//!     started.push(start.job.id.0);
//! }
//! assert_eq!(started, [2, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Questions
//!
//! `answers` explains refusals. `why` finds the box that becomes free first, the jobs that
//! currently hold it, and, within limits, job moves that would free a box immediately. Questions
//! never change the machine.
//!
//! ```
//! use pavior::answers::{Demand, Question, SearchLimits, Snapshot, why};
//! use pavior::{Cuboid, JobId, Machine, Placement, Request, Time};
//!
//! // A job in the middle of a 6x2 mesh: 8 nodes are free, but no 3x2.
//! let mut machine = Machine::new("mesh:6x2".parse()?, "tff")?;
//! machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([2, 0], [2, 2])))?;
//! let demand = Demand::of(&mut machine, &Request::shape([3, 2]));
//! let snapshot = Snapshot::of(&machine);
//!
//! let end = |_: JobId| Some(Time(905));
//! let limits = SearchLimits::jobs(1);
//! let answer = why(&snapshot, &Question { limits, ..Question::new(&demand, &end) });
//! let blocked = answer.blocked.expect("no place is free");
//! assert_eq!((blocked.jobs, blocked.until), (vec![(JobId(7), 4)], Some(Time(905))));
//!
//! // Carry out the plan: one move frees a place.
//! for step in blocked.moves.expect("moving job 7 is enough").moves {
//!     machine.relocate(step.job, step.to.into())?;
//! }
//! assert!(machine.allocate(JobId(8), &Request::shape([3, 2])).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Simulations
//!
//! A simulation runs jobs, either synthetic or from a log, with a scheduler and a strategy, and
//! measures metrics. With a network, jobs exchange messages over the machine's links, each job ends
//! when its messages have arrived, and a tick is a network cycle.
//!
//! ```
//! use pavior::network::{EngineKind, RankOrder, Settings, TrafficPlan};
//! use pavior::simulation::{Contention, Histories, NetworkSetup, Setup};
//! use pavior::workload::{Synthetic, SyntheticJobs};
//!
//! let grid = "mesh:8x8".parse()?;
//! let plan = TrafficPlan {
//!     pattern: "all-to-all".parse()?,
//!     sending: None,
//!     rounds: None,
//!     flits: 8,
//! };
//! let network = NetworkSetup {
//!     engine: EngineKind::Worm,
//!     settings: Settings::default(),
//!     plan,
//!     ranks: RankOrder::Coordinates,
//!     histories: Histories::default(),
//!     contention: Contention::Simulated,
//! };
//!
//! // Each job runs one iteration of the pattern.
//! let mut workload = Synthetic::at_load(0.001);
//! workload.service = "iterations:1".parse()?;
//! let jobs = SyntheticJobs::new(&workload, &grid, 1, 0)?.take(50);
//! let run = Setup::new(grid, "tff", "easy")?.with_network(network).simulation(jobs);
//! let measured = run.measure(&["turnaround", "latency"])?.run()?;
//! // Cycles per message, from its creation to its delivery.
//! assert!(measured.value("latency") > Some(10.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Experiments and drawings
//!
//! A `Specification` describes many runs: every combination of the listed values, all with the same
//! jobs. It adds replications until the means are as precise as requested. The results are a table
//! with confidence intervals, and `draw` turns them into SVG.
//!
//! ```
//! use pavior::draw::svg;
//! use pavior::experiments::{
//!     Catalogue, Environment, NoStore, Shard, Specification, Table, chart,
//! };
//!
//! let file = "
//! machine = 'mesh:8x8'
//! strategy = ['ff', 'tff']
//! load = [0.5, 1]
//! jobs = 100
//! replications = 3
//! metrics = ['turnaround']
//!
//! [[figure]]
//! name = 'turnaround'
//! y = 'turnaround'
//! ";
//! let experiment = Specification::parse_with(file, "turning", &Catalogue::default())?;
//! let samples = experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)?;
//! let table = Table::of(&experiment, &samples);
//! let means: Vec<_> = table.rows.iter().map(|row| row.summary.to_string()).collect();
//! assert_eq!(means.len(), 4);
//!
//! let figure = svg(&chart(&experiment.figures[0], &table));
//! assert!(figure.starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files
//!
//! `files` limits the lengths of lines and inputs, and writes files atomically. Log readers accept
//! any `BufRead`.
//!
//! ```
//! use std::io::Write;
//!
//! use pavior::files::{Limits, open, write_whole};
//! use pavior::workload::traces::{ReadOptions, swf};
//!
//! let path = std::env::temp_dir().join(format!("pavior-guide-{}.swf", std::process::id()));
//! let log = "; UnixStartTime: 0\n1 0 5 60 4 -1 -1 4 90 -1 1 1 1 -1 1 -1 -1 -1\n";
//! write_whole(&path, |file| file.write_all(log.as_bytes()))?;
//! let trace = swf::read(open(&path, Limits::LINES)?, &ReadOptions::default())?;
//! assert_eq!(trace.records.len(), 1);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

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
