//! SVG drawings that explain how strategies would answer a request.
//!
//! Each strategy has a panel that shows the machine, with the origin at the lower left and planes
//! of constant z side by side. Each job has a color, and failed nodes are crossed out. If the
//! strategy is contiguous, a mark on each free node shows whether a box could be based there. A
//! base is *covered* (hatched) if the box would contain a busy or failed node. It is *rejected*
//! (dotted) if the box would extend beyond the machine or would contain the same nodes as a box at
//! another base. Any other base is a *candidate*, labeled with its optimality index if there is
//! room. The chosen placement is drawn on top, with its parts numbered in grant order. If the
//! strategy refuses the request, the region that is cheapest to clear is framed, provided that the
//! caller specifies this region.

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, JobId, Request, Scan, Sides};

use pavior_allocation::explain::{Answer, State, index, words};

use crate::canvas::{key_of, root};
use crate::coinciding::listed;
use crate::palette;
use crate::text::{size_within, width_of};
use crate::xml::Element;

/// The maximum total width, in pixels, of the planes in one row, unless a single plane is wider.
pub(crate) const WIDE: f64 = 720.0;
/// The maximum total width of panels drawn side by side. It is chosen so that text is legible on a
/// phone.
const ACROSS: f64 = 560.0;
/// The distance between panels, and the margin around all of them.
pub(crate) const GAP: f64 = 24.0;
/// The distance between planes in a panel.
const PLANE_GAP: f64 = 16.0;
/// The space for coordinates along each axis.
pub(crate) const AXIS: f64 = 18.0;

/// Draws a state and each strategy's answer to a request in that state. `freed` is the region that
/// would be cleared for the request, and `name` returns the name of a given job.
///
/// Each panel takes O(N) time for N nodes. The drawing is legible for up to a few thousand nodes.
pub fn explanation(
    state: &State,
    request: &Request,
    answers: &[Answer],
    freed: Option<&Cuboid>,
    name: &dyn Fn(JobId) -> String,
) -> String {
    let view = View::of(state.grid());
    let [wide, high] = view.panel();
    let columns = ((ACROSS - GAP) / (wide + GAP)).floor().max(1.0) as usize;
    let columns = columns.min(answers.len().max(1));
    let rows = answers.len().div_ceil(columns);
    let width = (GAP + columns as f64 * (wide + GAP)).max(420.0);
    let mut busy = String::new();
    busy_nodes(&view, state, name, &mut busy);
    let seen = described(state, answers);
    let key = key_of(&(seen.clone() + &busy));
    let mut body = String::new();
    for (number, answer) in answers.iter().enumerate() {
        let x = GAP + (number % columns) as f64 * (wide + GAP);
        let y = GAP + (number / columns) as f64 * (high + GAP);
        let mut inner = String::new();
        panel(&view, state, request, answer, &key, &mut inner);
        if answer.outcome.is_err() {
            for (at, size) in freed.into_iter().flat_map(|freed| view.pieces(freed)) {
                frame(at, size).end(&mut inner);
            }
        }
        Element::new("g")
            .with("transform", format!("translate({x} {y})"))
            .around(&inner, &mut body);
    }
    let legend_at = GAP + rows as f64 * (high + GAP);
    let frees = freed.is_some() && answers.iter().any(|answer| answer.outcome.is_err());
    let height = legend_at + legend((width, legend_at), &key, frees, &mut body) + GAP;
    let asked = match request.shape {
        Some(shape) => sides_in_words(state.grid(), shape),
        None => format!("{} nodes", request.nodes),
    };
    let title = format!("Where strategies would place {asked} on {}", state.grid());
    let mut shared = patterns(&key);
    Element::new("g").with("id", format_args!("busy-{key}")).around(&busy, &mut shared);
    let mut defs = String::new();
    Element::new("defs").around(&shared, &mut defs);
    drawing([width, height], [&title, &seen], &defs, &body)
}

