//! An SVG under construction, and the shapes that drawings are made of.

use std::fmt::Write;

use crate::palette::{self, Ink};
use crate::xml::Element;

/// Where a text is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG under construction. Lengths are in its own units, about a pixel on a desk.
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

    /// Adds an element without content.
    pub(crate) fn add(&mut self, element: Element) {
        element.end(&mut self.body);
    }

    /// Adds a text.
    pub(crate) fn write(&mut self, element: Element, text: &str) {
        element.text(text, &mut self.body);
    }

    /// Where elements with content are written.
    pub(crate) fn body(&mut self) -> &mut String {
        &mut self.body
    }

    /// The whole file.
    pub(crate) fn finish(self, title: &str) -> String {
        let mut inner = String::new();
        Element::new("title").text(title, &mut inner);
        inner += &palette::chart_style();
        inner += &self.body;
        let fonts = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
        let root = root(n(self.width), n(self.height)).with("role", "img");
        let mut out = String::with_capacity(inner.len() + 256);
        root.with("font-family", fonts).around(&inner, &mut out);
        out
    }
}

/// The root of a file of SVG.
pub(crate) fn root(width: impl std::fmt::Display, height: impl std::fmt::Display) -> Element {
    Element::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format_args!("0 0 {width} {height}"))
        .with("width", width)
        .with("height", height)
}

/// A filled rectangle: its upper left corner and its size.
pub(crate) fn rect((x, y): (f64, f64), (width, height): (f64, f64), ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let rect = Element::new("rect").with("class", class + "f").with("x", n(x)).with("y", n(y));
    rect.with("width", n(width)).with("height", n(height)).with("fill", colour)
}

/// A line.
pub(crate) fn line(from: (f64, f64), to: (f64, f64), ink: Ink) -> Element {
    let (class, colour) = ink.class();
    let line =
        Element::new("line").with("class", class).with("x1", n(from.0)).with("y1", n(from.1));
    line.with("x2", n(to.0)).with("y2", n(to.1)).with("stroke", colour)
}

/// A polyline.
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

/// The mark of a series at a place: shapes differ, and every other one is hollow, so that series
/// are told apart without colours and where they coincide.
pub(crate) fn mark((x, y): (f64, f64), series: usize) -> Element {
    let (class, colour) = Ink::Series(series).class();
    // Where two coincide, the later one is drawn over the earlier one and must not cover it.
    let r = [4.8, 4.8, 3.0, 4.2][series % 4];
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
    let filled = if series % 2 == 0 {
        shape.with("class", format_args!("{class}f {class}")).with("fill", colour)
    } else {
        shape.with("class", class).with("fill", "none")
    };
    filled.with("stroke", colour).with("stroke-width", "1.6")
}

/// Text with its baseline at y.
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

/// The attribute that turns an element about a point, in degrees clockwise.
pub(crate) fn turned(element: Element, degrees: f64, (x, y): (f64, f64)) -> Element {
    element.with("transform", format_args!("rotate({} {} {})", n(degrees), n(x), n(y)))
}

/// The attribute of bold text.
pub(crate) fn bold(element: Element) -> Element {
    element.with("font-weight", "600")
}

/// A length, to a hundredth.
pub(crate) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}
