//! A picture of the machine: every channel in the colour of its load.
//!
//! ```text
//!   [i|e]=====[i|e]=====    a node: left its injection channel, right its ejection channel;
//!     ||        ||          beside each other the two directions of a link (on the right-hand
//!     ||        ||          side of the direction of travel), virtual channels further out
//! ```
//!
//! Wrap links leave at one border and come in at the opposite one. The layers of a machine with
//! three axes lie side by side; links along z are short diagonals, up-right for +z.

use std::fmt::{self, Write};

use pavior_mesh::Point;

use super::load::ChannelLoad;
use crate::channel::{Channel, ChannelKind};

/// Distances in the picture.
const CELL: f64 = 40.0;
const NODE: f64 = 14.0;
const MARGIN: f64 = 52.0;
const HEADER: f64 = 48.0;
const FOOTER: f64 = 44.0;

/// Colours from no load to the greatest (viridis, reversed so that idle links are pale).
const SCALE: [[f64; 3]; 6] = [
    [235.0, 238.0, 240.0],
    [253.0, 220.0, 110.0],
    [122.0, 209.0, 81.0],
    [34.0, 136.0, 140.0],
    [59.0, 82.0, 139.0],
    [68.0, 1.0, 84.0],
];

/// The colour of a load between 0 and 1.
fn colour(load: f64) -> String {
    let at = load.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let low = (at as usize).min(SCALE.len() - 2);
    let part = at - low as f64;
    let mix = |k: usize| (SCALE[low][k] + part * (SCALE[low + 1][k] - SCALE[low][k])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Writes an SVG heat map of the channel load over a run of so many cycles. Colours go from no load
/// to that of the busiest channel. The y axis points up, as in the field's figures.
///
/// # Errors
/// If `out` fails.
///
/// ```
/// use pavior_mesh::{Grid, NodeId};
/// use pavior_network::{ChannelLoad, Channels, VirtualChannels, write_heatmap};
/// let mut load = ChannelLoad::new(Channels::new(Grid::mesh(&[4, 4])?, VirtualChannels::Two));
/// load.add(NodeId(0), NodeId(6), 8);
/// let mut svg = String::new();
/// write_heatmap(&mut svg, &load, 100, "one message")?;
/// assert!(svg.starts_with("<svg") && svg.contains("8.0 %"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_heatmap(
    out: &mut impl Write,
    load: &ChannelLoad,
    cycles: u64,
    title: &str,
) -> fmt::Result {
    let table = load.table(cycles);
    let most = table.iter().map(|row| row.utilization).fold(0.0, f64::max);
    let picture = Picture::new(load);
    picture.open(out, title)?;
    for row in &table {
        let part = if most > 0.0 { row.utilization / most } else { 0.0 };
        picture.channel(out, row.channel, &colour(part), row.utilization)?;
    }
    picture.close(out, most)
}

struct Picture<'a> {
    load: &'a ChannelLoad,
    sides: [f64; 3],
    axes: usize,
}

