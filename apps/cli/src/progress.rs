//! A progress bar on standard error, shown only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pavior::experiments::Progress;

/// A progress bar for replications, jobs or other units of work.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Runs a function with a bar labeled with the name of an experiment, and removes the bar.
    pub(crate) fn during<T>(name: &str, work: impl FnOnce(&Bar) -> T) -> T {
        // The bar hides itself if standard error is not a terminal.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(5));
        // Even with six-digit counts, the bar fits in 80 columns.
        let style =
            ProgressStyle::with_template("{prefix} {bar:20} {pos}/{len}  {elapsed}, {eta} left");
        let prefix: String = pavior::text::cell(name).chars().take(18).collect();
        let bar = bar.with_style(style.expect("the template is valid")).with_prefix(prefix);
        let bar = Bar(bar);
        let result = work(&bar);
        bar.0.finish_and_clear();
        result
    }
}

impl Progress for Bar {
    fn planned(&self, runs: u64) {
        self.0.inc_length(runs);
    }

    fn done(&self) {
        self.0.inc(1);
    }
}