/// Assembles an SVG file from a title, a description (omitted if empty), reusable definitions, and
/// a body drawn on a page.
pub(crate) fn drawing(
    [width, height]: [f64; 2],
    [title, seen]: [&str; 2],
    defs: &str,
    body: &str,
) -> String {
    let mut inner = String::new();
    Element::new("title").text(title, &mut inner);
    if !seen.is_empty() {
        Element::new("desc").text(seen, &mut inner);
    }
    inner += &palette::machines_style();
    inner += defs;
    rect("page", [0.0; 2], [width, height]).end(&mut inner);
    inner += body;
    let mut out = String::new();
    root(width, height)
        .with("font-family", palette::FONTS)
        .with("role", "img")
        .around(&inner, &mut out);
    out
}

/// Shifts a panel to leave a margin along the top and left edges of the page.
pub(crate) fn off_the_edge(panel: &str) -> String {
    let mut body = String::new();
    let at = format!("translate({GAP} {GAP})");
    Element::new("g").with("transform", at).around(panel, &mut body);
    body
}

/// Describes, in words, the nodes in use and each strategy's answer.
fn described(state: &State, answers: &[Answer]) -> String {
    let grid = state.grid();
    let failed: Vec<String> = state
        .failed()
        .iter()
        .map(|&node| words(grid, &Cuboid::node(grid.point(node))))
        .take(24)
        .collect();
    let failed: Vec<&str> = failed.iter().map(String::as_str).collect();
    let mut text = format!(
        "Jobs: {}. Nodes held: {} of {}. Free nodes: {}.",
        state.held().len(),
        state.busy_nodes(),
        grid.nodes(),
        state.free().count()
    );
    if !failed.is_empty() {
        text += &format!(" Failed: {}.", listed(&failed));
    }
    for answer in answers {
        text += &format!(" {}: {}.", answer.selection, summary(grid, answer));
    }
    text
}

fn sides_in_words(grid: &Grid, shape: Sides) -> String {
    let sides: Vec<String> = shape[..grid.axes()].iter().map(u16::to_string).collect();
    sides.join("x")
}

/// Returns the fill patterns for covered and rejected bases.
fn patterns(key: &str) -> String {
    let pattern = |class: &str, side: u32| {
        let pattern = Element::new("pattern").with("id", format_args!("{class}-{key}"));
        let pattern = pattern.with("width", side).with("height", side);
        pattern.with("patternUnits", "userSpaceOnUse")
    };
    let ground = |class: &str, side: f64| rect(class, [0.0; 2], [side; 2]);
    let mut out = String::new();
    let mut inner = String::new();
    ground("cover", 6.0).end(&mut inner);
    let hatch = Element::new("path").with("class", "hatch");
    hatch.with("d", "M-1 1L1 -1M0 6L6 0M5 7L7 5").end(&mut inner);
    pattern("cover", 6).around(&inner, &mut out);
    inner.clear();
    ground("reject", 5.0).end(&mut inner);
    let spot = Element::new("circle").with("class", "spot").with("cx", 2.5).with("cy", 2.5);
    spot.with("r", 0.8).end(&mut inner);
    pattern("reject", 5).around(&inner, &mut out);
    out
}

/// Creates a rectangle filled with a pattern.
fn filled(class: &str, key: &str, [x, y]: [f64; 2], [wide, high]: [f64; 2]) -> Element {
    let rect = Element::new("rect").with("x", x).with("y", y).with("width", wide);
    rect.with("height", high).with("fill", format_args!("url(#{class}-{key})"))
}

/// The layout of a machine's nodes within a panel.
pub(crate) struct View {
    grid: Grid,
    cell: f64,
    /// The number of planes in a row.
    planes: u16,
}

impl View {
    pub(crate) fn of(grid: &Grid) -> View {
        let [w, d, h] = grid.sides().map(f64::from);
        let cell = (200.0 / w.max(d)).floor().clamp(3.0, 24.0);
        // Put all planes in a single row if the nodes remain large enough to be marked.
        let of_row = (((WIDE - AXIS + PLANE_GAP) / h - PLANE_GAP) / w).floor();
        let cell = if of_row >= 12.0 { cell.min(of_row) } else { cell };
        let planes = ((WIDE - AXIS + PLANE_GAP) / (w * cell + PLANE_GAP)).floor().clamp(1.0, h);
        View { grid: *grid, cell, planes: planes as u16 }
    }

