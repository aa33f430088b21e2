//! An SVG under construction: shapes in the colours of a theme, light and dark in one file.

use std::fmt::Write;

/// Colours of series, light and dark: told apart also by the colour-blind (after Okabe & Ito 2008,
/// brightened for dark backgrounds).
const SERIES: [(&str, &str); 8] = [
    ("#0072b2", "#58b0e8"),
    ("#d55e00", "#ff9a57"),
    ("#00795a", "#3fd0a4"),
    ("#b0508a", "#f0a3cd"),
    ("#8a6d00", "#e6c34a"),
    ("#5b4bb7", "#b0a4ff"),
    ("#333333", "#e8e8e8"),
    ("#a3282e", "#ff8d8d"),
];

/// The number of colours before they repeat.
pub(super) const COLOURS: usize = SERIES.len();

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Behind everything.
    Paper,
    /// Text.
    Text,
    /// Text of less weight.
    Faint,
    /// Axes.
    Axis,
    /// Grid lines, and free nodes.
    Grid,
    /// A series; the number wraps round.
    Series(usize),
}

impl Ink {
    /// The class, and the colour in light.
    fn dress(self) -> (String, &'static str) {
        match self {
            Ink::Paper => ("paper".into(), "#ffffff"),
            Ink::Text => ("text".into(), "#1d2126"),
            Ink::Faint => ("faint".into(), "#5b636d"),
            Ink::Axis => ("axis".into(), "#5b636d"),
            Ink::Grid => ("grid".into(), "#e3e6ea"),
            Ink::Series(index) => (format!("s{}", index % COLOURS), SERIES[index % COLOURS].0),
        }
    }
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG under construction. Lengths are in its own units, about a pixel on a desk.
pub(super) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Canvas {
        let mut canvas = Canvas { width, height, body: String::new() };
        canvas.rect(0.0, 0.0, width, height, Ink::Paper);
        canvas
    }

    /// Adds text of the file as it is.
    pub(super) fn raw(&mut self, text: &str) {
        self.body += text;
        self.body.push('\n');
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, ink: Ink) {
        let (class, colour) = ink.dress();
        let text = format!(
            r#"<rect class="{class}f" x="{}" y="{}" width="{}" height="{}" fill="{colour}"/>"#,
            n(x),
            n(y),
            n(width),
            n(height)
        );
        self.raw(&text);
    }

    /// A line; `more` are further attributes.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, more: &str) {
        let (class, colour) = ink.dress();
        let text = format!(
            r#"<line class="{class}" x1="{}" y1="{}" x2="{}" y2="{}" stroke="{colour}"{more}/>"#,
            n(from.0),
            n(from.1),
            n(to.0),
            n(to.1)
        );
        self.raw(&text);
    }

    /// A polyline; `more` are further attributes.
    pub(super) fn path(&mut self, points: &[(f64, f64)], ink: Ink, more: &str) {
        let (class, colour) = ink.dress();
        let mut data = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(data, "{}{} {}", if index == 0 { "M" } else { "L" }, n(*x), n(*y));
        }
        let text =
            format!(r#"<path class="{class}" d="{data}" fill="none" stroke="{colour}"{more}/>"#);
        self.raw(&text);
    }

    /// The mark of a series at a place: shapes differ, and every other one is hollow, so that series
    /// are told apart without colours and where they coincide.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), series: usize) {
        let (class, colour) = Ink::Series(series).dress();
        // Where two coincide, the later one is drawn over the earlier one and must not cover it.
        let r = [4.8, 4.8, 3.0, 4.2][series % 4];
        let fill = if series % 2 == 0 {
            format!(r#"class="{class}f {class}" fill="{colour}""#)
        } else {
            format!(r#"class="{class}" fill="none""#)
        };
        let style = format!(r#"{fill} stroke="{colour}" stroke-width="1.6""#);
        let polygon = |points: &[(f64, f64)]| {
            let points: Vec<String> =
                points.iter().map(|(a, b)| format!("{},{}", n(x + a * r), n(y + b * r))).collect();
            format!(r#"<polygon points="{}" {style}/>"#, points.join(" "))
        };
        let text = match series % 4 {
            0 => format!(r#"<circle cx="{}" cy="{}" r="{}" {style}/>"#, n(x), n(y), n(r)),
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            _ => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
        };
        self.raw(&text);
    }

    /// Text with its baseline at y; `more` are further attributes.
    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        size: f64,
        ink: Ink,
        text: &str,
        more: &str,
    ) {
        let (class, colour) = ink.dress();
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let line = format!(
            r#"<text class="{class}f" x="{}" y="{}" text-anchor="{anchor}" font-size="{}" fill="{colour}"{more}>{}</text>"#,
            n(x),
            n(y),
            n(size),
            escape(text)
        );
        self.raw(&line);
    }

    /// The whole file.
    pub(super) fn finish(self, title: &str) -> String {
        let (width, height) = (n(self.width), n(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">\n\
             <title>{}</title>\n{}{}</svg>\n",
            escape(title),
            style(),
            self.body
        )
    }
}

/// The dark dress. In light, the attributes of the shapes count, which every program understands.
fn style() -> String {
    let mut rules = String::new();
    let general = [
        ("paper", "#14171b"),
        ("text", "#e9ecef"),
        ("faint", "#a9b1ba"),
        ("axis", "#8b949e"),
        ("grid", "#2b3138"),
    ];
    let series = SERIES.iter().enumerate().map(|(index, (_, dark))| (format!("s{index}"), *dark));
    let all = general.iter().map(|(name, dark)| ((*name).to_string(), *dark)).chain(series);
    for (name, dark) in all {
        // Writing to a string cannot fail.
        let _ = write!(rules, ".{name}{{stroke:{dark}}}.{name}f{{fill:{dark}}}");
    }
    format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n")
}

/// A length, to a hundredth.
pub(super) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// Text as XML has it.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// About how wide a text is.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}
