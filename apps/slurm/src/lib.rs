//! `pavior slurm`: boxes of nodes for the jobs of an unmodified Slurm.
//!
//! Slurm stays what users talk to, and the only ledger: the daemon keeps nothing on disk. Every job
//! of its partition needs the licence `pavior`, which is reserved for root, so none starts by
//! itself. In each cycle the daemon
//!
//! 1. reads nodes and jobs (`ledger`),
//! 2. makes a machine that equals them (`state`),
//! 3. lets the project's own scheduler choose among the waiting jobs, in Slurm's order (`cycle`),
//! 4. opens the gate of the chosen ones: one update names exactly their nodes and takes the licence
//!    away; and closes it again where a job cannot start (`command`).
//!
//! What Slurm prints holds text of users', and the daemon acts as root on it. So records carry a
//! mark that nobody can guess (`records`). A record that cannot be read spoils no other (`ledger`).
//! What is written to `scontrol` is made of values that have a grammar (`names`).
//!
//! Closing is one update as well, and Slurm refuses it as a whole if the job has started meanwhile:
//! a compare-and-swap. So the daemon can be killed between any two steps: the next one reads what
//! is.

mod ask;
mod candidates;
mod check;
mod command;
mod conf;
mod config;
mod cycle;
mod daemon;
mod demands;
mod error;
mod forecast;
mod gate;
mod hosts;
mod install;
mod ledger;
mod limits;
mod manager;
mod metrics;
mod names;
mod node_names;
mod observe;
mod preempt;
mod question;
mod reason;
mod records;
mod reservations;
mod shape;
mod site;
mod start;
mod state;
mod troubles;
mod trusted;
mod turn;
mod uninstall;
mod unit;
mod why;

pub use check::{Findings, check};
pub use config::Config;
pub use daemon::{DaemonOptions, run};
pub use error::SlurmError;
pub use install::install;
pub use observe::{ADDRESS, observe};
pub use uninstall::{Removal, uninstall};
pub use why::why;

/// The licence that every job of the partition waits for, and the reservation that keeps it, unless
/// the configuration names another.
pub(crate) const LICENCE: &str = "pavior";
