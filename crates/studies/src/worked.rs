//! Worked examples from papers: published results for a machine snapshot, compared with ours.

use std::collections::BTreeMap;

use pavior::experiments::{Asked, Point};
use pavior::strategies::explain::{State, answer, index};
use pavior::strategies::{MfaCandidate, MfaVerdict, mfa_candidates};
use pavior::{Coordinates, Cuboid, JobId, Request, Sides};
use serde::Deserialize;

use super::{PointEvidence, Statement};

/// A worked example: a snapshot from the experiment, and the paper's results for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Worked {
    /// The part of the name that follows the statement's id.
    id: String,
    /// The parameter values that identify the point whose state is examined.
    at: BTreeMap<String, String>,
    finds: Finds,
    /// A remark for the reader.
    #[serde(default)]
    note: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Finds {
    /// The position that the strategy chooses for the point's request.
    Choice { place: String, index: i64 },
    /// The positions that MFA considers around a busy box, in order. Boxes are numbered from 1.
    Candidates { around: usize, rows: Vec<Candidate> },
    /// The mean number of nodes in the busy boxes.
    MeanSize(f64),
    /// The requested box's index and number of busy neighbors when the box is placed at this base.
    Contact { base: [u16; 2], index: i64, busy: usize },
}

/// A candidate position, as listed in the paper's tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    /// The side of the busy box on which the position lies.
    side: String,
    x: u16,
    y: u16,
    /// The table cell for the index: a number, `-1`, or `computed earlier`.
    worth: String,
    /// The nodes that contribute to the index: busy nodes, and the box's own nodes on the border.
    nodes: String,
    /// The row as printed in the paper, if it contains a misprint that we corrected.
    #[serde(default)]
    printed: String,
}

/// A point in the experiment, with its machine state and its request.
struct Asking<'p> {
    point: &'p Point,
    state: State,
    request: Sides,
}

impl Worked {
    /// Judges the example.
    ///
    /// # Errors
    /// Returns an error if the snapshot is missing, or if the example does not fit on the machine.
    pub(super) fn judge(
        &self,
        claim: &str,
        evidence: &PointEvidence<'_>,
    ) -> Result<Vec<Statement>, String> {
        let id = format!("{claim}@{}", self.id);
        let wrong = |reason: String| format!("row {id}: {reason}");
        let asking = Asking::of(evidence.at(&self.at).map_err(wrong)?).map_err(wrong)?;
        let judged = match &self.finds {
            Finds::Candidates { around, rows } => {
                return Ok(asking.candidates(&id, *around, rows));
            }
            Finds::Choice { place, index } => asking.choice(&id, place, *index),
            Finds::MeanSize(mean) => Ok(asking.mean_size(&id, *mean)),
            Finds::Contact { base, index, busy } => asking.contact(&id, *base, (*index, *busy)),
        };
        judged.map(|one| vec![one.note(self.note.as_str())]).map_err(wrong)
    }
}