    pub(crate) fn panel(&self) -> [f64; 2] {
        let [w, d, h] = self.grid.sides().map(f64::from);
        let across = f64::from(self.planes);
        let down = (h / across).ceil();
        let title: f64 = 190.0;
        [
            (AXIS + across * (w * self.cell + PLANE_GAP) - PLANE_GAP).max(title),
            self.title() + down * (d * self.cell + AXIS + PLANE_GAP) - PLANE_GAP,
        ]
    }

    /// Returns the height of a panel's title, including the plane names on a 3D machine.
    fn title(&self) -> f64 {
        if self.grid.side(2) > 1 { 54.0 } else { 40.0 }
    }

    /// Returns the upper left corner and the size of a box on one plane. The box must not wrap.
    fn place(&self, cuboid: &Cuboid, z: u16) -> ([f64; 2], [f64; 2]) {
        let [w, d, _] = self.grid.sides().map(f64::from);
        let (across, down) = (f64::from(z % self.planes), f64::from(z / self.planes));
        let left = AXIS + across * (w * self.cell + PLANE_GAP);
        let top = self.title() + down * (d * self.cell + AXIS + PLANE_GAP);
        let [x, y, _] = cuboid.base.map(f64::from);
        let [a, b, _] = cuboid.sides.map(f64::from);
        let at = [left + x * self.cell, top + (d - y - b) * self.cell];
        (at, [a * self.cell, b * self.cell])
    }

    /// Returns the upper left corner and the size of each piece of a box, plane by plane.
    pub(crate) fn pieces(&self, cuboid: &Cuboid) -> Vec<([f64; 2], [f64; 2])> {
        let planes = |piece: Cuboid| {
            (piece.base[2]..piece.base[2] + piece.sides[2]).map(move |z| (piece, z))
        };
        let pieces = cuboid.unwrapped(&self.grid).flat_map(planes);
        pieces.map(|(piece, z)| self.place(&piece, z)).collect()
    }
}

pub(crate) fn rect(class: &str, [x, y]: [f64; 2], [wide, high]: [f64; 2]) -> Element {
    let rect = Element::new("rect").with("class", class).with("x", x).with("y", y);
    rect.with("width", wide).with("height", high)
}

/// Creates a frame around a region to be cleared, in a shade of red suitable for light and dark
/// mode.
fn frame([x, y]: [f64; 2], [wide, high]: [f64; 2]) -> Element {
    let rect = Element::new("rect").with("x", x).with("y", y).with("width", wide);
    let rect = rect.with("height", high).with("fill", "none").with("stroke", "#e0483e");
    rect.with("stroke-width", 3).with("stroke-dasharray", "7 3")
}

pub(crate) fn text(class: &str, [x, y]: [f64; 2], size: f64) -> Element {
    let text = Element::new("text").with("class", class).with("x", x).with("y", y);
    text.with("font-size", size)
}

/// Writes text in the largest size that fits a rectangle, or omits text that would be illegible.
pub(crate) fn label(class: &str, shown: &str, (at, size): ([f64; 2], [f64; 2]), out: &mut String) {
    if let Some(height) = size_within(shown, size) {
        let middle = [at[0] + size[0] / 2.0, at[1] + size[1] / 2.0 + (height * 0.36).round()];
        text(class, middle, height).text(shown, out);
    }
}

fn panel(
    view: &View,
    state: &State,
    request: &Request,
    answer: &Answer,
    key: &str,
    out: &mut String,
) {
    let grid = state.grid();
    text("name", [AXIS, 12.0], 14.0).text(&answer.selection.to_string(), out);
    text("quiet", [AXIS, 29.0], 13.0).text(&summary(grid, answer), out);
    for z in 0..grid.side(2) {
        plane(view, z, out);
    }
    if answer.selection.entry.does.contiguous
        && let Some(shape) = searched(request, answer).filter(|&shape| grid.fits(shape))
    {
        bases(view, state, shape, key, out);
    }
    Element::new("use").with("href", format_args!("#busy-{key}")).end(out);
    let Ok(choice) = &answer.outcome else { return };
    let parts = choice.placement.parts();
    for (number, part) in parts.iter().enumerate() {
        for place in view.pieces(part) {
            rect("choice", place.0, place.1).end(out);
            if parts.len() > 1 {
                label("number", &(number + 1).to_string(), place, out);
            } else {
                label("number", &choice.index().to_string(), place, out);
            }
        }
    }
}

