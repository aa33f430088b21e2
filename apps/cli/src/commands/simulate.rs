//! `pavior simulate`: strategies and schedulers compared.

use pavior_experiments::{Comparison, Policy, Row, Source, SyntheticSource};
use pavior_mesh::Grid;
use pavior_simulation::metrics::{self, Spec};
use pavior_workload::{
    Arrivals, Kind, Selection, ServiceDistribution, SideDistribution, Synthetic,
};

use crate::args::{LogArgs, RunArgs, SimulateArgs, SyntheticArgs};
use crate::commands::{records, results};
use crate::fault::Fault;
use crate::output::Format;
use crate::progress::Bar;
use crate::{input, logs, pool};

/// Below saturation for every strategy on the default machine.
const DEFAULT_LOAD: &str = "1.5";

/// A workload and the loads at which it is drawn.
type Drawn = (Box<dyn Source>, Vec<Option<f64>>);

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Fault> {
    let grid = input::machine(&args.machine)?;
    let (source, loads) = source(args, grid)?;
    let metrics = chosen_metrics(args.results.metrics.as_deref())?;
    let bound = args.results.slowdown_bound;
    if let Some(bound) = bound.filter(|bound| !bound.is_finite() || *bound < 0.0) {
        return Err(Fault::usage(format!("--slowdown-bound {bound}: a bound is at least 0")));
    }
    let comparison = Comparison {
        grid,
        strategies: input::names("--strategy", &args.strategy)?,
        schedulers: input::names("--scheduler", &args.scheduler)?,
        loads,
        source: &*source,
        metrics,
        slowdown_bound: bound.unwrap_or(if args.log.trace.is_some() { 10.0 } else { 1.0 }),
        seed: args.runs.seed,
        policy: policy(&args.runs, args.log.trace.is_some())?,
        warmup: warmup(args)?,
        timing: !args.results.no_timing,
        record: args.results.jobs_csv.is_some() || args.results.placements.is_some(),
    };
    let files = records::Files::plan(&args.results, &comparison)?;
    let rows = pool::install(args.runs.threads, || compare(&comparison))??;
    files.write(&comparison, &rows)?;
    let format = Format::or_default(args.results.format);
    results::print(format, args.results.metrics.is_some(), &comparison, &rows)
}

fn compare(comparison: &Comparison<'_>) -> Result<Vec<Row>, Fault> {
    let bar = Bar::new();
    let rows = comparison.run(&bar).map_err(|error| Fault::usage(error.to_string()));
    bar.finish();
    rows
}

/// The workload, and its loads.
fn source(args: &SimulateArgs, grid: Grid) -> Result<Drawn, Fault> {
    let Some(path) = &args.log.trace else {
        refuse_log_options(&args.log)?;
        return synthetic(&args.synthetic, grid);
    };
    refuse_synthetic_options(&args.synthetic)?;
    Ok((logs::source(path, &args.log, grid)?, vec![None]))
}

fn synthetic(args: &SyntheticArgs, grid: Grid) -> Result<Drawn, Fault> {
    let loads = input::loads(args.load.as_deref().unwrap_or(DEFAULT_LOAD))?;
    let workload = Synthetic {
        load: loads[0],
        arrivals: chosen::<Arrivals>("--arrivals", args.arrivals.as_deref())?,
        sides: chosen::<SideDistribution>("--sides", args.sides.as_deref())?,
        service: chosen::<ServiceDistribution>("--service", args.service.as_deref())?,
    };
    let completions = args.jobs.unwrap_or(1000);
    if completions == 0 {
        return Err(Fault::usage("--jobs 0: a run ends at the completion of at least one job"));
    }
    let source = SyntheticSource::new(grid, workload, &loads, completions)
        .map_err(|error| Fault::usage(error.to_string()))?;
    Ok((Box::new(source), loads.into_iter().map(Some).collect()))
}

/// The entry of a workload registry that is typed, or its first.
fn chosen<K: Kind>(option: &str, typed: Option<&str>) -> Result<Selection<K>, Fault> {
    match typed {
        Some(typed) => input::name(option, typed),
        None => Ok(Selection::defaults(K::all()[0])),
    }
}

fn refuse_synthetic_options(args: &SyntheticArgs) -> Result<(), Fault> {
    let given = [
        ("--load", args.load.is_some()),
        ("--sides", args.sides.is_some()),
        ("--service", args.service.is_some()),
        ("--arrivals", args.arrivals.is_some()),
        ("--jobs", args.jobs.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Fault::usage(format!(
            "{option} is for synthetic workloads; a log runs all its jobs as they come \
             (--first reads a part, --arrival-scale changes its load)"
        ))),
        None => Ok(()),
    }
}

fn refuse_log_options(args: &LogArgs) -> Result<(), Fault> {
    let given = [
        ("--shape-rule", args.shape_rule.is_some()),
        ("--arrival-scale", args.arrival_scale.is_some()),
        ("--first", args.read.first.is_some()),
        ("--filter", args.read.filter.is_some()),
        ("--status", args.read.status.is_some()),
        ("--kill", args.kill),
        ("--lenient", args.read.lenient),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Fault::usage(format!("{option} is for job logs; name one with --trace")))
        }
        None => Ok(()),
    }
}

fn policy(args: &RunArgs, is_log: bool) -> Result<Policy, Fault> {
    let share = |option: &str, value: f64| {
        if value > 0.0 && value < 1.0 {
            Ok(value)
        } else {
            Err(Fault::usage(format!("{option} {value}: it lies between 0 and 1")))
        }
    };
    let confidence = share("--confidence", args.confidence)?;
    if args.max_replications == 0 || args.replications == Some(0) {
        return Err(Fault::usage("there must be at least one replication"));
    }
    match args.precision {
        Some(relative) => Ok(Policy::Precision {
            relative: share("--precision", relative)?,
            confidence,
            least: Policy::BATCH,
            most: args.max_replications,
        }),
        None => Ok(Policy::Fixed(args.replications.unwrap_or(if is_log { 1 } else { 10 }))),
    }
}

fn warmup(args: &SimulateArgs) -> Result<u64, Fault> {
    let (warmup, jobs) = (args.runs.warmup, args.synthetic.jobs.unwrap_or(1000));
    if args.log.trace.is_none() && warmup >= jobs {
        return Err(Fault::usage(format!(
            "--warmup {warmup} leaves nothing of the {jobs} completions of a run"
        )));
    }
    Ok(warmup)
}

/// The metrics to compute: the standard ones, those and more (`+NAME`), or just those named.
fn chosen_metrics(typed: Option<&str>) -> Result<Vec<&'static Spec>, Fault> {
    let standard = metrics::ALL.iter().filter(|spec| spec.standard);
    let Some(typed) = typed else { return Ok(standard.copied().collect()) };
    let known: Vec<&str> = metrics::ALL.iter().map(|spec| spec.name).collect();
    let (mut named, mut adds) = (Vec::new(), false);
    let mut at = 0;
    for part in typed.split(',') {
        let name = part.trim_start_matches('+');
        adds |= part.starts_with('+');
        let Some(spec) = metrics::ALL.iter().find(|spec| spec.name == name) else {
            let bad = pavior_kernel::unknown_name("metric", name, &known);
            return Err(Fault::option("--metrics", typed, at + part.len() - name.len(), &bad));
        };
        named.push(*spec);
        at += part.len() + 1;
    }
    let wanted =
        |spec: &&Spec| (adds && spec.standard) || named.iter().any(|named| named.name == spec.name);
    Ok(metrics::ALL.iter().copied().filter(wanted).collect())
}