impl Asking<'_> {
    fn of(point: &Point) -> Result<Asking<'_>, String> {
        let settings = point.settings();
        let Asked::Snapshot(snapshot) = &settings.asked else {
            return Err("a worked example requires a snapshot with a `request`".to_string());
        };
        let state = snapshot.busy.state(settings.machine, settings.seed, 0)?;
        Ok(Asking { point, state, request: snapshot.request })
    }

    fn choice(&self, id: &str, place: &str, worth: i64) -> Result<Statement, String> {
        let request = Request::shape(self.request);
        let found = answer(&self.state, &self.point.settings().strategy, &request, 1);
        let outcome = found.map_err(|error| error.to_string())?.outcome;
        let (base, index) = match &outcome {
            Ok(choice) => {
                let first = choice.placement.parts().first();
                (first.map(|part| part.base), Some(choice.index()))
            }
            Err(_) => (None, None),
        };
        let chosen = base.map_or("nothing".to_string(), shown);
        let holds = chosen == place && index == Some(worth);
        let ours = index.map(|index| index as f64);
        let paper = format!("{place} with index {worth}");
        Ok(Statement::counted(id, paper, ours, holds).note(format!("chosen: {chosen}")))
    }

    fn candidates(&self, id: &str, around: usize, rows: &[Candidate]) -> Vec<Statement> {
        let all = mfa_candidates(self.state.free(), &self.state.busy_list(), self.request, false);
        let around = |one: &MfaCandidate| one.around.is_some_and(|(at, _)| at + 1 == around);
        let found: Vec<MfaCandidate> = all.into_iter().filter(around).collect();
        let row = |(position, row): (usize, &Candidate)| {
            let id = format!("{id}-{}-{}", row.x, row.y);
            let place = shown([row.x, row.y, 0]);
            let paper = format!("{} {place}: {}", row.side, row.worth);
            let Some(one) = found.get(position) else {
                return Statement::counted(id, paper, None, false).note("not considered");
            };
            let mut nodes = String::new();
            let (worth, index, words) = match one.verdict {
                MfaVerdict::Index(index) => {
                    nodes = self.touches(&Cuboid::new(one.base, self.request)).join(" ");
                    (index.to_string(), Some(index as f64), format!("from {nodes}"))
                }
                MfaVerdict::Inadmissible => ("-1".into(), Some(-1.0), "inadmissible".into()),
                MfaVerdict::ComputedEarlier => {
                    ("computed earlier".into(), None, "computed earlier".into())
                }
            };
            let side = one.around.map_or(String::new(), |(_, side)| side.to_string());
            let holds = side == row.side
                && shown(one.base) == place
                && worth == row.worth
                && nodes == row.nodes;
            let judged = Statement::counted(id, paper, index, holds).note(row.printed.as_str());
            judged.note(words)
        };
        rows.iter().enumerate().map(row).collect()
    }

    fn mean_size(&self, id: &str, stated: f64) -> Statement {
        let sizes: Vec<u32> = self.state.busy_list().iter().map(Cuboid::volume).collect();
        let mean = f64::from(sizes.iter().sum::<u32>()) / sizes.len() as f64;
        let holds = mean.to_string() == stated.to_string();
        let judged = Statement::counted(id, stated.to_string(), Some(mean), holds);
        judged.note(format!("sizes {sizes:?}"))
    }

    fn contact(
        &self,
        id: &str,
        [x, y]: [u16; 2],
        (stated, stated_busy): (i64, usize),
    ) -> Result<Statement, String> {
        let placed = Cuboid::new([x, y, 0], self.request);
        // The box must lie within the machine and be free.
        let mut held = self.state.clone();
        held.hold(JobId(u64::MAX), &[placed]).map_err(|error| error.to_string())?;
        let touched = self.touches(&placed);
        let grid = self.state.grid();
        let own: Vec<String> = placed.nodes(grid).map(|node| shown(grid.point(node))).collect();
        // The box's own nodes count if they are on the border; other nodes count if they are busy.
        let border = touched.iter().filter(|node| own.contains(node)).count();
        let busy = touched.len() - border;
        let index = index(self.state.free(), &placed);
        let holds = (index, busy) == (stated, stated_busy);
        let judged = Statement::counted(id, format!("index {stated}"), Some(index as f64), holds);
        Ok(judged.note(format!("{busy} busy, {border} border: {}", touched.join(" "))))
    }

    /// Returns the nodes that contribute to a box's index: its busy neighbors, and its own nodes on
    /// the border.
    fn touches(&self, placed: &Cuboid) -> Vec<String> {
        let grid = self.state.grid();
        let mut all = Vec::new();
        for node in placed.nodes(grid).map(|node| grid.point(node)) {
            for (x, y) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
                let at = |axis: usize, step: i32| {
                    let moved = i32::from(node[axis]) + step;
                    u16::try_from(moved).ok().filter(|&moved| moved < grid.side(axis))
                };
                let Some((x, y)) = at(0, x).zip(at(1, y)) else {
                    all.push(shown(node));
                    continue;
                };
                let beside = Cuboid::node([x, y, 0]);
                if !beside.intersects(grid, placed) && !self.state.free().is_free(&beside) {
                    all.push(shown([x, y, 0]));
                }
            }
        }
        all.sort();
        all
    }
}

/// Formats a node on a 2D machine in the paper's notation.
fn shown(point: Coordinates) -> String {
    format!("<{},{}>", point[0], point[1])
}
