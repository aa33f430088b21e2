//! Processor allocation: strategies that choose nodes for jobs.
//!
//! A [`Strategy`] reads the free nodes and proposes a [`Placement`]. It changes nothing and has no
//! access to the jobs. A [`Machine`] owns the occupancy, asks its strategy for a proposal, commits
//! the proposal, and records which nodes each job holds. The [`Registry`] lists every strategy and
//! its claim. [`conformance`] compares each claim with the [`oracle`], which tries every base.
//!
//! This crate has no notion of time, so the same code makes the decisions in a simulation and in a
//! live allocator.
//!
//! ```
//! # use pavior_allocation as pavior;
//! use pavior::{JobId, Machine, Request};
//!
//! let mut machine = Machine::new("mesh:3x3x2".parse()?, "tbl")?;
//! machine.allocate(JobId(1), &Request::shape([2, 3, 2]))?;
//! // The second job fits only when rotated (the first example in the TBL paper).
//! let placement = machine.allocate(JobId(2), &Request::shape([3, 2, 1]))?;
//! assert_eq!(placement.parts()[0].sides, [1, 3, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod allowed;
mod checked;
pub mod claim;
pub mod conformance;
pub mod contiguous;
mod errors;
pub mod explain;
mod fork;
mod freedom;
mod kind;
mod machine;
pub mod oracle;
mod placement;
mod refusal;
mod strategies;
mod strategy;
mod work;

pub use errors::{
    AllocateError, BadProposal, BuildError, PlacementError, RelocateError, UnknownJob, UnknownNode,
};
pub use fork::Fork;
pub use kind::{ANY_GRID, Entry, Registry, Selection, StrategyKind, Unsupported};
pub use machine::{Answers, Change, Machine};
pub use pavior_kernel::{
    BadEntry, BadName, CallerError, EntryHandle, OptionSpec, Options, Stream, Values,
};
pub use pavior_mesh::{
    Coordinates, Cuboid, Freedom, Grid, JobId, NodeId, Occupancy, OccupancyError, Pool, Request,
    Scan, Sides, UnknownFreedom,
};
pub use placement::Placement;
pub use refusal::Refusal;
pub use strategies::{MfaCandidate, MfaSide, MfaVerdict, mfa_candidates, tbl_most_pieces};
pub use strategy::Strategy;
pub use work::Work;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
