//! Measures time and instructions per search for the engine and for plain searches that answer the
//! same questions in the same states.
//!
//! Run with `cargo bench -p pavior-allocation --bench search [-- FILTER...] [--no-instructions]`. A
//! filter is a substring of a case's name, such as `table`, `grid`, `torus`, `mesh:8x8x8` or
//! `"mesh:64x64x64 to 8"`. A case runs if its name contains one of the filters. `--list` prints the
//! names of the cases.
//!
//! For each case, a churn (grants and releases near saturation) is recorded once with the engine.
//! All requests come from one random number stream. After a refusal, the oldest job departs, and
//! the request is retried. The record is then replayed on every strategy, including TBL, so all of
//! them answer the same questions in the same states. All of them are complete, so they must agree
//! on refusals. Only `Strategy::find` is measured. Attempts that fail because too few nodes are
//! free never reach this method and are not counted. List upkeep is not counted either.
//!
//! - `mean`, `median`, `p99`: single readings, minus the overhead of the clock. Each question
//!   counts as the median of its readings in all rounds. A reading waits for the search to end.
//!   This adds 5 to 15 ns to fast searches, because the processor would otherwise run ahead to the
//!   next instructions. (Timing batches and subtracting the same batch without searches would be
//!   wrong, because the engine defers upkeep that only a search needs.)
//! - `instructions`: instructions per search in `find` alone, counted by callgrind (`valgrind` must
//!   be installed). If a strategy is slow, only the first questions are counted. The counts do not
//!   depend on other programs.
//! - `torus over mesh`: the engine's results on both machines, over 20,000 searches on each.
//! - Each ratio is relative to the better plain strategy, over the questions that both strategies
//!   in the ratio answered. A ratio above 1 means that the engine is faster. The strategies take
//!   turns, round after round.

#[path = "../common/churn.rs"]
mod churn;
mod measure;

use pavior_allocation::Selection;
use pavior_mesh::Grid;

use churn::{Record, Sides, Step};
use measure::Measured;

/// A machine and the sizes of its jobs.
struct Case {
    group: &'static str,
    grid: Grid,
    sides: Sides,
}

impl Case {
    fn name(&self) -> String {
        format!("{} {} {}", self.group, self.grid, self.sides)
    }

    /// Returns the engine, followed by plain strategies that give equivalent answers.
    fn strategies(&self) -> [&'static str; 3] {
        if self.grid.axes() == 3 { ["tff", "tff:plain", "tbl"] } else { ["ff", "ff:plain", "bl"] }
    }
}

/// Returns the cases from issues and papers, followed by a grid of machine sizes and job sizes.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |group, machine: &str, sides| {
        let grid = machine.parse().expect("a valid name");
        cases.push(Case { group, grid, sides });
    };
    for kind in ["mesh", "torus"] {
        for (machine, sides) in [
            ("8x8x8", Sides::Uniform(8)),
            ("16x16x16", Sides::Uniform(4)),
            ("64x64x64", Sides::Uniform(64)),
            ("64x64x64", Sides::Uniform(8)),
            ("128x128", Sides::Decreasing),
            ("256x256", Sides::Decreasing),
        ] {
            add("table", &format!("{kind}:{machine}"), sides);
        }
    }
    let cubes = [8, 12, 16, 24, 32, 48, 64].map(|n| (n, format!("mesh:{n}x{n}x{n}")));
    let squares = [8, 16, 32, 48, 64, 96, 128, 192, 256].map(|n| (n, format!("mesh:{n}x{n}")));
    for (n, machine) in cubes.iter().chain(&squares) {
        for longest in [(n / 8).max(2), n / 2, *n] {
            add("grid", machine, Sides::Uniform(longest));
        }
    }
    cases
}

/// The number of searches per case.
const SEARCHES: usize = 2000;
/// The number of searches if only the engine runs. It is large enough to average out a few long
/// searches.
const MANY: usize = 20_000;

/// The results for a case. The engine comes first.
struct Outcome {
    case: Case,
    measured: Vec<Measured>,
    /// The number of instructions per search, or `None` if none were counted.
    instructions: Vec<Option<f64>>,
}

impl Outcome {
    /// Returns the plain strategy with the lower cost.
    fn better_plain(&self, cost: impl Fn(usize) -> f64) -> usize {
        (1..self.measured.len())
            .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
            .expect("there are plain strategies")
    }

    /// Returns the better plain strategy's instruction count divided by another strategy's.
    fn instruction_ratio(&self, index: usize) -> Option<f64> {
        let plain = self.instructions[1..].iter().flatten().copied().reduce(f64::min)?;
        Some(plain / self.instructions[index]?)
    }
}

