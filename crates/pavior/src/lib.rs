//! Node allocation for jobs on mesh and torus machines. The crate contains schedulers, simulations,
//! a network model, experiments, and about forty strategies from the literature.
//!
//! The nodes of a mesh or torus form a grid with one to three axes, and each node is linked to its
//! neighbors. On a torus, the axes wrap around. The crate decides which nodes each job gets
//! (usually a box) and which job starts next. It does not start processes or read a clock, so the
//! same code can run in a live scheduler and in a simulation.
//!
//! # Contents
//!
//! Each linked section below contains a complete program.
//!
//! | task | reference | feature |
//! |---|---|---|
//! | [allocate and release nodes](#allocation) | [`Machine`] | |
//! | [write and test a strategy](#a-strategy-of-your-own) | [`strategies`], [`names`] | |
//! | [write a scheduler, or a service](#a-scheduler-of-your-own) | `scheduling` | `answers` |
//! | [ask why a request is waiting and which jobs to move](#questions) | `answers` | `answers` |
//! | [simulate synthetic or logged jobs](#simulations) | `simulation`, `workload` | `simulation` |
//! | simulate the messages that jobs send | `network` | `network` |
//! | [compare many runs](#experiments-and-drawings) | `experiments` | `experiments` |
//! | draw machines, schedules and results | `draw` | `draw` |
//! | [read and write files](#files) safely | `files` | `files` |
//! | format boxes, quote untrusted text, format dates | [`boxes`], [`text`], [`time`] | |
//! | reject ambiguous JSON | `json` | `json` |
//! | serialize boxes, requests and answers | `Serialize`, `Deserialize` | `serde` |
//!
//! No features are enabled by default. `answers` enables `json`, `simulation` enables `answers`,
//! and `experiments` enables everything except `serde`. Only `files` opens files, and only
//! `experiments` starts threads. Everything also compiles for `wasm32-unknown-unknown`. On that
//! target, opening a file returns an error, and runs are single-threaded.
//!
//! The package's `examples` directory contains longer programs. Run one with
//! `cargo run -p pavior --features experiments --example own_strategy`.
//!
//! # Conventions
//!
//! - Sides and coordinates are given as one to three numbers, x first. Missing sides default to 1,
//!   and missing coordinates to 0. A box is displayed as its sides and base: `4x2 at 0,5`.
//! - Strategies, schedulers and patterns are selected by name, with options after colons, for
//!   example `"tff:scan=yzx"`. An unknown name results in a [`BadName`] error that suggests similar
//!   names.
//! - A [`Time`] is a whole number of ticks, and the caller decides how long a tick is (see
//!   `workload::TimeUnit`).
//! - Random numbers come from a seeded [`Stream`]. The same inputs produce the same results on
//!   every platform and with any number of threads.
//! - A function that returns an error changes nothing unless its documentation says otherwise. A
//!   function that panics on bad arguments has a *Panics* section.
//! - In statements about cost, N is the number of nodes.
//!
//! # Allocation
//!
//! A [`Machine`] combines a [`Grid`] of nodes with a strategy. The machine either grants a
//! [`Request`] and returns a [`Placement`], or refuses the request and gives a reason. An exact
//! strategy such as `tff` refuses a request only if no box of free nodes has the requested sides.
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
//! Most strategies are defined by a rule that chooses where to put a box with given sides. To write
//! one, implement [`BoxRule`](strategies::contiguous::BoxRule) and pass the rule to
//! [`entry`](strategies::contiguous::entry). The resulting strategy tries all orientations of a
//! request and claims to refuse only if no box is free, which the conformance suite tests. A
//! strategy that grants other sets of nodes implements [`Strategy`](strategies::Strategy).
//!
//! ```
//! use pavior::strategies::contiguous::{BoxRule, Scored, View, entry};
//! use pavior::strategies::{Registry, Scan, conformance};
//! use pavior::{JobId, Machine, Request, Sides};
//!
//! /// Chooses the free position with the least contact with busy nodes and the border.
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
//! A `Scheduler` chooses the next job to start, and is called again until it chooses none. It sees
//! the queue and the running jobs, and can ask a `MachineView` whether a job could start now. A
//! `Dispatcher` keeps the machine, the queue and the running jobs consistent; your program supplies
//! the time and the events.
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
//! The `answers` module explains refusals. Its `why` function finds the box that will be free
//! first, the jobs that currently hold it, and, within limits, moves that would free a box
//! immediately. Asking a question never changes the machine.
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
//! A simulation runs synthetic or logged jobs with a given scheduler and strategy, and computes
//! metrics. With a simulated network, jobs send messages over the machine's links, each job ends
//! once its messages have arrived, and a tick is one network cycle.
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
//! // The mean number of cycles between a message's creation and its delivery.
//! assert!(measured.value("latency") > Some(10.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Experiments and drawings
//!
//! A `Specification` describes one run for every combination of the listed values, and all runs use
//! the same jobs. Replications are added until the means are as precise as requested. The result is
//! a table with confidence intervals, which `draw` can turn into an SVG chart.
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
//! The `files` module limits the size of lines and inputs, and writes files atomically. Log readers
//! accept any `BufRead`.
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
