//! All metrics, each computed by an observer in its own file.
//!
//! No observer computes `allocation_ns`. Instead, it is measured by the run's stopwatch and
//! returned as part of the run's outcome.

mod attempts;
mod block_error;
mod blocking;
mod blocks_per_job;
mod broken_guarantees;
mod busy_submeshes;
mod carried;
mod completed;
mod count;
mod dispersal;
mod energy;
mod external_fragmentation;
mod hops;
mod internal_fragmentation;
mod interruptions;
mod job_hops;
mod job_link_load;
mod jobs_hit;
mod largest_free;
mod latency;
mod makespan;
mod mean;
mod migrations;
mod node_time_lost;
mod options;
mod overtakings;
mod rejected;
mod service;
mod slice;
mod slots;
mod slots_arriving;
mod slowdown;
mod time_average;
mod turnaround;
mod turnaround_error;
mod utilization;
mod utilization_arriving;
mod utilization_granted;
mod waiting;
mod waiting_error;
mod waiting_max;
mod waiting_of;
mod waiting_p99;
mod waits;

use pavior_kernel::{BadName, bare_name, unknown_name};
use pavior_mesh::Grid;
use pavior_network::Energy;
use pavior_workload::TimeUnit;

use crate::Observer;

/// The description of a metric, and its constructor.
pub struct MetricSpec {
    /// The name in results.
    pub name: &'static str,
    /// A phrase that describes the metric.
    pub meaning: &'static str,
    /// The unit.
    pub unit: Unit,
    /// True if the metric is computed by default.
    pub standard: bool,
    /// The constructor for the observer that computes the metric during a run.
    pub build: fn(&Context) -> Box<dyn Metric>,
}

impl MetricSpec {
    /// Creates an observer for a run, using the option given in the metric's name.
    pub fn observer(&self, context: &Context) -> Box<dyn Metric> {
        let option = self.name.split_once(':').map_or("", |(_, option)| option);
        (self.build)(&Context { option, ..*context })
    }
}

/// Returns the metric with the given name, such as `turnaround` or `slots:4x4x4`.
///
/// # Errors
/// Returns an error if the metric is unknown or its option is invalid. For an unknown metric, the
/// error may suggest a similar name.
pub fn named(text: &str) -> Result<&'static MetricSpec, BadName> {
    let option = text.split_once(':').map_or("", |(_, option)| option);
    match bare_name(text) {
        name if name == slots::SPEC.name => return slots::of_shape(&slots::SPEC, option),
        name if name == slots_arriving::SPEC.name => {
            return slots::of_shape(&slots_arriving::SPEC, option);
        }
        name if name == waiting_of::SPEC.name => return waiting_of::of_sizes(option),
        _ => {}
    }
    ALL.iter().copied().find(|spec| spec.name == text).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
        unknown_name("metric", text, &known)
    })
}

/// The properties of a run that metrics depend on.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The machine's grid.
    pub grid: Grid,
    /// The workload's unit of time.
    pub time: TimeUnit,
    /// The minimum run time assumed for bounded slowdown, in time units.
    pub slowdown_bound: f64,
    /// The number of cycles needed to route a header through a node.
    pub routing_delay: u32,
    /// The energy parameters.
    pub energy: Energy,
    /// The text after the colon in the metric's name, or an empty string.
    pub option: &'static str,
}

impl Context {
    /// Creates the default context for runs on a machine.
    ///
    /// ```
    /// # mod pavior { pub use pavior_simulation as simulation; }
    /// let context = pavior::simulation::metrics::Context::of("mesh:8x8".parse()?);
    /// assert_eq!(context.nodes(), 64.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(grid: Grid) -> Context {
        Context {
            grid,
            time: TimeUnit::TIME_UNIT,
            slowdown_bound: 1.0,
            routing_delay: 3,
            energy: Energy::default(),
            option: "",
        }
    }

    /// Returns the number of nodes in the machine.
    pub fn nodes(&self) -> f64 {
        f64::from(self.grid.nodes())
    }
}

/// An observer that computes a single number.
pub trait Metric: Observer {
    /// Returns the metric's value after the run, or `None` if the metric does not apply.
    fn value(&self) -> Option<f64>;
}

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The workload's unit of time.
    Time,
    /// A fraction of a whole, from 0 to 1.
    Fraction,
    /// A ratio between two quantities of the same kind.
    Ratio,
    /// A plain count.
    Count,
    /// Network cycles.
    Cycles,
    /// Energy, in the unit of the energy parameters.
    Energy,
    /// Nanoseconds, measured by a clock.
    Nanoseconds,
}

impl Unit {
    /// Returns the word that results use for the unit.
    pub fn word(self, time: TimeUnit) -> &'static str {
        match self {
            Unit::Time => time.name,
            other => other.general_word(),
        }
    }

    /// Returns the word to use for the unit when the workload's time unit is not known.
    pub fn general_word(self) -> &'static str {
        match self {
            Unit::Time => "time",
            Unit::Fraction => "fraction",
            Unit::Ratio => "ratio",
            Unit::Count => "count",
            Unit::Cycles => "cycle",
            Unit::Energy => "energy",
            Unit::Nanoseconds => "ns",
        }
    }
}

/// The name of the one metric that no observer computes.
pub const ALLOCATION_NS: &str = "allocation_ns";

/// The description of `allocation_ns`.
pub const ALLOCATION_NS_MEANING: &str =
    "measured time per attempt, excluding the clock's overhead (omitted with --no-timing)";

/// All observed metrics, in the order in which results list them.
pub static ALL: &[&MetricSpec] = &[
    &turnaround::SPEC,
    &waiting::SPEC,
    &service::SPEC,
    &slowdown::SPEC,
    &utilization::SPEC,
    &utilization_granted::SPEC,
    &busy_submeshes::SPEC,
    &blocks_per_job::SPEC,
    &external_fragmentation::SPEC,
    &internal_fragmentation::REQUIRED,
    &internal_fragmentation::GRANTED,
    &attempts::SPEC,
    &completed::SPEC,
    &rejected::SPEC,
    &makespan::SPEC,
    &latency::SPEC,
    &blocking::SPEC,
    &hops::SPEC,
    &energy::SPEC,
    &dispersal::SPEC,
    &interruptions::SPEC,
    &largest_free::SPEC,
    &slots::SPEC,
    &waiting_max::SPEC,
    &waiting_max::SMALL,
    &waiting_max::MEDIUM,
    &waiting_max::LARGE,
    &waiting_p99::SPEC,
    &waiting_p99::SMALL,
    &waiting_p99::MEDIUM,
    &waiting_p99::LARGE,
    &overtakings::SPEC,
    &broken_guarantees::SPEC,
    &job_hops::SPEC,
    &job_link_load::SPEC,
    &turnaround_error::SPEC,
    &waiting_error::SPEC,
    &waiting_of::SPEC,
    &jobs_hit::SPEC,
    &node_time_lost::SPEC,
    &utilization_arriving::SPEC,
    &slots_arriving::SPEC,
    &slice::AVAILABILITY,
    &slice::FREE,
    &migrations::MOVES,
    &migrations::NODES,
    &migrations::TIME,
];
