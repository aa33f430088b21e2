//! The page, questions and metrics of a machine whose ledger is another program's: Slurm's or
//! Kubernetes'.
//!
//! A door publishes a [`View`] on a [`Board`] as often as it has read its ledger. The board tells
//! pages what has changed. Nothing is changed by any question, and nothing is kept but the last
//! changes and how full the machine was.

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

pub use answers::{Answers, Told, joined, part, snapshot};
pub use board::Board;
pub use hosts::for_hosts;
pub use probes::probes;
pub use site::site;

/// What is said of a machine at its head.
#[derive(Clone, Debug)]
pub struct Head {
    /// What it is called.
    pub name: String,
    /// Its grid, such as `torus:4x4x4`.
    pub machine: String,
    /// The strategy.
    pub strategy: String,
    /// Whose ledger is shown, in a word for the page.
    pub ledger: &'static str,
}

/// What the page draws: leases and requests by their names, and nodes that are not available.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// What is held.
    pub leases: BTreeMap<String, Value>,
    /// What waits, in order.
    pub waiting: Vec<(String, Value)>,
    /// The coordinates of nodes that cannot be had.
    pub failed: Vec<Vec<u16>>,
}

/// A question of the page.
#[derive(Clone, Debug, Deserialize)]
pub struct Asked {
    /// The sides of a box.
    pub shape: Option<Vec<u64>>,
    /// A number of nodes.
    pub nodes: Option<u64>,
    /// A job that waits, in place of a shape.
    pub waiting: Option<String>,
}

/// A machine at an instant. The shapes of its answers are those of `pavior serve`, which the page
/// reads.
pub trait View: Send + Sync + 'static {
    /// The instant, in seconds since 1970.
    fn now(&self) -> u64;
    /// What stands at the head.
    fn head(&self) -> Head;
    /// What is drawn.
    fn drawn(&self) -> Drawn;
    /// How many nodes are held.
    fn busy(&self) -> u32;
    /// The nodes of the largest free box.
    fn largest_free(&self) -> u64;
    /// What the first jobs of the queue wait for, and how many there are.
    fn queue(&self, most: usize) -> (Vec<Value>, usize);
    /// What the strategy would do with a request, and what stands in its way.
    ///
    /// # Errors
    /// Why the request is none of the machine's.
    fn explain(&self, asked: &Asked) -> Result<Value, String>;
    /// How many boxes of a shape can be placed side by side.
    ///
    /// # Errors
    /// Why the shape is none of the machine's.
    fn slots(&self, shape: &str) -> Result<Value, String>;
    /// What a job waits for or holds, in sentences.
    ///
    /// # Errors
    /// That there is no such job.
    fn why(&self, job: &str) -> Result<String, String>;
}

/// Seconds since 1970 as a date.
fn date(seconds: u64) -> String {
    pavior_kernel::Date(std::time::Duration::from_secs(seconds)).to_string()
}
