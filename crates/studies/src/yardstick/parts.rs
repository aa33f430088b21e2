//! What a gap consists of: the cost of boxes, that of wrong estimates, and what is not explained.

use pavior::experiments::Catalogue;
use pavior::experiments::advice::Change;
use rayon::prelude::*;

use super::board::{Board, LEVEL, Play, completions, counted_of, play, turnarounds};
use super::set::{Instance, YardstickError};

/// Three runs, each of which differs from the one before in one setting alone: boxes and the
/// estimates that are given; any nodes; any nodes and exact estimates.
const STEPS: [&[(&str, &str)]; 3] = [&[], &[("freedom", "any")], &[("estimates", "exact")]];
/// Strategy and scheduler of the three.
const NAMES: (&str, &str) = ("tff", "easy");

/// The parts of the gap of `tff` under `easy`, in seconds of mean turnaround.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The scenario.
    pub scenario: String,
    /// How many jobs count.
    pub jobs: usize,
    /// The gap: turnaround less bound.
    pub gap: f64,
    /// What is saved where a job may have any nodes instead of a box.
    pub contiguity: Change,
    /// What is saved beyond that where estimates are exact.
    pub estimates: Change,
    /// What is left: the gap of the third run.
    pub rest: f64,
}

impl Parts {
    /// The columns of [`Parts::cells`]; times are hours.
    pub const COLUMNS: [&str; 8] = [
        "scenario",
        "jobs",
        "gap_h",
        "contiguity_h",
        "contiguity_half_width_h",
        "estimates_h",
        "estimates_half_width_h",
        "not_explained_h",
    ];

    /// A row of a table, with four decimals.
    pub fn cells(&self) -> Vec<String> {
        let hours = |seconds: f64| format!("{:.4}", seconds / 3600.0);
        let width = |change: Change| change.half_width.map_or(String::new(), hours);
        let (one, other) = (self.contiguity, self.estimates);
        vec![
            self.scenario.clone(),
            self.jobs.to_string(),
            hours(self.gap),
            hours(one.difference),
            width(one),
            hours(other.difference),
            width(other),
            hours(self.rest),
        ]
    }
}

/// The parts of the gap in each scenario of a board, on the threads of the current pool. Scenarios
/// are left out in which one of the runs leaves a job undone that counts.
///
/// # Errors
/// If a run cannot go on.
pub fn parts(
    instances: &[Instance],
    catalogue: &Catalogue,
    board: &Board,
) -> Result<Vec<Parts>, YardstickError> {
    let found: Vec<Option<Parts>> = instances
        .par_iter()
        .map(|instance| of_instance(instance, catalogue, board))
        .collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn of_instance(
    instance: &Instance,
    catalogue: &Catalogue,
    board: &Board,
) -> Result<Option<Parts>, YardstickError> {
    let own = board.certificates.iter().find(|one| one.scenario == instance.name);
    let Some(certificate) = own else { return Ok(None) };
    let counted = counted_of(instance, certificate);
    let (mut more, mut plays) = (Vec::new(), Vec::new());
    for step in STEPS {
        more.extend_from_slice(step);
        let names = [NAMES.0, NAMES.1].map(|name| vec![name.to_string()]);
        let specification = instance.specification(&names[0], &names[1], &more, catalogue)?;
        let Some(point) = specification.points.first() else { return Ok(None) };
        plays.push(play(instance, point)?);
    }
    let whole = |play: &Play| counted.iter().all(|&at| play.ends[at].is_some());
    let [boxes, any, exact] = &plays[..] else { return Ok(None) };
    if !plays.iter().all(whole) {
        return Ok(None);
    }
    let saved = |from: &Play, to: &Play| {
        let [from, to] = [from, to].map(|play| turnarounds(instance, play, &counted));
        Change::of(&from, &to, LEVEL)
    };
    let jobs = counted.len() as f64;
    let gap = |play: &Play| {
        (completions(play, &counted, |_| 1.0) - certificate.completions.claim as f64) / jobs
    };
    let changes = saved(boxes, any).zip(saved(any, exact));
    Ok(changes.map(|(contiguity, estimates)| Parts {
        scenario: instance.name.clone(),
        jobs: counted.len(),
        gap: gap(boxes),
        contiguity,
        estimates,
        rest: gap(exact),
    }))
}
