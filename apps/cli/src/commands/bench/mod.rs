//! `pavior bench`: measures the time per allocation.

mod report;

use std::path::Path;

use pavior::Request;
use pavior::experiments::Setting;
use pavior::experiments::bench::Bench;
use pavior::strategies::Selection;

use self::report::{Report, StreamLabel};
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::input::{self, Strategies};
use crate::output::{self, Format};
use crate::progress::Bar;
use crate::{files, settings};

/// The minimum number of random requests to generate before the stream repeats.
const MIN_DRAWN_REQUESTS: usize = 100_000;

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let Strategies { chosen: strategies, skipped } =
        input::strategies(&args.strategy, &grid, args.skip_unsupported)?;
    if let Some(fill) = args.fill.filter(|fill| !(*fill > 0.0 && *fill <= 1.0)) {
        return Err(Failure::usage(format!("--fill {fill}: must be above 0 and at most 1")));
    }
    let (chart, trace) = (args.results.chart.as_deref(), args.requests.typed("trace"));
    files::check_output("--chart", chart, &[("--trace", trace.map(Path::new))])?;
    files::check_drawing("--chart", chart, &["svg"])?;
    let (requests, stream) = draw_stream(args, &strategies[0])?;
    let bench = Bench {
        grid,
        strategies,
        requests,
        attempts: args.rounds.attempts,
        warmup: args.rounds.warmup,
        fill: args.fill,
        rounds: args.rounds.rounds,
        seed: args.rounds.seed,
    };
    let results = Bar::during("bench", |bar| bench.run(bar)).map_err(Failure::usage)?;
    let report = Report { bench, stream, results, skipped };
    if let Some(path) = chart {
        let svg = pavior::draw::svg(&report.chart());
        files::write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    match args.results.output.format() {
        Format::Json => output::json(&report.json()),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    }
}

/// Reads the request stream from a log, or generates it at random. The scenario's strategy is
/// arbitrary, because it does not affect the jobs.
fn draw_stream(
    args: &BenchArgs,
    strategy: &Selection,
) -> Result<(Vec<Request>, StreamLabel), Failure> {
    let mut typed = args.requests.settings();
    typed.push(Setting::new("machine", &args.machine));
    typed.push(Setting::new("strategy", strategy.to_string()));
    typed.push(Setting::new("seed", args.rounds.seed.to_string()));
    let scenario = settings::scenario(&typed)?;
    let requests = scenario.jobs(0).map(|job| job.request);
    if let Some(trace) = args.requests.typed("trace") {
        let requests: Vec<Request> = requests.collect();
        let description = format!("{} requests from {trace}", requests.len());
        let trace = Some(trace.to_string());
        return Ok((requests, StreamLabel { sides: None, trace, description }));
    }
    let sides = args.requests.given()?.sides.map(|sides| sides.to_string()).unwrap_or_default();
    // Unless the warm-up is extremely long, the stream does not run out of requests.
    let requests = requests.take(args.rounds.attempts.max(MIN_DRAWN_REQUESTS)).collect();
    let description = format!("sides {sides}");
    Ok((requests, StreamLabel { sides: Some(sides), trace: None, description }))
}
