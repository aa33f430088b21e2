//! Experiments, which repeat simulations until the means are precise enough.
//!
//! Every run belongs to a [`Point`], which has a value for each applicable parameter in
//! [`parameters::ALL`]. [`RunSettings`] defines what these values mean in combination. A
//! [`Specification`] contains many points, which come from an experiment file or from individual
//! settings. It runs all points in parallel on the same jobs (common random numbers), and adds
//! independent replications until each metric's mean is precise enough. Results depend only on the
//! points, never on the number of threads.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod advice;
mod batches;
pub mod bench;
mod boxes;
mod catalogue;
mod chart;
mod confidence;
mod differences;
pub mod directory;
mod fingerprint;
mod folder;
mod forecasts;
mod formula;
mod given;
mod inputs;
mod journal;
mod json;
mod keys;
mod orders;
mod paired;
pub mod parameters;
mod point;
mod publish;
mod replications;
mod results;
mod sample;
mod scenario;
mod settings;
pub mod snapshot;
mod specification;
mod student;
mod sweep;

pub use catalogue::Catalogue;
pub use chart::{chart, heading};
pub use confidence::{Median, Policy, half_width, mean, median};
pub use differences::{Difference, differences, write_differences};
pub use fingerprint::BUILD;
pub use folder::{Folder, LogError, read_log, read_log_from, summarize_log};
pub use forecasts::{
    FIRST_INSTANT, LogForecastError, LogScore, forecast_log, forecast_points, learn_log,
};
pub use formula::Formula;
pub use given::Given;
pub use inputs::{InputError, InputFiles, InputRequest, ListRequest, LogRequest, NoFiles};
pub use journal::{JournalEntry, NoStore, Store};
pub use keys::Keys;
pub use orders::Orders;
pub use paired::Paired;
pub use pavior_files::Limits;
pub use point::Point;
pub use publish::{Provenance, Publication};
pub use replications::Replications;
pub use results::{Line, MeasuredTime, PointResult, Summary, Table, target_missed};
pub use sample::Sample;
pub use scenario::{PlacedCounts, RunRecord, Scenario};
pub use settings::{
    Asked, BusyBoxes, FailureSettings, FailureSource, JobSettings, JobSource, LogSettings,
    MigrationSettings, NetworkParameters, NetworkSettings, RunSettings, SnapshotSettings,
};
pub use specification::{
    Axis, Figure, LeftOut, Setting, SettingError, Specification, StatedMark, schema,
};
pub use student::student_t;

pub mod report {
    //! Building blocks for programs that add their own sections to reports.

    pub use pavior_draw::{Page, Section, SectionTable, html};
}
pub use sweep::{Environment, NoProgress, Progress, Recording, Samples, Shard, Span, SweepError};
