//! Logs of past jobs: readers for all formats, writers for some, and log replay.
//!
//! Readers accept any [`BufRead`](std::io::BufRead). The caller handles files, archives and names.
//! All formats follow the rules in `record.rs`, so a log has the same meaning in every format.

pub mod batsim;
mod dependencies;
mod error;
mod estimates;
mod filter;
mod format;
mod header;
mod json_list;
pub mod kubectl;
mod latest;
mod names;
pub mod pbs;
mod record;
mod replay;
mod report;
pub mod sacct;
pub mod sacct_json;
pub mod sim;
pub mod swf;
mod text;

pub(crate) use dependencies::{Links, in_log_order};
use pavior_kernel::Time;

pub use dependencies::{Dependencies, Dependency, Event, Link, Predecessor, link_sessions};
pub use error::{LineError, ReadError};
pub use estimates::Estimates;
pub use filter::Filter;
pub use format::Format;
pub use header::Header;
pub use names::{Field, Names};
pub use record::{ReadOptions, Record, Tags, Trace};
pub use replay::{Replay, TraceJobs};
pub use report::{LineCount, Note, Report, Skip};
pub use text::Lines;

/// Formats ticks as seconds with as few decimals as possible, such as `90` or `1.5`.
fn seconds(time: Time) -> String {
    let (whole, micros) = (time.0 / 1_000_000, time.0 % 1_000_000);
    let text = format!("{whole}.{micros:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