impl<'a> Picture<'a> {
    fn new(load: &'a ChannelLoad) -> Picture<'a> {
        let grid = load.channels().grid();
        Picture { load, sides: grid.sides().map(f64::from), axes: grid.axes() }
    }

    fn layer_width(&self) -> f64 {
        self.sides[0] * CELL + MARGIN
    }

    fn size(&self) -> (f64, f64) {
        let width = self.sides[2] * self.layer_width() + MARGIN;
        (width.max(400.0), HEADER + self.sides[1] * CELL + MARGIN + FOOTER)
    }

    /// The middle of a node.
    fn place(&self, point: Point) -> (f64, f64) {
        let [x, y, z] = point.map(f64::from);
        let left = MARGIN + z * self.layer_width();
        (left + (x + 0.5) * CELL, HEADER + (self.sides[1] - y - 0.5) * CELL)
    }

    fn open(&self, out: &mut impl Write, title: &str) -> fmt::Result {
        let (width, height) = self.size();
        write!(out, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}""#)?;
        writeln!(out, r#" width="{width}" height="{height}" font-family="sans-serif">"#)?;
        writeln!(out, r#"<rect width="{width}" height="{height}" fill="white"/>"#)?;
        let title = escape(title);
        writeln!(out, r#"<text x="{MARGIN}" y="20" font-size="14">{title}</text>"#)?;
        let grid = self.load.channels().grid();
        let last = [grid.side(0) - 1, grid.side(1) - 1];
        for z in 0..grid.side(2) {
            // The coordinates of the first and last column and row; the layer's below it.
            for x in [0, last[0]] {
                let (at, below) = self.place([x, 0, z]);
                label(out, at, below + CELL * 1.08, "middle", &x.to_string())?;
            }
            for y in [0, last[1]] {
                let (at, middle) = self.place([0, y, z]);
                label(out, at - CELL * 0.86, middle + 4.0, "end", &y.to_string())?;
            }
            if self.axes == 3 {
                let (at, below) = self.place([0, 0, z]);
                let middle = at + (self.sides[0] - 1.0) * CELL / 2.0;
                label(out, middle, below + CELL * 1.4, "middle", &format!("z = {z}"))?;
            }
        }
        Ok(())
    }

    fn channel(
        &self,
        out: &mut impl Write,
        channel: Channel,
        colour: &str,
        utilization: f64,
    ) -> fmt::Result {
        let grid = self.load.channels().grid();
        let (x, y) = self.place(grid.point(channel.node));
        let name = channel.name(grid);
        let title = format!("<title>{name}: {:.1} %</title>", 100.0 * utilization);
        let half = NODE / 2.0;
        match channel.kind {
            ChannelKind::Injection | ChannelKind::Ejection => {
                let left = if channel.kind == ChannelKind::Injection { x - half } else { x };
                let (top, width) = (y - half, half);
                write!(out, r#"<rect x="{left}" y="{top}" width="{width}" height="{NODE}""#)?;
                writeln!(
                    out,
                    r##" fill="{colour}" stroke="#999" stroke-width=".5">{title}</rect>"##
                )
            }
            ChannelKind::Link { axis, positive, virtual_channel } => {
                let [start, end] = link_ends(axis, positive, f64::from(virtual_channel));
                let ([x1, y1], [x2, y2]) = ([x + start[0], y + start[1]], [x + end[0], y + end[1]]);
                write!(out, r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}""#)?;
                writeln!(out, r#" stroke="{colour}" stroke-width="2.6">{title}</line>"#)
            }
        }
    }

    /// The scale of colours.
    fn close(&self, out: &mut impl Write, most: f64) -> fmt::Result {
        let top = self.size().1 - 24.0;
        for step in 0..60 {
            let (left, fill) = (MARGIN + 3.0 * f64::from(step), colour(f64::from(step) / 59.0));
            writeln!(out, r#"<rect x="{left}" y="{top}" width="3.2" height="10" fill="{fill}"/>"#)?;
        }
        let scale = format!("0 to {:.1} % of cycles busy", 100.0 * most);
        label(out, MARGIN + 188.0, top + 9.0, "start", &scale)?;
        writeln!(out, "</svg>")
    }
}

/// Where a link's line starts and ends, from the middle of its node, y downwards.
fn link_ends(axis: usize, positive: bool, virtual_channel: f64) -> [[f64; 2]; 2] {
    let (near, far) = (NODE / 2.0 + 1.0, CELL - NODE / 2.0 - 1.0);
    let aside = 2.0 + 3.2 * virtual_channel;
    let sign = if positive { 1.0 } else { -1.0 };
    match axis {
        // On the right-hand side of the direction of travel.
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

fn label(out: &mut impl Write, x: f64, y: f64, anchor: &str, text: &str) -> fmt::Result {
    write!(out, r##"<text x="{x}" y="{y}" font-size="11" fill="#444" text-anchor="{anchor}">"##)?;
    writeln!(out, "{}</text>", escape(text))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
