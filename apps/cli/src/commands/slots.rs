//! `pavior slots`: how many boxes of a shape can be placed side by side.

use pavior_allocation::explain;
use pavior_mesh::{Cuboid, Grid};
use pavior_planning::{Shape, Slots, Snapshot, slots};
use serde_json::json;

use super::unblock::{WIDE, shapes};
use crate::args::{SlotsArgs, Turning};
use crate::boxes::parts;
use crate::busy::{self, Busy};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::{files, input};

pub(crate) fn run(args: &SlotsArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let request = input::request(&args.ask, args.freedom.as_deref(), &grid)?;
    if let Some(path) = &args.svg {
        files::check_writable(path)?;
    }
    let busy = match &args.busy {
        Some(path) => busy::read(path, grid)?,
        None => Busy::none(grid),
    };
    let machine = busy.machine()?;
    let shapes = shapes(Some(request), &machine, args.turn == Turning::All)?;
    let found = slots(Snapshot::of(&machine).free(), &shapes, args.budget);
    if let Some(path) = &args.svg {
        let name = |job| busy.shown_name(job).raw();
        let svg = pavior_draw::plan(&busy.state, &busy.state, &[], &found.boxes, &name);
        files::write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    tell(Format::or_default(args.format), &grid, &shapes, &found)
}

/// Prints the answer, as JSON or as a sentence and a table of the boxes.
fn tell(format: Format, grid: &Grid, shapes: &[Shape], found: &Slots) -> Result<(), Failure> {
    let words = |at: &Cuboid| explain::words(grid, at);
    let rows: Vec<Vec<String>> = found.boxes.iter().map(|at| vec![words(at)]).collect();
    let header = ["box"];
    match format {
        Format::Json => output::json(&json!({
            "slots": found.boxes.len(),
            "bound": found.bound,
            "proven": found.proven(),
            "boxes": parts(grid, &found.boxes),
        })),
        Format::Csv => output::csv(&header, &rows),
        Format::Table => {
            output::text(&sentence(grid, shapes, found), WIDE)?;
            if rows.is_empty() {
                return Ok(());
            }
            let mut table = Table::new(&header, 1);
            for row in rows {
                table.row(row);
            }
            table.print(WIDE).map(drop)
        }
    }
}

fn sentence(grid: &Grid, shapes: &[Shape], found: &Slots) -> String {
    let Some(shape) = shapes.first() else {
        return "no box has so many nodes here".to_string();
    };
    let sides = shape.sides[..grid.axes()].iter().map(u16::to_string).collect::<Vec<_>>();
    let what = if shapes.len() == 1 { sides.join("x") } else { "the request's boxes".to_string() };
    let count = found.boxes.len();
    if found.proven() {
        format!("free side by side: {count} of {what}")
    } else {
        format!("free side by side: {count} of {what}; no more than {} are possible", found.bound)
    }
}