/// Returns the second line of a panel's title.
fn summary(grid: &Grid, answer: &Answer) -> String {
    match &answer.outcome {
        Err(refusal) => format!("refused: {refusal}"),
        Ok(choice) => match choice.placement.parts() {
            [one] => format!("{}, index {}", words(grid, one), choice.index()),
            parts => format!("{} parts, index {}", parts.len(), choice.index()),
        },
    }
}

/// Returns the shape whose bases are marked: the chosen shape or, after a refusal, the requested
/// shape. Returns `None` if the chosen placement has several parts.
fn searched(request: &Request, answer: &Answer) -> Option<Sides> {
    match &answer.outcome {
        Ok(choice) => match choice.placement.parts() {
            [one] => Some(one.sides),
            _ => None,
        },
        Err(_) => request.shape,
    }
}

/// Draws a plane's nodes, with grid lines and coordinates.
pub(crate) fn plane(view: &View, z: u16, out: &mut String) {
    let [w, d, h] = view.grid.sides();
    let whole = Cuboid::new([0, 0, z], [w, d, 1]);
    let (at, size) = view.place(&whole, z);
    rect("node", at, size).end(out);
    let mut lines = String::new();
    for x in 0..=w {
        lines += &format!("M{} {}v{}", at[0] + f64::from(x) * view.cell, at[1], size[1]);
    }
    for y in 0..=d {
        lines += &format!("M{} {}h{}", at[0], at[1] + f64::from(y) * view.cell, size[0]);
    }
    Element::new("path").with("class", "line").with("d", lines).end(out);
    // Write every coordinate if there is room; otherwise, every second, fifth, tenth, and so on.
    let steps = [1, 2, 5, 10, 20, 50, 100, 1000, 10_000];
    let step = steps.into_iter().find(|&step| f64::from(step) * view.cell >= 18.0).unwrap_or(1);
    let below = at[1] + size[1] + 12.0;
    for x in (0..w).step_by(step as usize) {
        let middle = at[0] + (f64::from(x) + 0.5) * view.cell;
        text("quiet middle", [middle, below], 10.0).text(&x.to_string(), out);
    }
    if z % view.planes == 0 {
        for y in (0..d).step_by(step as usize) {
            let middle = at[1] + size[1] - (f64::from(y) + 0.5) * view.cell + 4.0;
            text("quiet middle", [at[0] - 10.0, middle], 10.0).text(&y.to_string(), out);
        }
    }
    if h > 1 {
        text("quiet", [at[0], at[1] - 3.0], 10.0).text(&format!("z = {z}"), out);
    }
}

/// The status of a node as a possible base of a box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Busy,
    Covered,
    Rejected,
    Candidate,
}

/// Marks a machine's free nodes according to their status as possible bases of a box.
fn bases(view: &View, state: &State, shape: Sides, key: &str, out: &mut String) {
    let (grid, free) = (state.grid(), state.free());
    let mut set = BaseSet::new(*grid);
    set.compute(free, shape);
    let of = |at: Coordinates| {
        let canonical = (0..3).all(|axis| at[axis] < grid.starts(axis, shape[axis]));
        match () {
            () if !free.is_node_free(grid.id(at)) => Base::Busy,
            () if !canonical => Base::Rejected,
            () if set.contains(at) => Base::Candidate,
            () => Base::Covered,
        }
    };
    for (y, z) in (0..grid.side(2)).flat_map(|z| (0..grid.side(1)).map(move |y| (y, z))) {
        let mut x = 0;
        while x < grid.side(0) {
            let kind = of([x, y, z]);
            let run = (x..grid.side(0)).take_while(|&next| of([next, y, z]) == kind).count() as u16;
            let class = match kind {
                Base::Covered => Some("cover"),
                Base::Rejected => Some("reject"),
                _ => None,
            };
            if let Some(class) = class {
                let (at, size) = view.place(&Cuboid::new([x, y, z], [run, 1, 1]), z);
                let inner = [size[0] - 1.0, size[1] - 1.0];
                filled(class, key, [at[0] + 0.5, at[1] + 0.5], inner).end(out);
            }
            x += run;
        }
    }
    for base in Scan::default().bases(*grid, shape).filter(|&base| set.contains(base)) {
        let node = view.place(&Cuboid::node(base), base[2]);
        if view.cell >= 12.0 {
            let index = index(free, &Cuboid::new(base, shape));
            label("mark", &index.to_string(), node, out);
        } else {
            let ([x, y], half) = (node.0, view.cell / 2.0);
            let dot = Element::new("circle").with("class", "dot").with("cx", x + half);
            dot.with("cy", y + half).with("r", (view.cell / 6.0).max(0.75)).end(out);
        }
    }
}

