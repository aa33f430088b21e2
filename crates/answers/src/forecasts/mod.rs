//! When waiting jobs will start, as intervals that hold.
//!
//! A [`Forecaster`] hears what happens on a machine. Asked about a state, it runs the machine's own
//! strategy and scheduler forward several times ([`Effort`]), with run times of the [`Past`] and
//! arrivals like those of the last days. What earlier promises were off shifts later ones, so that
//! nine of ten hold. [`replay`] does so for a log, a job at a time, and holds each promise against
//! what came; [`Score`] says how good they were, beside what others would have said.
//!
//! A [`StartQuestion`] is a state of a machine with its queue and its past, which any thread can
//! answer. The answer is a [`QueueForecast`]: a [`Start`] for each job, with its times or the
//! [`Obstacle`] why it has none, and the [`Experience`] behind them. It has one form in JSON
//! ([`QueueForecast::json`]) and one in words ([`QueueForecast::words`]).
//!
//! Times are in ticks of [`TimeUnit::SECOND`](pavior_workload::TimeUnit::SECOND).

mod arrivals;
mod calibration;
mod draws;
mod forecaster;
mod future;
mod kind;
mod obstacle;
mod past;
mod question;
mod queue;
mod replay;
mod score;
mod start;
mod words;

use pavior_kernel::Time;
use pavior_workload::TimeUnit;

pub use calibration::Record;
pub use forecaster::{Effort, Forecast, ForecastError, Forecaster};
pub use kind::Kind;
pub use past::Past;
pub use question::StartQuestion;
pub use queue::{Experience, QueueForecast};
pub use replay::{Judged, Linked, Rivals, learn, replay, replay_linked};
pub use score::{Score, Third};
pub use start::{Obstacle, Place, Start, StartJson};
pub use words::StartWords;

/// How far ahead futures run: what has not started by then may start later still.
pub const HORIZON: Time = Time(60 * 24 * 3600 * TimeUnit::SECOND.ticks);
