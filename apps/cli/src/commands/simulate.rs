//! `pavior simulate`: strategies and schedulers compared.

use pavior_experiments::{
    Combination, Comparison, FailureSource, NodeEvents, Policy, Row, Source, SyntheticSource,
};
use pavior_mesh::Grid;
use pavior_network::Energy;
use pavior_simulation::Restart;
use pavior_simulation::metrics::{self, ALLOCATION_NS, MetricSpec};
use pavior_workload::{
    ArrivalProcess, Failures, Family, NodeEvent, Selection, ServiceDistribution, SideDistribution,
    Synthetic,
};

use crate::args::{FailureArgs, LogArgs, MessageArgs, SimulateArgs, StreamArgs, SyntheticArgs};
use crate::commands::{records, results};
use crate::failure::Failure;
use crate::output::Format;
use crate::progress::Bar;
use crate::{input, logs, net, pool};

/// Below saturation for every strategy on the default machine.
const DEFAULT_LOAD: &str = "1.5";

/// The jobs, the loads at which they are drawn, and what they are drawn from.
struct Drawn {
    source: Box<dyn Source>,
    loads: Vec<Option<f64>>,
    workload: Option<Synthetic>,
}

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let Drawn { source, loads, workload } = source(args, grid)?;
    let network = net::setup(&args.messages, workload.as_ref(), grid)?;
    let (metrics, measured) = chosen_metrics(args.results.metrics.as_deref())?;
    let bound = args.results.slowdown_bound;
    if let Some(bound) = bound.filter(|bound| !bound.is_finite() || *bound < 0.0) {
        return Err(Failure::usage(format!("--slowdown-bound {bound}: a bound is at least 0")));
    }
    let comparison = Comparison {
        grid,
        strategies: input::names("--strategy", &args.strategy)?,
        schedulers: input::names("--scheduler", &args.scheduler)?,
        loads,
        source: &*source,
        metrics,
        failures: failures(&args.failures, &*source, network.is_some(), grid)?,
        network,
        energy: energy(&args.messages)?,
        slowdown_bound: bound.unwrap_or(if args.log.trace.is_some() { 10.0 } else { 1.0 }),
        seed: args.runs.seed,
        policy: policy(args)?,
        warmup: warmup(args)?,
        timing: measured && !args.results.no_timing,
        record: records::are_wanted(&args.results, &args.messages),
    };
    let files = records::Files::plan(&args.results, &args.messages, &comparison)?;
    let rows = pool::install(args.runs.threads, || compare(&comparison))??;
    files.write(&comparison, &rows)?;
    warn_of_stuck_jobs(args, &rows);
    let format = Format::or_default(args.results.format);
    results::print(format, args.results.metrics.is_some(), &comparison, &rows)
}

/// A log runs to its last departure; what still waits then waits for nodes that never come back, or
/// for a placement that its strategy never finds.
fn warn_of_stuck_jobs(args: &SimulateArgs, rows: &[Row]) {
    for row in rows.iter().filter(|row| args.log.trace.is_some() && row.waiting > 0) {
        let Combination { strategy, scheduler, .. } = &row.combination;
        eprintln!(
            "warning: {strategy}, {scheduler}: {} jobs never started and are in no result",
            row.waiting
        );
    }
}

fn compare(comparison: &Comparison<'_>) -> Result<Vec<Row>, Failure> {
    let bar = Bar::new("simulate");
    let rows = comparison.run(&bar).map_err(|error| Failure::usage(error.to_string()));
    bar.finish();
    rows
}

/// The workload, and its loads.
fn source(args: &SimulateArgs, grid: Grid) -> Result<Drawn, Failure> {
    let Some(path) = &args.log.trace else {
        refuse_log_options(&args.log)?;
        return synthetic(&args.synthetic, grid);
    };
    refuse_synthetic_options(&args.synthetic)?;
    let source = logs::source(path, &args.log, grid)?;
    Ok(Drawn { source, loads: vec![None], workload: None })
}