/// Draws the jobs' nodes and the failed nodes.
pub(crate) fn busy_nodes(
    view: &View,
    state: &State,
    name: &dyn Fn(JobId) -> String,
    out: &mut String,
) {
    for (number, (job, placement)) in state.held().iter().enumerate() {
        let name = name(*job);
        for place in placement.parts().iter().flat_map(|part| view.pieces(part)) {
            let fill = palette::JOBS[number % palette::JOBS.len()];
            rect("job", place.0, place.1).with("fill", fill).end(out);
            label("on", &name, place, out);
        }
    }
    for node in state.failed() {
        for (at, size) in view.pieces(&Cuboid::node(view.grid.point(node))) {
            failed(at, size, out);
        }
    }
}

fn failed(at: [f64; 2], [side, _]: [f64; 2], out: &mut String) {
    rect("failed", at, [side; 2]).end(out);
    let (near, far) = (side * 0.25, side * 0.75);
    let [x, y] = at;
    let cross = format!(
        "M{} {}L{} {}M{} {}L{} {}",
        x + near,
        y + near,
        x + far,
        y + far,
        x + near,
        y + far,
        x + far,
        y + near
    );
    Element::new("path").with("class", "cross").with("d", cross).end(out);
}

/// Draws the legend, with its left edge at `GAP`. Returns its height.
fn legend((width, top): (f64, f64), key: &str, frees: bool, out: &mut String) -> f64 {
    const SIDE: f64 = 16.0;
    let entries = [
        ("job", "job, by name"),
        ("failed", "failed node"),
        ("node", "free node"),
        ("mark", "free base, with its index"),
        ("cover", "covered base: a busy or failed node is in the way"),
        ("reject", "rejected base: the box would extend beyond the machine"),
        ("choice", "choice, with its index (parts are numbered)"),
        ("freed", "place that is cheapest to empty"),
    ];
    let entries = entries.into_iter().filter(|(class, _)| frees || *class != "freed");
    let (mut x, mut y) = (GAP, top);
    for (class, meaning) in entries {
        let wide = SIDE + 6.0 + width_of(meaning, 13.0) + 12.0;
        if x > GAP && x + wide > width {
            (x, y) = (GAP, y + 24.0);
        }
        let (at, size) = ([x, y], [SIDE; 2]);
        match class {
            "failed" => failed(at, size, out),
            "mark" => {
                free_node(at, size, out);
                label("mark", "7", (at, size), out);
            }
            "node" => free_node(at, size, out),
            "job" => {
                rect("job", at, size).with("fill", palette::JOBS[0]).end(out);
                label("on", "7", (at, size), out);
            }
            "cover" | "reject" => filled(class, key, at, size).end(out),
            "freed" => frame(at, size).end(out),
            _ => rect(class, at, size).end(out),
        }
        text("quiet", [x + SIDE + 6.0, y + 12.5], 13.0).text(meaning, out);
        x += wide;
    }
    y + SIDE - top
}

fn free_node([x, y]: [f64; 2], [side, _]: [f64; 2], out: &mut String) {
    rect("node", [x, y], [side; 2]).end(out);
    let lines = format!("M{x} {y}h{side}v{side}h-{side}z");
    Element::new("path").with("class", "line").with("d", lines).end(out);
}
