//! An SVG canvas, and the shapes used in drawings.

use std::fmt::Write;

use crate::coinciding::Turn;
use crate::palette::{self, Ink};
use crate::xml::Element;

/// The horizontal anchor of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG under construction. A user unit is about one pixel on a desktop screen.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Canvas {
        let mut canvas = Canvas { width, height, body: String::new() };
        canvas.add(rect((0.0, 0.0), (width, height), Ink::Paper));
        canvas
    }

    pub(crate) fn add(&mut self, element: Element) {
        element.end(&mut self.body);
    }

    pub(crate) fn write(&mut self, element: Element, text: &str) {
        element.text(text, &mut self.body);
    }

    /// Returns the buffer, so that the caller can write nested elements.
    pub(crate) fn body(&mut self) -> &mut String {
        &mut self.body
    }

    /// Returns the complete file, including a title and a description.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let mut inner = String::new();
        Element::new("title").text(title, &mut inner);
        Element::new("desc").text(description, &mut inner);
        inner += &palette::chart_style();
        inner += &self.body;
        let root = root(n(self.width), n(self.height)).with("role", "img");
        let mut out = String::with_capacity(inner.len() + 256);
        root.with("font-family", palette::FONTS).around(&inner, &mut out);
        out
    }
}

/// Creates the root element of an SVG file.
pub(crate) fn root(width: impl std::fmt::Display, height: impl std::fmt::Display) -> Element {
    Element::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format_args!("0 0 {width} {height}"))
        .with("width", width)
        .with("height", height)
}

/// Creates a filled rectangle from its upper left corner and its size.
pub(crate) fn rect((x, y): (f64, f64), (width, height): (f64, f64), ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let rect = Element::new("rect").with("class", class + "f").with("x", n(x)).with("y", n(y));
    rect.with("width", n(width)).with("height", n(height)).with("fill", colour)
}

pub(crate) fn line(from: (f64, f64), to: (f64, f64), ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let line =
        Element::new("line").with("class", class).with("x1", n(from.0)).with("y1", n(from.1));
    line.with("x2", n(to.0)).with("y2", n(to.1)).with("stroke", colour)
}

/// Creates a polyline.
pub(crate) fn path(points: &[(f64, f64)], ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let mut data = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(data, "{}{} {}", if index == 0 { "M" } else { "L" }, n(*x), n(*y));
    }
    let path = Element::new("path").with("class", class).with("d", data);
    path.with("fill", "none").with("stroke", colour)
}

/// Creates the mark for a point in a series. The shapes vary, and every other mark is hollow, so
/// that series can be distinguished without color. If several series coincide, their marks are
/// nested, and only the innermost mark is filled.
pub(crate) fn mark((x, y): (f64, f64), series: usize, turn: Turn) -> Element {
    let (class, colour) = Ink::Series(series).class();
    let r = 4.4 * turn.scale();
    let polygon = |points: &[(f64, f64)]| {
        let points: Vec<String> =
            points.iter().map(|(a, b)| format!("{},{}", n(x + a * r), n(y + b * r))).collect();
        Element::new("polygon").with("points", points.join(" "))
    };
    let shape = match series % 4 {
        0 => Element::new("circle").with("cx", n(x)).with("cy", n(y)).with("r", n(r)),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        _ => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
    };
    // After four series, the shapes repeat with filled and hollow swapped.
    let is_even = (series + series / 4) % 2 == 0;
    let is_filled = if turn.of > 1 { turn.rank + 1 == turn.of } else { is_even };
    let filled = if is_filled {
        shape.with("class", format_args!("{class}f {class}")).with("fill", colour)
    } else {
        shape.with("class", class).with("fill", "none")
    };
    filled.with("stroke", colour).with("stroke-width", "1.6")
}

/// Returns the definitions of hatch patterns that distinguish fills without color. The strokes use
/// the background color, and the first of the four fills is not hatched. Each pattern's id ends
/// with `key`, which must be unique among the drawings on a page.
pub(crate) fn hatches(key: &str) -> String {
    let (class, colour) = Ink::Paper.class();
    let strokes = ["M-2 2L2 -2M0 8L8 0M6 10L10 6", "M0 2H8M0 6H8", "M2 0V8M0 2H8"];
    let mut all = String::new();
    for (number, strokes) in (1..).zip(strokes) {
        let stroke = Element::new("path").with("class", &class).with("d", strokes);
        let stroke = stroke.with("stroke", colour).with("stroke-width", "1.6").with("fill", "none");
        Element::new("pattern")
            .with("id", format_args!("h{number}-{key}"))
            .with("width", 8)
            .with("height", 8)
            .with("patternUnits", "userSpaceOnUse")
            .holding(&stroke, &mut all);
    }
    let mut out = String::new();
    Element::new("defs").around(&all, &mut out);
    out
}

/// Returns the hatching to draw over a series' fill, or `None` if the series has no hatching.
pub(crate) fn hatch(at: (f64, f64), size: (f64, f64), series: usize, key: &str) -> Option<Element> {
    let rect = Element::new("rect").with("x", n(at.0)).with("y", n(at.1));
    let rect = rect.with("width", n(size.0)).with("height", n(size.1));
    let number = series % 4;
    (number > 0).then(|| rect.with("fill", format_args!("url(#h{number}-{key})")))
}

/// Returns a short hash of the text, for use in ids that must be unique on a page.
pub(crate) fn key_of(text: &str) -> String {
    // The hash function is FNV-1a.
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// Creates a text element with its baseline at y.
pub(crate) fn text((x, y): (f64, f64), anchor: Anchor, size: f64, ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let text = Element::new("text").with("class", class + "f").with("x", n(x)).with("y", n(y));
    text.with("text-anchor", anchor).with("font-size", n(size)).with("fill", colour)
}

/// Rotates an element clockwise about a point, by an angle in degrees.
pub(crate) fn turned(element: Element, degrees: f64, (x, y): (f64, f64)) -> Element {
    element.with("transform", format_args!("rotate({} {} {})", n(degrees), n(x), n(y)))
}

pub(crate) fn bold(element: Element) -> Element {
    element.with("font-weight", "600")
}

/// Formats a coordinate or length with at most two decimals.
pub(crate) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}
