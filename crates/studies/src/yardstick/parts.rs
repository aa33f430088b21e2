//! The components of a gap: the costs of boxes, inaccurate estimates, job order and unknown
//! arrivals, and the unexplained remainder.

use pavior::experiments::Catalogue;
use pavior::experiments::advice::Change;
use rayon::prelude::*;

use super::board::{Board, Certificate, counted_of, play, turnarounds};
use super::bootstrap::change;
use super::bounds::{Arrivals, look_ahead};
use super::set::{Instance, YardstickError};

/// The settings that each of three runs adds to those of the previous run. The first run uses boxes
/// and the given estimates. In the second run, jobs may use any nodes; in the third, the estimates
/// are also exact.
const STEPS: [&[(&str, &str)]; 3] = [&[], &[("freedom", "any")], &[("estimates", "exact")]];
/// The strategy and the scheduler in the three runs.
const NAMES: (&str, &str) = ("tff", "easy");
/// Two more runs, with any nodes allowed and exact estimates. In the first, the scheduler looks
/// ahead over the jobs that have arrived; in the second, it looks ahead over all jobs.
const AHEAD: [Arrivals; 2] = [Arrivals::Unknown, Arrivals::Known];

/// The parts of the gap for `tff` under `easy`, in seconds of mean turnaround.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The scenario.
    pub scenario: String,
    /// The number of counted jobs.
    pub jobs: usize,
    /// The gap: turnaround minus bound.
    pub gap: f64,
    /// The time saved if jobs may use any nodes rather than only a box.
    pub contiguity: Change,
    /// The additional time saved if estimates are exact.
    pub estimates: Change,
    /// The additional time saved by looking ahead before each start. `None` if nodes fail.
    pub order: Option<Change>,
    /// The additional time saved if the scheduler knows about future arrivals.
    pub arrivals: Option<Change>,
    /// The unexplained remainder: the gap between the last run and the bound.
    pub rest: f64,
}

impl Parts {
    /// The columns of [`Parts::cells`]. Times are in hours.
    pub const COLUMNS: [&str; 12] = [
        "scenario",
        "jobs",
        "gap_h",
        "contiguity_h",
        "contiguity_half_width_h",
        "estimates_h",
        "estimates_half_width_h",
        "order_h",
        "order_half_width_h",
        "arrivals_h",
        "arrivals_half_width_h",
        "not_explained_h",
    ];

    /// Returns the parts of the gap, in the order in which the runs eliminate them.
    pub fn costs(&self) -> [Option<Change>; 4] {
        [Some(self.contiguity), Some(self.estimates), self.order, self.arrivals]
    }

    /// Returns a table row, with four decimals.
    pub fn cells(&self) -> Vec<String> {
        let hours = |seconds: f64| format!("{:.4}", seconds / 3600.0);
        let mut cells = vec![self.scenario.clone(), self.jobs.to_string(), hours(self.gap)];
        for cost in self.costs() {
            let width = cost.and_then(|cost| cost.half_width);
            cells.push(cost.map_or(String::new(), |cost| hours(cost.difference)));
            cells.push(width.map_or(String::new(), hours));
        }
        cells.push(hours(self.rest));
        cells
    }
}

/// Returns the parts of the gap for each scenario on a board. The runs use the current thread pool.
/// A scenario is skipped if any of its runs leaves a counted job unfinished.
///
/// # Errors
/// Returns an error if a run cannot continue.
pub fn parts(
    instances: &[Instance],
    catalogue: &Catalogue,
    board: &Board,
) -> Result<Vec<Parts>, YardstickError> {
    let found: Vec<Option<Parts>> = instances
        .par_iter()
        .map(|instance| {
            let own = board.certificates.iter().find(|one| one.scenario == instance.name);
            let Some(certificate) = own else { return Ok(None) };
            let runs = runs(instance, catalogue, &counted_of(instance, certificate))?;
            Ok(runs.and_then(|runs| of_runs(instance, certificate, &runs)))
        })
        .collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the turnarounds of the counted jobs in each run, or `None` if a counted job never ends.
fn runs(
    instance: &Instance,
    catalogue: &Catalogue,
    counted: &[usize],
) -> Result<Option<Vec<Vec<f64>>>, YardstickError> {
    let (mut more, mut all) = (Vec::new(), Vec::new());
    for step in STEPS {
        more.extend_from_slice(step);
        let names = [NAMES.0, NAMES.1].map(|name| vec![name.to_string()]);
        let specification = instance.specification(&names[0], &names[1], &more, catalogue)?;
        let Some(point) = specification.points.first() else { return Ok(None) };
        all.push(play(instance, point)?.ends);
    }
    for arrivals in AHEAD.iter().filter(|_| !instance.fails) {
        let capacity = i64::from(instance.machine.nodes());
        let ends = look_ahead(&instance.tasks, capacity, *arrivals);
        all.push(ends.into_iter().map(|end| end.map(|end| end as f64)).collect());
    }
    let whole = all.iter().all(|ends| counted.iter().all(|&at| ends[at].is_some()));
    let each = |ends: &Vec<Option<f64>>| turnarounds(instance, ends, counted);
    Ok(whole.then(|| all.iter().map(each).collect()))
}

fn of_runs(instance: &Instance, certificate: &Certificate, runs: &[Vec<f64>]) -> Option<Parts> {
    let counted = counted_of(instance, certificate);
    let jobs = counted.len() as f64;
    let released: i64 = counted.iter().map(|&at| instance.tasks[at].release).sum();
    let bound = (certificate.completions.claim - released) as f64 / jobs;
    let gap = |run: &Vec<f64>| run.iter().sum::<f64>() / jobs - bound;
    let saved = |at: usize| change(runs.get(at)?, runs.get(at + 1)?);
    Some(Parts {
        scenario: instance.name.clone(),
        jobs: counted.len(),
        gap: gap(runs.first()?),
        contiguity: saved(0)?,
        estimates: saved(1)?,
        order: saved(2),
        arrivals: saved(3),
        rest: gap(runs.last()?),
    })
}
