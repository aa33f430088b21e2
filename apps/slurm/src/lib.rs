//! The `pavior slurm` daemon, which allocates boxes of nodes to the jobs in a Slurm cluster.
//!
//! Users keep using Slurm, and Slurm is the only ledger, so the daemon stores nothing on disk.
//! Every job in the partition requests the license `pavior`. Because this license is reserved for
//! root, no job starts without the daemon. In each cycle, the daemon
//!
//! 1. reads nodes and jobs (`ledger`),
//! 2. builds a machine from this data, uses Pavior's scheduler to select waiting jobs in Slurm's
//!    order, and decides which gates to open or close (`plan`),
//! 3. sends these changes to Slurm (`carry`). Opening a gate takes one update, which sets the job's
//!    exact nodes and removes the license. Closing it takes one update that does the reverse; Slurm
//!    rejects the whole update if the job has started. Each update is therefore a compare-and-swap,
//!    and the daemon can be killed between any two steps.
//!
//! The daemon runs as root and processes output that contains text from users. Three rules make
//! this safe: records carry an unguessable mark (`ledger::records`), a malformed record does not
//! affect others, and everything written to `scontrol` consists of values that match a grammar
//! (`names`). In addition, `show` explains jobs and serves the page, `gate` runs in slurmctld, and
//! `setup` installs, checks and removes everything.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod calls;
mod carry;
mod config;
mod daemon;
mod error;
mod gate;
mod ledger;
mod names;
mod plan;
mod setup;
mod show;

pub use config::Config;
pub use daemon::observer::{ADDRESS, observe};
pub use daemon::{DaemonOptions, run};
pub use error::{CallFault, SlurmError};
pub use setup::check::{Findings, check};
pub use setup::install::install;
pub use setup::uninstall::{Removal, uninstall};
pub use show::why::why;
