//! The known replications for each point, and the replications that are needed next.

use std::collections::VecDeque;

use crate::{JournalEntry, Policy, Sample, Samples, Specification};

/// A range of replications wanted for a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The point's index in the experiment.
    pub point: usize,
    /// The first replication.
    pub first: u64,
    /// One past the last replication.
    pub end: u64,
}

impl Span {
    /// Returns the number of replications.
    pub fn runs(&self) -> u64 {
        self.end - self.first
    }
}

/// The replications for each point, both known and wanted.
pub(super) struct Plan<'s> {
    specification: &'s Specification,
    points: Vec<PointState>,
}

/// The progress of a point.
#[derive(Default)]
struct PointState {
    /// The samples, by replication.
    samples: Vec<Option<Sample>>,
    /// The number of replications planned so far, of which `missing` have no sample yet.
    goal: u64,
    missing: u64,
    /// The planned replications that are neither known nor in progress.
    wanted: VecDeque<u64>,
    finished: bool,
}

impl<'s> Plan<'s> {
    /// Creates a plan from the entries already known. It contains the replications still missing
    /// for the chosen points and for any other point that already has some.
    pub(super) fn new(
        specification: &'s Specification,
        known: Vec<JournalEntry>,
        is_chosen: impl Fn(usize) -> bool,
    ) -> Plan<'s> {
        let points = specification.points.iter().map(|_| PointState::default()).collect();
        let mut plan = Plan { specification, points };
        for JournalEntry { point, replication, sample } in known {
            if point < plan.points.len() && replication < Policy::MOST {
                plan.points[point].keep(replication, sample);
            }
        }
        for point in 0..plan.points.len() {
            if is_chosen(point) || !plan.points[point].samples.is_empty() {
                plan.advance(point);
            }
        }
        plan
    }

    /// Adds a sample, and returns the number of additional replications planned as a result.
    pub(super) fn keep(&mut self, point: usize, replication: u64, sample: Sample) -> u64 {
        self.points[point].keep(replication, sample);
        self.advance(point)
    }

    /// Plans any additional replications that a point needs, and returns their number.
    fn advance(&mut self, point: usize) -> u64 {
        let Specification { targets, .. } = self.specification;
        let policy = self.specification.policy_at(point);
        let state = &mut self.points[point];
        let mut planned = 0;
        while !state.finished && state.missing == 0 {
            let first = || state.samples.iter().take(state.goal as usize).flatten();
            let of = |&target: &usize| first().filter_map(|sample| sample.values[target]).collect();
            let samples: Vec<Vec<f64>> = targets.iter().map(of).collect();
            let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
            match policy.more(state.goal, &samples) {
                0 => state.finished = true,
                more => {
                    state.plan(more);
                    planned += state.missing;
                }
            }
        }
        planned
    }

    /// Returns the total number of replications that are neither known nor in progress.
    pub(super) fn wanted_runs(&self) -> u64 {
        self.points.iter().map(|state| state.wanted.len() as u64).sum()
    }

    /// Returns the replications that are neither known nor in progress, with consecutive
    /// replications combined into one span.
    pub(super) fn wanted(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (point, state) in self.points.iter().enumerate() {
            for &replication in &state.wanted {
                match spans.last_mut() {
                    Some(span) if span.point == point && span.end == replication => {
                        span.end = replication + 1;
                    }
                    _ => spans.push(Span { point, first: replication, end: replication + 1 }),
                }
            }
        }
        spans
    }

    /// Removes and returns the next replication wanted for a point.
    pub(super) fn take(&mut self, point: usize) -> Option<u64> {
        self.points[point].wanted.pop_front()
    }

    /// Returns the next replication wanted for a point, without removing it.
    pub(super) fn next(&self, point: usize) -> Option<u64> {
        self.points[point].wanted.front().copied()
    }

    /// Returns true if a point has been planned and has not yet met its target.
    pub(super) fn is_open(&self, point: usize) -> bool {
        let state = &self.points[point];
        state.goal > 0 && !state.finished
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns the final samples of each point, in order. Unfinished points have no samples.
    pub(super) fn into_samples(self) -> Samples {
        let of = |state: PointState| {
            let goal = if state.finished { state.goal } else { 0 };
            state.samples.into_iter().take(goal as usize).flatten().collect()
        };
        self.points.into_iter().map(of).collect()
    }
}

impl PointState {
    /// Stores a sample, replacing any earlier sample of the same replication.
    fn keep(&mut self, replication: u64, sample: Sample) {
        let index = replication as usize;
        if self.samples.len() <= index {
            self.samples.resize(index + 1, None);
        }
        let before = self.samples[index].replace(sample);
        if before.is_none() && replication < self.goal {
            self.missing -= 1;
        }
    }

    fn plan(&mut self, more: u64) {
        let goal = self.goal + more;
        for replication in self.goal..goal {
            if self.samples.get(replication as usize).is_none_or(Option::is_none) {
                self.wanted.push_back(replication);
                self.missing += 1;
            }
        }
        self.goal = goal;
    }
}
