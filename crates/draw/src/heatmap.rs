//! Heat maps of a machine's channels, in which color shows the load.
//!
//! ```text
//!   [i|e]=====[i|e]=====    a node: injection channel (left), ejection channel (right);
//!     ||        ||          next to each other, the two directions of a link (on the right-hand
//!     ||        ||          side of the direction of travel), virtual channels further out
//! ```
//!
//! A wrap-around link is drawn as leaving the machine at one border and entering it at the opposite
//! border. On a machine with three axes, layers are drawn side by side, and links along z are short
//! diagonals (up and to the right for +z).

use pavior_mesh::{Coordinates, Grid};
use pavior_network::{Channel, ChannelKind, ChannelLoad};

use crate::canvas::root;
use crate::palette::{HEATS, chart_style, heat, heat_step, heat_style};
use crate::text::cut;
use crate::xml::Element;

/// The distance between the centers of adjacent nodes.
const CELL: f64 = 40.0;
const NODE: f64 = 14.0;
const MARGIN: f64 = 52.0;
const HEADER: f64 = 48.0;
const FOOTER: f64 = 44.0;

/// Draws the load on every channel over a run of `cycles` cycles. The color scale ends at the load
/// of the busiest channel. The y axis points up, as in figures in the literature.
///
/// ```
/// # mod pavior { pub use pavior_draw as draw; pub use pavior_network as network;
/// #     pub use pavior_mesh::*; }
/// use pavior::network::{ChannelLoad, Channels, VirtualChannels};
/// use pavior::{Grid, NodeId};
/// let mut load = ChannelLoad::new(Channels::new(Grid::mesh(&[4, 4])?, VirtualChannels::Two));
/// load.add(NodeId(0), NodeId(6), 8);
/// let svg = pavior::draw::heatmap(&load, 100, "one message");
/// assert!(svg.starts_with("<svg") && svg.contains("8.0%"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn heatmap(load: &ChannelLoad, cycles: u64, title: &str) -> String {
    let table = load.table(cycles);
    let most = table.iter().map(|row| row.utilization).fold(0.0, f64::max);
    let mut picture = Picture::new(load);
    picture.head(title);
    for row in &table {
        let part = if most > 0.0 { row.utilization / most } else { 0.0 };
        picture.channel(row.channel, heat_step(part), row.utilization);
    }
    picture.finish(title, most)
}

struct Picture {
    grid: Grid,
    sides: [f64; 3],
    body: String,
}

impl Picture {
    fn new(load: &ChannelLoad) -> Picture {
        let grid = *load.channels().grid();
        Picture { grid, sides: grid.sides().map(f64::from), body: String::new() }
    }

    fn layer_width(&self) -> f64 {
        self.sides[0] * CELL + MARGIN
    }

    fn size(&self) -> (f64, f64) {
        let width = self.sides[2] * self.layer_width() + MARGIN;
        (width.max(400.0), HEADER + self.sides[1] * CELL + MARGIN + FOOTER)
    }

    fn place(&self, point: Coordinates) -> (f64, f64) {
        let [x, y, z] = point.map(f64::from);
        let left = MARGIN + z * self.layer_width();
        (left + (x + 0.5) * CELL, HEADER + (self.sides[1] - y - 0.5) * CELL)
    }

    fn head(&mut self, title: &str) {
        let (width, height) = self.size();
        let page = Element::new("rect").with("width", width).with("height", height);
        page.with("class", "paperf").with("fill", "#ffffff").end(&mut self.body);
        let heading = Element::new("text").with("class", "textf").with("x", MARGIN).with("y", 22);
        let heading = heading.with("font-size", 15).with("font-weight", 600);
        let room = self.size().0 - MARGIN - 8.0;
        heading.with("fill", "#1d2126").text(&cut(title, 16.0, room), &mut self.body);
        let last = [self.grid.side(0) - 1, self.grid.side(1) - 1];
        for z in 0..self.grid.side(2) {
            // Label the first and last columns and rows with their coordinates along the edges.
            // Write the layer's coordinate below.
            for x in [0, last[0]] {
                let (at, below) = self.place([x, 0, z]);
                self.label((at, below + CELL * 1.08), "middle", &x.to_string());
            }
            for y in [0, last[1]] {
                let (at, middle) = self.place([0, y, z]);
                self.label((at - CELL * 0.86, middle + 4.0), "end", &y.to_string());
            }
            // Center each axis name between its first and last coordinates.
            let [right, high] = [0, 1].map(|axis| (self.sides[axis] - 1.0) * CELL / 2.0);
            let (at, low) = self.place([0, 0, z]);
            if last[0] > 1 {
                self.label((at + right, low + CELL * 1.08), "middle", "x");
            }
            if last[1] > 1 {
                self.label((at - CELL * 0.86, low - high + 4.0), "end", "y");
            }
            if self.grid.axes() == 3 {
                let (at, below) = self.place([0, 0, z]);
                let middle = at + (self.sides[0] - 1.0) * CELL / 2.0;
                self.label((middle, below + CELL * 1.4), "middle", &format!("z = {z}"));
            }
        }
    }

