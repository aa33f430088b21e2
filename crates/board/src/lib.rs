//! The page, questions and metrics of a machine whose jobs are managed by another program: Slurm or
//! Kubernetes.
//!
//! A daemon publishes a [`View`] on a [`Board`] each time it has read its ledger. The board sends
//! the changes to pages. Questions change nothing. Only the latest changes and the history of
//! utilization are kept.

mod answers;
mod board;
mod hosts;
pub mod http;
pub mod metrics;
mod probes;
mod series;
mod site;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use answers::{Answers, Told, joined, snapshot};
pub use board::Board;
pub use hosts::for_hosts;
pub use probes::probes;
pub use site::site;

/// The description of a machine at the top of the page.
#[derive(Clone, Debug)]
pub struct Head {
    /// The name of the machine.
    pub name: String,
    /// The grid, such as `torus:4x4x4`.
    pub machine: String,
    /// The strategy.
    pub strategy: String,
    /// A word for the program that manages the jobs, for the page.
    pub ledger: &'static str,
}

/// The data that the page draws: leases and requests by name, and unavailable nodes.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// The running leases.
    pub leases: BTreeMap<String, Value>,
    /// The waiting requests, in order.
    pub waiting: Vec<(String, Value)>,
    /// The coordinates of unavailable nodes.
    pub failed: Vec<Vec<u16>>,
}

/// A question from the page.
#[derive(Clone, Debug, Deserialize)]
pub struct Asked {
    /// The sides of a box.
    pub shape: Option<Vec<u64>>,
    /// A number of nodes.
    pub nodes: Option<u64>,
    /// A waiting job, instead of a shape.
    pub waiting: Option<String>,
}

/// The state of a machine at one time. Its answers have the formats of `pavior serve`, which the
/// page reads.
pub trait View: Send + Sync + 'static {
    /// Returns the time, in seconds since 1970.
    fn now(&self) -> u64;
    /// Returns the description at the top of the page.
    fn head(&self) -> Head;
    /// Returns the data to draw.
    fn drawn(&self) -> Drawn;
    /// Returns the number of held nodes.
    fn busy(&self) -> u32;
    /// Returns the number of nodes of the largest free box.
    fn largest_free(&self) -> u64;
    /// Returns the reasons why the first jobs in the queue are waiting, and the number of waiting
    /// jobs.
    fn queue(&self, most: usize) -> (Vec<Value>, usize);
    /// Explains the strategy's answer to a request and the obstacles.
    ///
    /// # Errors
    ///
    /// The reason why the request does not fit the machine.
    fn explain(&self, asked: &Asked) -> Result<Value, String>;
    /// Counts the boxes of a shape that fit at the same time.
    ///
    /// # Errors
    ///
    /// The reason why the shape does not fit the machine.
    fn slots(&self, shape: &str) -> Result<Value, String>;
    /// Explains in sentences why a job is waiting, or which nodes it holds.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such job.
    fn why(&self, job: &str) -> Result<String, String>;
}

/// Formats seconds since 1970 as a date.
fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