fn synthetic(args: &SyntheticArgs, grid: Grid) -> Result<Drawn, Failure> {
    let loads = input::loads(args.stream.load.as_deref().unwrap_or(DEFAULT_LOAD))?;
    let sides = args.sides.as_deref().unwrap_or(SideDistribution::builtin()[0].name);
    let workload = workload(sides, &args.stream)?;
    let completions = args.jobs.unwrap_or(1000);
    if completions == 0 {
        return Err(Failure::usage("--jobs 0: a run ends at the completion of at least one job"));
    }
    let source = SyntheticSource::new(grid, workload.clone(), &loads, completions)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let loads = loads.into_iter().map(Some).collect();
    Ok(Drawn { source: Box::new(source), loads, workload: Some(workload) })
}

/// The workload that options describe, at the first of its loads.
pub(crate) fn workload(sides: &str, args: &StreamArgs) -> Result<Synthetic, Failure> {
    Ok(Synthetic {
        load: input::loads(args.load.as_deref().unwrap_or(DEFAULT_LOAD))?[0],
        arrivals: chosen::<ArrivalProcess>("--arrivals", args.arrivals.as_deref())?,
        sides: input::name("--sides", sides)?,
        service: chosen::<ServiceDistribution>("--service", args.service.as_deref())?,
    })
}

/// The entry of a workload registry that is typed, or its first.
fn chosen<K: Family>(option: &str, typed: Option<&str>) -> Result<Selection<K>, Failure> {
    match typed {
        Some(typed) => input::name(option, typed),
        None => Ok(Selection::defaults(K::builtin()[0])),
    }
}

fn refuse_synthetic_options(args: &SyntheticArgs) -> Result<(), Failure> {
    let given = [
        ("--load", args.stream.load.is_some()),
        ("--sides", args.sides.is_some()),
        ("--service", args.stream.service.is_some()),
        ("--arrivals", args.stream.arrivals.is_some()),
        ("--jobs", args.jobs.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::usage(format!(
            "{option} is for synthetic workloads; a log runs all its jobs as they come \
             (--first reads a part, --arrival-scale changes its load)"
        ))),
        None => Ok(()),
    }
}

fn refuse_log_options(args: &LogArgs) -> Result<(), Failure> {
    let own = [
        ("--shape-rule", args.shape_rule.is_some()),
        ("--arrival-scale", args.arrival_scale.is_some()),
        ("--estimates", args.estimates.is_some()),
        ("--kill", args.kill),
    ];
    logs::refuse(own.into_iter().chain(logs::given(&args.read)))
}

/// Failures of nodes, drawn or listed.
fn failures(
    args: &FailureArgs,
    source: &dyn Source,
    messages: bool,
    grid: Grid,
) -> Result<Option<FailureSource>, Failure> {
    let (unit, begin) = (source.unit(), source.begin());
    if messages && (args.mttf.is_some() || args.failures.is_some()) {
        return Err(Failure::usage("failures of nodes and messages of jobs do not go together"));
    }
    let restart = match args.checkpoint {
        None => Restart::Scratch,
        Some(_) if args.mttf.is_none() && args.failures.is_none() => {
            return Err(Failure::usage("--checkpoint is for failures; give --mttf or --failures"));
        }
        Some(interval) if unit.time(interval).0 > 0 => Restart::Checkpoint(unit.time(interval)),
        Some(interval) => {
            return Err(Failure::usage(format!("--checkpoint {interval}: it is a time above 0")));
        }
    };
    if let Some(path) = &args.failures {
        let events = logs::failures(path, &grid, unit)?;
        let make = move |_, _| -> NodeEvents { Box::new(events.clone().into_iter()) };
        return Ok(Some(FailureSource::new(Box::new(make), restart)));
    }
    let (Some(mttf), Some(mttr)) = (args.mttf, args.mttr) else { return Ok(None) };
    let draw = move |seed, replication| Failures::new(&grid, mttf, mttr, unit, seed, replication);
    draw(0, 0).map_err(|error| Failure::usage(error.to_string()))?;
    let make = move |seed, replication| -> NodeEvents {
        let events = draw(seed, replication).expect("the means were checked");
        Box::new(events.map(move |event| NodeEvent { at: event.at + begin, ..event }))
    };
    Ok(Some(FailureSource::new(Box::new(make), restart)))
}

