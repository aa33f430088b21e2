//! Workloads: jobs from synthetic streams and from logs.
//!
//! [`SyntheticJobs`] draws an endless stream of jobs. [`traces`] reads logs, and
//! [`traces::TraceJobs`] replays their records with shapes from a [`Shaper`]. A [`Generator`]
//! produces a log, and [`inspect`] summarizes one. [`Failures`] draws component failures and
//! repairs, and [`Ask`] reads a caller's request. Each name given on the command line becomes a
//! [`Selection`] from a [`Family`].
//!
//! This crate does not open files, print, or depend on strategies or schedulers.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod arrivals;
mod ask;
mod condition;
mod failures;
mod freedom;
mod generators;
pub mod hosts;
pub mod inspect;
mod job;
mod reservations;
mod shape;
mod synthetic;
pub mod traces;
mod values;

pub use arrivals::Arrivals;
pub use ask::{Ask, AskFault};
pub use condition::{Condition, JobRule};
pub use failures::{
    BadFailures, Change, Component, ComponentKind, FailureClass, FailureClasses, FailureEvent,
    Failures, SWITCHES, read_failures,
};
pub use freedom::{FreedomRule, freedom_named};
pub use generators::{Class, Generator, Lublin, LublinJobs};
pub use job::{Job, Service, TimeUnit};
pub use pavior_kernel::{Family, Selection};
pub use reservations::{ReservedNodes, read_reservations};
pub use shape::{ShapeRule, Shaper};
pub use synthetic::{
    ArrivalProcess, DrawService, DrawSides, Gaps, ServiceDistribution, SideDistribution, Synthetic,
    SyntheticError, SyntheticJobs,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