fn run(case: Case, count: bool) -> Outcome {
    let selections: Vec<Selection> =
        case.strategies().iter().map(|name| name.parse().expect("a valid name")).collect();
    let record = recorded(&case.grid, case.sides, &selections[0], SEARCHES);
    let measured = measure::all(&record, &selections);
    let first = measure::countable(&measured);
    let counted = |search| count.then(|| record.instructions(search, first)).flatten();
    let instructions = selections.iter().map(counted).collect();
    let outcome = Outcome { case, measured, instructions };
    print(&outcome, &record);
    outcome
}

/// Records a case's churn with a given number of searches.
fn recorded(grid: &Grid, sides: Sides, engine: &Selection, searches: usize) -> Record {
    Record::new(grid, engine, sides, "search", searches).expect("the engine works everywhere")
}

/// Returns the percentage of searches that find nothing.
fn refused_percent(record: &Record) -> usize {
    let refused = record.steps.iter().filter(|step| matches!(step, Step::Ask(_, false)));
    refused.count() * 100 / record.questions
}

/// Returns the mean number of jobs on the machine during a search.
fn mean_jobs(record: &Record) -> f64 {
    let (mut jobs, mut sum) = (0, 0);
    for step in &record.steps {
        match step {
            Step::Ask(..) => sum += jobs,
            Step::Take(_) => jobs += 1,
            Step::Give(_) => jobs -= 1,
        }
    }
    f64::from(sum) / record.questions as f64
}

fn print(outcome: &Outcome, record: &Record) {
    let best = outcome.better_plain(|index| outcome.measured[index].mean_ns);
    for (index, (name, own)) in outcome.case.strategies().iter().zip(&outcome.measured).enumerate()
    {
        let ratio = own.speed_over(&outcome.measured[best]);
        let counted = outcome.instructions[index];
        println!(
            "| {} | {name} | {} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {} | {} | {} |",
            outcome.case.name(),
            own.searches,
            refused_percent(record),
            mean_jobs(record),
            own.mean_ns,
            own.median_ns,
            own.p99_ns,
            digits(ratio),
            counted.map_or("-".to_string(), |count| format!("{count:.0}")),
            outcome.instruction_ratio(index).map_or("-".to_string(), digits),
        );
    }
}

/// Formats a ratio, with more decimals for small ratios.
fn digits(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

/// Prints the engine's cost on a torus relative to its cost on a mesh with the same sides.
fn print_torus(torus: &Case, count: bool) {
    let engine: Selection = torus.strategies()[0].parse().expect("a valid name");
    let mesh = Grid::new(&torus.grid.sides(), &[false; 3]).expect("the torus has valid sides");
    let [a, b] = [torus.grid, mesh].map(|grid| {
        let record = recorded(&grid, torus.sides, &engine, MANY);
        let measured = measure::all(&record, std::slice::from_ref(&engine)).remove(0);
        let counted = count.then(|| record.instructions(&engine, MANY)).flatten();
        (measured, counted)
    });
    let ratio = |of: fn(&Measured) -> f64| {
        format!("{:.0} / {:.0} = {:.2}", of(&a.0), of(&b.0), of(&a.0) / of(&b.0))
    };
    let instructions = match (a.1, b.1) {
        (Some(a), Some(b)) => format!("{a:.0} / {b:.0} = {:.2}", a / b),
        _ => "-".to_string(),
    };
    println!(
        "| {} {} | {} | {} | {} | {instructions} |",
        torus.grid,
        torus.sides,
        ratio(|one| one.mean_ns),
        ratio(|one| one.median_ns),
        ratio(|one| one.p99_ns),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, strategy] = &arguments[..]
        && flag == churn::CHILD
    {
        return churn::replay_from_input(strategy);
    }
    let filters: Vec<&String> = arguments.iter().filter(|one| !one.starts_with("--")).collect();
    let wanted = |case: &Case| {
        let name = case.name();
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    };
    let cases: Vec<Case> = cases().into_iter().filter(wanted).collect();
    if arguments.iter().any(|one| one == "--list") {
        return cases.iter().for_each(|case| println!("{}", case.name()));
    }
    let count = !arguments.iter().any(|one| one == "--no-instructions")
        && pavior_trials::instructions::can_count();
    println!(
        "| case | strategy | searches | refused % | m | mean ns | median ns | p99 ns | times \
         faster | instructions | times fewer |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let outcomes: Vec<Outcome> = cases.into_iter().map(|case| run(case, count)).collect();
    println!("\n| torus over mesh | mean ns | median ns | p99 ns | instructions |");
    println!("|---|---:|---:|---:|---:|");
    let tori = outcomes.iter().filter(|one| one.case.grid.wraps(0));
    tori.for_each(|torus| print_torus(&torus.case, count));
    let worst = outcomes.iter().filter_map(|one| Some((one.instruction_ratio(0)?, one)));
    if let Some((ratio, one)) = worst.min_by(|a, b| a.0.total_cmp(&b.0)) {
        println!(
            "\nThe engine's instructions at worst: {:.2} times the better plain strategy's ({}).",
            1.0 / ratio,
            one.case.name()
        );
    }
}