    fn channel(&mut self, channel: Channel, step: usize, utilization: f64) {
        let (class, colour) = heat(step);
        let (x, y) = self.place(self.grid.point(channel.node));
        let title = format!("{}: {:.1}%", channel.name(&self.grid), 100.0 * utilization);
        let half = NODE / 2.0;
        let shape = match channel.kind {
            ChannelKind::Injection | ChannelKind::Ejection => {
                let left = if channel.kind == ChannelKind::Injection { x - half } else { x };
                let rect = Element::new("rect").with("x", left).with("y", y - half);
                let rect = rect.with("width", half).with("height", NODE).with("fill", colour);
                let rect = rect.with("class", format!("{class}f"));
                rect.with("stroke", "#999").with("stroke-width", ".5")
            }
            ChannelKind::Link { axis, positive, virtual_channel } => {
                let [start, end] = link_ends(axis, positive, f64::from(virtual_channel));
                let line = Element::new("line").with("x1", x + start[0]).with("y1", y + start[1]);
                let line = line.with("x2", x + end[0]).with("y2", y + end[1]);
                line.with("class", class).with("stroke", colour).with("stroke-width", "2.6")
            }
        };
        shape.titled(&title, &mut self.body);
    }

    /// Draws the color scale and returns the complete file.
    fn finish(mut self, title: &str, most: f64) -> String {
        let (width, height) = self.size();
        let top = height - 24.0;
        for step in 0..HEATS {
            let (class, colour) = heat(step);
            let left = MARGIN + 3.0 * step as f64;
            let rect = Element::new("rect").with("x", left).with("y", top).with("width", 3.2);
            let rect = rect.with("height", 10).with("class", format!("{class}f"));
            rect.with("fill", colour).end(&mut self.body);
        }
        let scale = format!("busy in 0 to {:.1}% of cycles", 100.0 * most);
        self.label((MARGIN + 188.0, top + 9.0), "start", &scale);
        let mut inner = String::new();
        Element::new("title").text(title, &mut inner);
        let seen = format!(
            "The channels of {}, colored by load. The left end of the scale means idle; the \
             busiest channel is busy in {:.1}% of cycles. Each channel's tooltip shows its load.",
            self.grid,
            100.0 * most
        );
        Element::new("desc").text(&seen, &mut inner);
        inner += &chart_style();
        inner += &heat_style();
        inner += &self.body;
        let mut out = String::new();
        let fonts = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
        let root = root(width, height).with("role", "img").with("font-family", fonts);
        root.around(&inner, &mut out);
        out
    }

    fn label(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let label = Element::new("text").with("x", x).with("y", y).with("font-size", 12);
        label
            .with("class", "faintf")
            .with("fill", "#5b636d")
            .with("text-anchor", anchor)
            .text(text, &mut self.body);
    }
}

/// Returns the endpoints of the line that represents a link, relative to the center of the link's
/// node, with y pointing down.
fn link_ends(axis: usize, positive: bool, virtual_channel: f64) -> [[f64; 2]; 2] {
    let (near, far) = (NODE / 2.0 + 1.0, CELL - NODE / 2.0 - 1.0);
    let aside = 2.0 + 3.2 * virtual_channel;
    let sign = if positive { 1.0 } else { -1.0 };
    match axis {
        // The line runs to the right of the direction of travel.
        0 => [[sign * near, sign * aside], [sign * far, sign * aside]],
        1 => [[sign * aside, -sign * near], [sign * aside, -sign * far]],
        _ => {
            let (start, end) = (NODE / 2.0 + 0.5, NODE / 2.0 + 7.5);
            let shift = 2.6 * virtual_channel;
            [
                [sign * (start + shift), -sign * (start - shift)],
                [sign * (end + shift), -sign * (end - shift)],
            ]
        }
    }
}
