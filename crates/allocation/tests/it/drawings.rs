//! Tests that the drawings in the documentation show the strategies' actual answers.
//!
//! A drawing is a `text` block that begins with `STRATEGY on MACHINE, REQUEST:`, where the request
//! is a shape such as `3x2` or a count such as `6 nodes`. The rows follow, with the highest y first
//! and an empty line between planes. `#` marks busy nodes, and letters mark the granted parts in
//! order. If a block has no letters, the request must be refused, and the first line gives the
//! reason after the colon.

use pavior_mesh::{Grid, JobId, NodeId, Request, picture};

use crate::common::{busy_machine, busy_nodes};

fn request(text: &str) -> Request {
    if let Some(count) = text.strip_suffix(" nodes") {
        return Request::nodes(count.parse().unwrap());
    }
    let mut sides = [1; 3];
    for (side, number) in sides.iter_mut().zip(text.split('x')) {
        *side = number.parse().unwrap();
    }
    Request::shape(sides)
}

/// Redraws the rows with the strategy's answer.
fn redraw(head: &str, rows: &str) -> (String, String) {
    let (strategy, rest) = head.split_once(" on ").unwrap();
    let (grid, rest) = rest.split_once(", ").unwrap();
    let (asked, _) = rest.split_once(':').unwrap();
    let grid: Grid = grid.parse().unwrap();
    let busy: String =
        rows.chars().map(|mark| if mark.is_ascii_alphabetic() { '.' } else { mark }).collect();
    let drawn = picture::parse(grid, &busy).unwrap_or_else(|e| panic!("{head}: {e}"));
    let mut machine = busy_machine(grid, strategy, busy_nodes(&drawn));
    match machine.allocate(JobId(1), &request(asked)) {
        Err(error) => {
            let word = error.refusal().expect("a refusal").word();
            (busy, format!("{strategy} on {grid}, {asked}: {word}"))
        }
        Ok(placement) => {
            let letter = |node: NodeId| {
                let point = grid.point(node);
                let part = placement.parts().iter().position(|p| p.contains(&grid, point));
                part.map(|part| char::from(b'a' + part as u8))
            };
            // The nodes are visited in drawing order.
            let [w, d, h] = grid.sides();
            let points =
                (0..h).flat_map(|z| (0..d).rev().flat_map(move |y| (0..w).map(move |x| [x, y, z])));
            let mut points = points.map(|point| grid.id(point));
            let mark = |mark: char| match mark {
                '.' | '#' => letter(points.next().unwrap()).unwrap_or(mark),
                _ => mark,
            };
            (busy.chars().map(mark).collect(), format!("{strategy} on {grid}, {asked}:"))
        }
    }
}

#[test]
fn drawings_are_what_happens() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/families");
    let mut count = 0;
    let mut faults = String::new();
    for page in ["noncontiguous.md", "partition-hardware.md"] {
        let text = std::fs::read_to_string(format!("{folder}/{page}")).unwrap();
        for block in text.split("```text\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let Some((head, rows)) = block.split_once('\n') else { continue };
            if head.contains(" on ") && head.contains(':') {
                count += 1;
                let (drawn, answer) = redraw(head, rows);
                if (drawn.as_str(), answer.as_str()) != (rows, head) {
                    faults += &format!("{page}:\n{head}\n{rows}is\n{answer}\n{drawn}\n");
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(count >= 20, "{count} drawings");
}
