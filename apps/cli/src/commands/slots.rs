//! `pavior slots`: counts how many boxes of a shape fit at the same time, both now and later.

use pavior::answers::{Move, SearchLimits, Shape, SlotsAnswer, Snapshot};
use pavior::boxes::volume;
use pavior::strategies::explain;
use pavior::{Cuboid, Freedom, Grid, Request};
use serde_json::{Value, json};

use super::unblock::{MOVES_HEADER, draw, move_rows, usable_shapes};
use crate::args::{SlotsArgs, Turning};
use crate::busy::{self, Busy, Ends};
use crate::failure::Failure;
use crate::output::{MAX_WIDTH, Reply, Table, sides};
use crate::{files, input};

pub(crate) fn run(args: &SlotsArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let request = input::request(&args.ask, args.freedom.as_deref(), &grid)?;
    files::check_output("--svg", args.svg.as_deref(), &[("--busy", args.busy.as_deref())])?;
    let busy = busy::read(args.busy.as_deref(), grid)?;
    let (machine, turn) = (busy.machine()?, args.turn == Turning::All);
    let shapes = usable_shapes(Some(request), &machine, turn)?;
    let (snapshot, ends) = (Snapshot::of(&machine), busy.ends()?);
    let limits = args.moves.map(|max_jobs| SearchLimits { max_jobs, turn, budget: args.budget });
    let end = |job| ends.rank(job);
    let answer = SlotsAnswer::of(&snapshot, &shapes, end, args.budget, limits);
    let report = SlotsReport { busy: &busy, grid, request, shapes, answer, ends: &ends };
    if let Some(path) = &args.svg {
        draw(path, &busy, report.moves(), report.boxes())?;
    }
    report.reply().print(args.output.format(), MAX_WIDTH)
}

/// The results, and everything needed to print them.
struct SlotsReport<'a> {
    busy: &'a Busy,
    grid: Grid,
    request: Request,
    shapes: Vec<Shape>,
    answer: SlotsAnswer,
    ends: &'a Ends<'a>,
}

impl SlotsReport<'_> {
    /// Returns the boxes to list and draw. If moves were requested, these are the boxes after the
    /// moves.
    fn boxes(&self) -> &[Cuboid] {
        let SlotsAnswer { now, after, .. } = &self.answer;
        after.as_ref().map_or(&now.boxes, |after| &after.plan.boxes)
    }

    fn moves(&self) -> &[Move] {
        self.answer.after.as_ref().map_or(&[], |after| &after.plan.moves)
    }

    /// Returns the answer with tables of the boxes and moves.
    fn reply(&self) -> Reply<'static> {
        let rows = self.boxes().iter().map(|at| vec![explain::words(&self.grid, at)]);
        let rows: Vec<Vec<String>> = rows.collect();
        let moves = move_rows(self.busy, self.moves());
        let tables = [Table::of_words(&["box"], &rows), Table::of_words(&MOVES_HEADER, &moves)];
        Reply {
            json: self.json(),
            csv: (&["box"], rows),
            sentences: self.sentences(),
            tables: tables.into_iter().flatten().collect(),
        }
    }

    fn json(&self) -> Value {
        json!(self.answer.json(&self.grid, |job| self.busy.name(job), |at| self.ends.at(at)))
    }

    fn sentences(&self) -> Vec<String> {
        let Request { shape, nodes, freedom, .. } = self.request;
        let nodes = self.shapes.first().map_or(nodes.into(), |shape| volume(shape.sides));
        let size = match shape {
            Some(shape) if freedom != Some(Freedom::AnyBox) => {
                format!("size {}", sides(&self.grid, shape))
            }
            _ => format!("{nodes} nodes"),
        };
        if !self.shapes.iter().any(|shape| shape.fits(&self.grid)) {
            return vec![format!("no box of {size} fits even on an empty {}", self.grid)];
        }
        self.answer.lines(&size, |at| self.ends.at(at).to_string())
    }
}
