//! Forecasts of start times, as intervals that should be correct nine times out of ten.
//!
//! A [`Forecaster`] learns from the events on a machine. To answer a question, it simulates the
//! machine's own strategy and scheduler several times ([`Effort`]). Run times are drawn from the
//! [`Past`], and arrivals resemble those in the last few days. The errors of earlier forecasts are
//! used to correct later ones, so that nine out of ten intervals are correct. [`replay`] makes such
//! forecasts for a log, job by job, and compares each forecast with the actual start. [`Score`]
//! summarizes the errors made by these forecasts and by other methods.
//!
//! A [`StartQuestion`] contains the state of a machine, its queue and its past, and can be answered
//! on any thread. The answer is a [`QueueForecast`], which contains a [`Start`] for each job and
//! the [`Experience`] on which the starts are based. A start contains either times or the
//! [`Obstacle`] that prevents the job from starting. The answer can be formatted as JSON
//! ([`QueueForecast::json`]) and in words ([`QueueForecast::words`]).
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
pub use score::{Score, Third, thirds};
pub use start::{Obstacle, Start, StartJson};
pub use words::StartWords;

/// The length of a future. A job that has not started by the end of the future may start later.
pub const HORIZON: Time = Time(60 * 24 * 3600 * TimeUnit::SECOND.ticks);