fn energy(args: &MessageArgs) -> Result<Energy, Failure> {
    let energy = Energy { per_link: args.link_energy, per_router: args.router_energy };
    if [energy.per_link, energy.per_router].iter().all(|part| part.is_finite() && *part >= 0.0) {
        Ok(energy)
    } else {
        Err(Failure::usage("--link-energy and --router-energy are at least 0"))
    }
}

fn policy(args: &SimulateArgs) -> Result<Policy, Failure> {
    let (runs, is_log) = (&args.runs, args.log.trace.is_some());
    let share = |option: &str, value: f64| {
        if value > 0.0 && value < 1.0 {
            Ok(value)
        } else {
            Err(Failure::usage(format!("{option} {value}: it lies between 0 and 1")))
        }
    };
    let confidence = share("--confidence", runs.confidence)?;
    if runs.max_replications == 0 || runs.replications == Some(0) {
        return Err(Failure::usage("there must be at least one replication"));
    }
    let relative = runs.precision.map(|precision| share("--precision", precision)).transpose()?;
    if is_log && !draws(args)? {
        if relative.is_some() || runs.replications.is_some_and(|count| count > 1) {
            eprintln!("note: this log draws no numbers, so it is run once");
        }
        return Ok(Policy::Fixed(1));
    }
    Ok(match relative {
        Some(relative) => Policy::Precision {
            relative,
            confidence,
            least: Policy::BATCH,
            most: runs.max_replications,
        },
        None => Policy::Fixed(runs.replications.unwrap_or(10)),
    })
}

/// Whether the replications of a log differ.
fn draws(args: &SimulateArgs) -> Result<bool, Failure> {
    let rule = args.log.shape_rule.as_deref().unwrap_or("compact");
    let rule: Selection<pavior_workload::ShapeRule> = input::name("--shape-rule", rule)?;
    Ok(rule.entry.does.draws || args.failures.mttf.is_some())
}

fn warmup(args: &SimulateArgs) -> Result<u64, Failure> {
    let (warmup, jobs) = (args.runs.warmup, args.synthetic.jobs.unwrap_or(1000));
    if args.log.trace.is_none() && warmup >= jobs {
        return Err(Failure::usage(format!(
            "--warmup {warmup} leaves nothing of the {jobs} completions of a run"
        )));
    }
    Ok(warmup)
}

/// The metrics to compute, and whether the measured one is among them: the standard ones, those and
/// more (`+NAME`), or just those named.
fn chosen_metrics(typed: Option<&str>) -> Result<(Vec<&'static MetricSpec>, bool), Failure> {
    let Some(typed) = typed else {
        return Ok((metrics::ALL.iter().copied().filter(|spec| spec.standard).collect(), true));
    };
    let mut known: Vec<&str> = metrics::ALL.iter().map(|spec| spec.name).collect();
    known.push(ALLOCATION_NS);
    let (mut named, mut adds, mut at) = (Vec::new(), false, 0);
    for part in typed.split(',') {
        let name = part.strip_prefix('+').unwrap_or(part);
        adds |= part.starts_with('+');
        if !known.contains(&name) {
            let bad = pavior_kernel::unknown_name("metric", name, &known);
            return Err(Failure::option("--metrics", typed, at + part.len() - name.len(), &bad));
        }
        named.push(name);
        at += part.len() + 1;
    }
    let wanted = |spec: &&MetricSpec| (adds && spec.standard) || named.contains(&spec.name);
    let chosen = metrics::ALL.iter().copied().filter(wanted).collect();
    Ok((chosen, adds || named.contains(&ALLOCATION_NS)))
}
