//! An SVG under construction, and the shapes that drawings are made of.

use std::fmt::Write;

use crate::coinciding::Turn;
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

    /// The whole file, with what is seen in words.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let mut inner = String::new();
        Element::new("title").text(title, &mut inner);
        Element::new("desc").text(description, &mut inner);
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
/// are told apart without colours. Of series that lie on each other the marks stand within each
/// other, and only the innermost is filled.
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
    // The shapes begin anew with the fifth, the other way round.
    let is_even = (series + series / 4) % 2 == 0;
    let is_filled = if turn.of > 1 { turn.rank + 1 == turn.of } else { is_even };
    let filled = if is_filled {
        shape.with("class", format_args!("{class}f {class}")).with("fill", colour)
    } else {
        shape.with("class", class).with("fill", "none")
    };
    filled.with("stroke", colour).with("stroke-width", "1.6")
}

/// The hatches of fills, so that they are told apart without colours: plain, then strokes in the
/// colour of the paper. Their names end in `key`, which no other drawing on a page has.
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

/// The hatch over a fill, if its series has one.
pub(crate) fn hatch(at: (f64, f64), size: (f64, f64), series: usize, key: &str) -> Option<Element> {
    let rect = Element::new("rect").with("x", n(at.0)).with("y", n(at.1));
    let rect = rect.with("width", n(size.0)).with("height", n(size.1));
    let number = series % 4;
    (number > 0).then(|| rect.with("fill", format_args!("url(#h{number}-{key})")))
}

/// A short word made of a text, for names within a file: drawings on one page must not share them.
pub(crate) fn key_of(text: &str) -> String {
    // FNV-1a.
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
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
