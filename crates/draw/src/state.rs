//! SVG drawings of a machine's current state, with each job's nodes and the failed nodes.

use pavior_allocation::explain::State;
use pavior_mesh::JobId;

use crate::explanation::{AXIS, GAP, View, busy_nodes, drawing, off_the_edge, plane, text};

/// Draws a state as planes of constant z, with the origin at the lower left. `name` returns a job's
/// name.
///
/// Takes O(N) time for N nodes. The drawing is legible for up to a few thousand nodes.
pub fn state(state: &State, name: &dyn Fn(JobId) -> String) -> String {
    let grid = state.grid();
    let view = View::of(grid);
    let mut panel = String::new();
    text("name", [AXIS, 12.0], 14.0).text(&grid.to_string(), &mut panel);
    let free = format!("{} of {} nodes free", state.free().count(), grid.nodes());
    text("quiet", [AXIS, 29.0], 12.0).text(&free, &mut panel);
    for z in 0..grid.side(2) {
        plane(&view, z, &mut panel);
    }
    busy_nodes(&view, state, name, &mut panel);
    let [width, height] = view.panel().map(|side| side + 2.0 * GAP);
    let title = format!("Jobs and their nodes on {grid}: {free}");
    let failed = state.failed().len();
    let seen = format!(
        "{} jobs, labeled by name, hold {} nodes; {failed} failed nodes are crossed out.",
        state.held().len(),
        state.busy_nodes()
    );
    drawing([width, height], [&title, &seen], "", &off_the_edge(&panel))
}
