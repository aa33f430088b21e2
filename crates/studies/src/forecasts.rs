//! The forecast study predicts start times for the jobs in a log and compares each predicted
//! interval with the actual start. Its experiment has one log per point; each log is judged
//! separately.

use pavior::experiments::{LogScore, Specification};

use crate::folder::{self, PaperError};
use crate::yardstick;

/// The study's name in `pavior reproduce`, and the name of its directory.
pub const NAME: &str = "forecasts";

/// The number of futures per forecast.
pub const FUTURES: usize = 8;

/// The required range for the share of waiting jobs that start within their 90% interval.
const HELD: [f64; 2] = [0.87, 0.93];
/// Like [`HELD`], but for each third of the jobs, grouped by node count.
const THIRD_HELD: [f64; 2] = [0.82, 0.97];
/// The minimum number of jobs in a third for it to be judged.
const FEWEST: u64 = 500;

/// Returns the text of the experiment file. The quick version uses only a few jobs from each log.
///
/// # Errors
/// Returns an error if a file is not valid TOML.
pub fn experiment(quick: bool) -> Result<String, PaperError> {
    let experiment = include_str!("../papers/forecasts/experiment.toml");
    if !quick {
        return Ok(experiment.to_string());
    }
    folder::replaced(experiment, include_str!("../papers/forecasts/quick.toml"))
}

/// Reads the experiment.
///
/// # Errors
/// Returns an error if anything in the file is invalid.
pub fn specification(quick: bool) -> Result<Specification, PaperError> {
    let file = if quick { folder::QUICK } else { folder::EXPERIMENT };
    folder::specification(file, experiment(quick)?, NAME)
}

/// A log and the verdict on its forecasts.
pub struct JudgedLog {
    /// The log's name, without its file extension.
    pub log: String,
    /// The machine on which the log is replayed.
    pub machine: String,
    /// The quality of the forecasts.
    pub forecasts: LogScore,
}

impl JudgedLog {
    /// Pairs each point of the experiment with its score, in order.
    pub fn all(specification: &Specification, scores: Vec<LogScore>) -> Vec<JudgedLog> {
        let points = specification.points.iter().zip(scores);
        let one = |(point, forecasts): (&pavior::experiments::Point, LogScore)| {
            let file = point.get("trace").unwrap_or_default();
            let log = file.split_once(".swf").map_or(file, |(name, _)| name).to_string();
            let machine = point.get("machine").unwrap_or_default().to_string();
            JudgedLog { log, machine, forecasts }
        };
        points.map(one).collect()
    }

    /// Returns true if the intervals contain the actual start as often as required. Returns `None`
    /// if none of the log's jobs has an estimate, because then there is no verdict.
    pub fn holds(&self) -> Option<bool> {
        let LogScore { score, estimates, .. } = &self.forecasts;
        let within = |[low, high]: [f64; 2], held: f64| low <= held && held <= high;
        let mut thirds = score.thirds.iter().filter(|third| third.jobs >= FEWEST);
        let all = || within(HELD, score.held) && thirds.all(|third| within(THIRD_HELD, third.held));
        estimates.then(all)
    }

    /// Returns true if the loss is lower than that of every other forecast method. Returns `None`
    /// if there is no verdict.
    pub fn leads(&self) -> Option<bool> {
        let LogScore { score, estimates, .. } = &self.forecasts;
        let others = [score.plan_loss, score.corrected_loss, score.past_waits_loss];
        estimates.then(|| others.iter().all(|&other| score.loss < other))
    }

    /// The columns of [`JudgedLog::cells`].
    pub const COLUMNS: [&str; 21] = [
        "log",
        "machine",
        "jobs",
        "rejected",
        "waited",
        "mean_wait_h",
        "held",
        "small",
        "small_held",
        "middle",
        "middle_held",
        "large",
        "large_held",
        "width_h",
        "loss_h",
        "plan_loss_h",
        "corrected_loss_h",
        "past_waits_loss_h",
        "estimates",
        "holds",
        "leads",
    ];

    /// Returns a table row, with fractions and hours to three decimal places.
    pub fn cells(&self) -> Vec<String> {
        let LogScore { score, rejected, estimates } = &self.forecasts;
        let hours = |seconds: f64| format!("{:.3}", seconds / 3600.0);
        let share = |share: f64| format!("{share:.3}");
        let word = |judged: Option<bool>| match judged {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let mut cells = vec![self.log.clone(), self.machine.clone()];
        cells.extend([score.jobs, *rejected, score.waited].map(|count| count.to_string()));
        cells.extend([hours(score.mean_wait), share(score.held)]);
        for third in score.thirds {
            cells.extend([third.jobs.to_string(), share(third.held)]);
        }
        let losses = [score.loss, score.plan_loss, score.corrected_loss, score.past_waits_loss];
        cells.push(hours(score.width));
        cells.extend(losses.map(hours));
        cells.extend(
            [word(Some(*estimates)), word(self.holds()), word(self.leads())].map(str::to_string),
        );
        cells
    }
}

/// Writes the rows as CSV.
///
/// # Errors
/// Returns an error if the writer fails.
pub fn write(logs: &[JudgedLog], out: &mut dyn std::io::Write) -> Result<(), csv::Error> {
    yardstick::write(&JudgedLog::COLUMNS, logs.iter().map(JudgedLog::cells), out)
}

/// Summarizes the results in words.
pub fn in_words(logs: &[JudgedLog]) -> String {
    let judged: Vec<&JudgedLog> = logs.iter().filter(|log| log.forecasts.estimates).collect();
    let count = |good: fn(&JudgedLog) -> Option<bool>| {
        judged.iter().filter(|log| good(log) == Some(true)).count()
    };
    format!(
        "Interval coverage is as intended on {} of {} logs with user estimates: 87 to 93% over all \
         waiting jobs, and 82 to 97% in each third by node count that has at least {FEWEST} jobs. \
         Forecasts have the lowest loss on {} of these logs.",
        count(JudgedLog::holds),
        judged.len(),
        count(JudgedLog::leads),
    )
}
