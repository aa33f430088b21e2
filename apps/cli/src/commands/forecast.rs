//! `pavior forecast`: predicts when jobs will start. For a log, each prediction uses only what was
//! known when the job was submitted. For a queue, predictions are based on the current state.

mod state;

use std::io::{self, Write};
use std::path::Path;

use pavior::answers::forecasts::{Effort, Forecast, Judged, Score, Third};
use pavior::experiments::{Environment, RunSettings, forecast_log};
use pavior::workload::TimeUnit;
use serde_json::json;

use crate::args::ForecastArgs;
use crate::failure::Failure;
use crate::output::{self, Reply, Table};
use crate::progress::Bar;
use crate::{files, logs, pool, settings};

pub(crate) fn run(args: &ForecastArgs) -> Result<(), Failure> {
    let threads = pool::count(args.pool.threads)?.min(args.futures.into());
    let effort = Effort { futures: args.futures.into(), threads, seed: 1 };
    match &args.log {
        Some(log) => of_log(args, log, effort),
        None => state::run(args, effort),
    }
}

fn of_log(args: &ForecastArgs, log: &Path, effort: Effort) -> Result<(), Failure> {
    files::check_output("--out", args.out.as_deref(), &[("", Some(log))])?;
    let settings = run_settings(args, log)?;
    let effort = Effort { seed: settings.seed, ..effort };
    let mut judged = Vec::new();
    let folder = logs::folder("");
    let rejected = Bar::during("forecast", |bar| {
        let environment = Environment { files: &folder, progress: bar, ..Environment::PLAIN };
        forecast_log(&settings, effort, environment, |job| judged.push(job))
    })?;
    judged.sort_unstable_by_key(|job| (job.submit, job.number));
    if let Some(path) = &args.out {
        files::write_whole(path, |out| lines(out, &judged))?;
    }
    let format = args.output.format();
    reply(&Score::of(&judged), rejected).print(format, output::width())
}

/// Reads the settings, which must describe exactly one run of the log.
fn run_settings(args: &ForecastArgs, log: &Path) -> Result<RunSettings, Failure> {
    let typed = args.parameters.settings_for(log);
    let specification = settings::specification(&typed, "forecast")?;
    match &specification.points[..] {
        [point] => Ok(point.settings().clone()),
        _ => Err(Failure::usage(
            "a forecast requires exactly one machine, one strategy and one scheduler",
        )),
    }
}

/// Writes one line per job, with times in seconds on the log's clock.
fn lines(out: &mut dyn Write, judged: &[Judged]) -> io::Result<()> {
    writeln!(out, "job,user,nodes,submit,low,median,high,plan,corrected,start,held")?;
    for job in judged {
        let Forecast { low, median, high, plan, .. } = job.forecast;
        let user = job.kind.user.map(|user| user.to_string()).unwrap_or_default();
        write!(out, "{},{user},{},{}", job.number, job.kind.nodes, seconds(job.submit))?;
        let times = [low, median, high, plan, job.rivals.corrected, job.start];
        times.into_iter().try_for_each(|time| write!(out, ",{}", seconds(time)))?;
        writeln!(out, ",{}", u8::from(job.held()))?;
    }
    Ok(())
}

fn seconds(time: pavior::Time) -> f64 {
    TimeUnit::SECOND.units(time).round()
}

/// Creates a reply that reports the accuracy of the intervals.
fn reply(score: &Score, rejected: u64) -> Reply<'static> {
    let losses = [
        ("intervals", score.loss),
        ("plan", score.plan_loss),
        ("plan with corrected estimates", score.corrected_loss),
        ("quantiles of past waits", score.past_waits_loss),
    ];
    let json = json!({
        "jobs": score.jobs,
        "rejected": rejected,
        "waited": score.waited,
        "mean_wait_s": score.mean_wait,
        "held": (score.waited > 0).then_some(score.held),
        "held_by_nodes": score.thirds.map(|third| json!({
            "jobs": third.jobs, "held": third.held,
        })),
        "width_s": score.width,
        "loss_s": score.loss,
        "loss_plan_s": score.plan_loss,
        "loss_corrected_s": score.corrected_loss,
        "loss_past_waits_s": score.past_waits_loss,
    });
    let rows = losses.map(|(name, loss)| vec![name.to_string(), format!("{loss:.1}")]);
    let hours = losses.map(|(name, loss)| vec![name.to_string(), format!("{:.2}", loss / 3600.0)]);
    Reply {
        json,
        csv: (&["forecast", "loss_s"], rows.to_vec()),
        sentences: vec![sentence(score, rejected)],
        tables: vec![Table::new(&["forecast", "pinball loss (h)"], 1).with_rows(hours)],
    }
}

fn sentence(score: &Score, rejected: u64) -> String {
    let Score { jobs, waited, held, thirds, width, mean_wait, .. } = score;
    let share = |third: &Third| match third.jobs {
        0 => "no job".to_string(),
        _ => format!("{:.1}%", 100.0 * third.held),
    };
    let thirds = thirds.each_ref().map(share);
    let never = match rejected {
        0 => String::new(),
        _ => format!(" {} can never fit.", output::count(rejected, "job")),
    };
    if *waited == 0 {
        return format!("0 of {jobs} jobs had to wait.{never}");
    }
    format!(
        "{waited} of {jobs} jobs had to wait, {:.1} h on average.{never} The 90% interval \
         contained the start times of {:.1}% of the jobs that waited ({} for small, medium and \
         large jobs, respectively); its median width was {:.1} h.",
        mean_wait / 3600.0,
        100.0 * held,
        thirds.join(", "),
        width / 3600.0,
    )
}
