//! A drawing of differences from a reference. Each row shows one difference and its interval.
//!
//! The axis is linear near zero and logarithmic farther out (an inverse hyperbolic sine), so that a
//! difference of a minute and one of a week are both legible. If a row's interval contains zero,
//! the row's dot is hollow.

use crate::canvas::{Anchor, Canvas, line, n, text};
use crate::palette::Ink;
use crate::xml::Element;

/// One row of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceRow {
    /// The name of the item being compared.
    pub label: String,
    /// The difference from the reference.
    pub difference: f64,
    /// The ends of the confidence interval, if known.
    pub interval: Option<[f64; 2]>,
}

/// Differences that share one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// The title of the drawing.
    pub title: String,
    /// Labels that explain what differences below and above zero mean, in that order.
    pub sides: [String; 2],
    /// Positive ticks and their labels, in ascending order. The axis is linear below the first
    /// tick. Each tick's negative is drawn as well.
    pub ticks: Vec<(f64, String)>,
    /// The rows, from top to bottom.
    pub rows: Vec<DifferenceRow>,
}

const WIDTH: f64 = 480.0;
const MARGIN: f64 = 16.0;
const ROW: f64 = 34.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 30.0;

/// Draws differences as SVG, in time proportional to the number of rows.
pub fn differences(drawn: &Differences) -> String {
    let rows = drawn.rows.len() as f64;
    let bottom = TOP + rows * ROW + 4.0;
    let mut canvas = Canvas::new(WIDTH, bottom + BOTTOM);
    let axis = Axis::of(drawn);
    canvas.write(text((MARGIN, 20.0), Anchor::Start, 14.0, Ink::Text), &drawn.title);
    let [less, more] = &drawn.sides;
    canvas.write(text((MARGIN, 40.0), Anchor::Start, 12.0, Ink::Faint), &format!("← {less}"));
    let right = (WIDTH - MARGIN, 40.0);
    canvas.write(text(right, Anchor::End, 12.0, Ink::Faint), &format!("{more} →"));
    for (value, label) in axis.ticks(drawn) {
        let x = axis.place(value);
        let ink = if value == 0.0 { Ink::Axis } else { Ink::Grid };
        canvas.add(line((x, TOP - 4.0), (x, bottom), ink));
        canvas.write(text((x, bottom + 16.0), Anchor::Middle, 11.0, Ink::Faint), &label);
    }
    for (place, row) in drawn.rows.iter().enumerate() {
        draw_row(&mut canvas, &axis, row, TOP + place as f64 * ROW);
    }
    let words: Vec<String> = drawn.rows.iter().map(|row| in_words(row, &drawn.sides)).collect();
    canvas.finish(&drawn.title, &words.join("; "))
}

fn draw_row(canvas: &mut Canvas, axis: &Axis, row: &DifferenceRow, top: f64) {
    let is_shown = is_shown(row);
    let ink = if is_shown { Ink::Series(0) } else { Ink::Faint };
    canvas.write(text((MARGIN, top + 10.0), Anchor::Start, 12.0, Ink::Text), &row.label);
    let y = top + 21.0;
    if let Some([low, high]) = row.interval {
        let bar = line((axis.place(low), y), (axis.place(high), y), ink);
        canvas.add(bar.with("stroke-width", "3").with("stroke-linecap", "round"));
    }
    let (class, colour) = ink.class();
    let dot = Element::new("circle").with("cx", n(axis.place(row.difference))).with("cy", n(y));
    let dot = dot.with("r", "4.5").with("stroke", colour).with("stroke-width", "1.6");
    let (fill_class, fill) = if is_shown { (class.clone(), colour) } else { Ink::Paper.class() };
    canvas.add(dot.with("class", format_args!("{class} {fill_class}f")).with("fill", fill));
}

/// Returns true if a row has an interval that does not contain zero.
fn is_shown(row: &DifferenceRow) -> bool {
    row.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

fn in_words(row: &DifferenceRow, [less, more]: &[String; 2]) -> String {
    let what = match is_shown(row) {
        false => "no significant difference",
        true if row.difference < 0.0 => less,
        true => more,
    };
    format!("{}: {what}", row.label)
}

struct Axis {
    /// The value below which the axis is approximately linear.
    scale: f64,
    /// The largest value, on the transformed scale.
    reach: f64,
}

impl Axis {
    fn of(drawn: &Differences) -> Axis {
        let scale = drawn.ticks.first().map_or(1.0, |(tick, _)| *tick);
        let ends = drawn.rows.iter().flat_map(|row| {
            let [low, high] = row.interval.unwrap_or([row.difference; 2]);
            [low.abs(), high.abs(), row.difference.abs()]
        });
        let most = ends.filter(|end| end.is_finite()).fold(scale, f64::max);
        Axis { scale, reach: libm::asinh(most / scale) }
    }

    fn place(&self, value: f64) -> f64 {
        let share = libm::asinh(value / self.scale) / self.reach;
        let half = WIDTH / 2.0;
        half + share.clamp(-1.0, 1.0) * (half - MARGIN - 14.0)
    }

    /// Returns zero and as many positive and negative ticks as fit.
    fn ticks(&self, drawn: &Differences) -> Vec<(f64, String)> {
        let mut all = vec![(0.0, "0".to_string())];
        let mut last = self.place(0.0);
        for (tick, label) in &drawn.ticks {
            let x = self.place(*tick);
            if libm::asinh(tick / self.scale) > self.reach || x - last < 46.0 {
                continue;
            }
            last = x;
            all.push((*tick, format!("+{label}")));
            all.push((-tick, format!("−{label}")));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_intervals_with_zero_are_hollow() {
        let row = |label: &str, difference, interval| DifferenceRow {
            label: label.to_string(),
            difference,
            interval: Some(interval),
        };
        let drawn = Differences {
            title: "a <title>".to_string(),
            sides: ["less".to_string(), "more".to_string()],
            ticks: vec![(60.0, "1 min".to_string()), (3600.0, "1 h".to_string())],
            rows: vec![
                row("<b>", -600.0, [-900.0, -300.0]),
                row("c", 1.0, [-2.0, 4.0]),
                row("d", 9000.0, [5.0, 18_000.0]),
            ],
        };
        let svg = differences(&drawn);
        assert!(svg.contains("a &lt;title&gt;") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("&lt;b&gt;: less; c: no significant difference; d: more"), "{svg}");
        assert_eq!(svg.matches("faint paperf").count(), 1);
        assert!(svg.contains("+1 h") && svg.contains("−1 h"));
        let axis = Axis::of(&drawn);
        assert!((axis.place(0.0) - WIDTH / 2.0).abs() < 1e-9);
        assert!((axis.place(18_000.0) - (WIDTH - MARGIN - 14.0)).abs() < 1e-9);
        assert!(axis.place(60.0) - axis.place(0.0) > axis.place(3660.0) - axis.place(3600.0));
    }
}
