//! Times side by side: a bar from left to right for each median, a whisker to the 99th percentile.

use crate::axis::{Scale, label};
use crate::canvas::{self, Anchor, Canvas, bold};
use crate::chart::Chart;
use crate::palette::Ink;
use crate::text::{cut, width_of, wrapped};
use crate::xml::Element;

const WIDTH: f64 = 640.0;
const RIGHT: f64 = 26.0;
const BAR: f64 = 13.0;
const TITLE: f64 = 15.0;
const SMALL: f64 = 13.0;
const TINY: f64 = 11.0;
const LABEL: &str = "median time of an attempt (ns)";
/// Names longer than this are cut.
const WIDEST_NAME: f64 = 220.0;

/// Measured times of several strategies, for each of several answers.
#[derive(Clone, Debug, PartialEq)]
pub struct TimesChart {
    /// Its heading.
    pub title: String,
    /// The answers, in the order of the legend: granted, refused.
    pub kinds: Vec<String>,
    /// The strategies, from top to bottom.
    pub groups: Vec<TimesGroup>,
    /// What a reader must know, below.
    pub note: String,
}

/// A strategy, with a bar for each answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TimesGroup {
    /// Its name.
    pub name: String,
    /// For each answer the median and the 99th percentile in nanoseconds; none if the answer never
    /// came.
    pub bars: Vec<Option<(f64, f64)>>,
}

/// Draws times on a logarithmic axis.
pub fn times(chart: &TimesChart) -> String {
    let names: Vec<String> =
        chart.groups.iter().map(|group| cut(&group.name, SMALL, WIDEST_NAME)).collect();
    let left = 30.0 + names.iter().map(|name| width_of(name, SMALL)).fold(20.0, f64::max);
    let (top, group) = (66.0, BAR * chart.kinds.len() as f64 + 12.0);
    let bottom = top + group * chart.groups.len() as f64 + 4.0;
    let notes = wrapped(&chart.note, TINY, WIDTH - 32.0);
    let height = bottom + 50.0 + 15.0 * notes.len() as f64;
    let mut canvas = Canvas::new(WIDTH, height);
    let title = bold(canvas::text((16.0, 24.0), Anchor::Start, TITLE, Ink::Text));
    canvas.write(title, &chart.title);
    legend(&mut canvas, chart, left);
    let scale = scale(chart, left);
    for &tick in &scale.ticks {
        let at = scale.at(tick);
        canvas.add(canvas::line((at, top), (at, bottom), Ink::Grid));
        let place = (at, bottom + 18.0);
        canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Faint), &label(tick));
    }
    for (index, (own, name)) in chart.groups.iter().zip(&names).enumerate() {
        let from = top + 8.0 + group * index as f64;
        let middle = from + BAR * chart.kinds.len() as f64 / 2.0 + 4.5;
        canvas.write(canvas::text((left - 9.0, middle), Anchor::End, SMALL, Ink::Text), name);
        for (kind, bar) in own.bars.iter().enumerate() {
            draw(&mut canvas, &scale, *bar, kind, (left, from + BAR * kind as f64));
        }
    }
    canvas.add(canvas::line((left, top), (left, bottom), Ink::Axis));
    let place = (left.midpoint(WIDTH - RIGHT), bottom + 37.0);
    canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Text), LABEL);
    for (row, note) in notes.iter().enumerate() {
        let place = (16.0, bottom + 57.0 + 15.0 * row as f64);
        canvas.write(canvas::text(place, Anchor::Start, TINY, Ink::Faint), note);
    }
    canvas.finish(&chart.title)
}

/// A bar with its whisker and its median in figures, from the axis at `(left, top)`.
fn draw(
    canvas: &mut Canvas,
    scale: &Scale,
    bar: Option<(f64, f64)>,
    kind: usize,
    (left, top): (f64, f64),
) {
    let middle = top + BAR / 2.0;
    let Some((median, p99)) = bar else {
        let place = (left + 5.0, middle + 4.0);
        canvas.write(canvas::text(place, Anchor::Start, TINY, Ink::Faint), "none");
        return;
    };
    // A time below the clock's resolution is drawn at the end of the axis.
    let (median_at, p99_at) = (scale.clamped(median), scale.clamped(p99));
    let size = ((median_at - left).max(1.0), BAR - 2.0);
    canvas.add(canvas::rect((left, top + 1.0), size, Ink::Series(kind)));
    canvas.add(whisker((median_at, middle), (p99_at, middle)));
    canvas.add(whisker((p99_at, middle - 3.5), (p99_at, middle + 3.5)));
    let figure = figure(median);
    // Behind the whisker, or where that would leave the picture, before it.
    let fits = p99_at + 7.0 + width_of(&figure, TINY) < WIDTH - 2.0;
    let (place, anchor) = if fits {
        ((p99_at + 6.0, middle + 4.0), Anchor::Start)
    } else {
        ((left + 5.0, middle + 4.0), Anchor::Start)
    };
    let ink = if fits { Ink::Faint } else { Ink::Paper };
    canvas.write(canvas::text(place, anchor, TINY, ink), &figure);
}

/// A line of a whisker.
fn whisker(from: (f64, f64), to: (f64, f64)) -> Element {
    canvas::line(from, to, Ink::Text).with("stroke-width", "1.3")
}

/// A time to three digits, in a unit that suits it.
fn figure(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let decimals = if unit == "ns" { decimals.min(1) } else { decimals };
    format!("{value:.decimals$} {unit}")
}

fn scale(chart: &TimesChart, left: f64) -> Scale {
    let bars = || chart.groups.iter().flat_map(|group| group.bars.iter().flatten());
    let ends = bars().flat_map(|(median, p99)| [*median, *p99]);
    let (low, high) = Chart::range(ends, true).unwrap_or((1.0, 10.0));
    // Bars have a length to compare: the shortest is not cut off at its own end.
    Scale::new((low / 2.0, high), true, (left, WIDTH - RIGHT - 30.0), 7)
}

fn legend(canvas: &mut Canvas, chart: &TimesChart, left: f64) {
    let (mut x, y) = (left, 50.0);
    for (kind, name) in chart.kinds.iter().enumerate() {
        canvas.add(canvas::rect((x, y - 10.0), (12.0, 12.0), Ink::Series(kind)));
        canvas.write(canvas::text((x + 18.0, y), Anchor::Start, SMALL, Ink::Text), name);
        x += 18.0 + width_of(name, SMALL) + 20.0;
    }
    canvas.add(whisker((x, y - 4.0), (x + 22.0, y - 4.0)));
    canvas.add(whisker((x + 22.0, y - 7.5), (x + 22.0, y - 0.5)));
    let text = canvas::text((x + 28.0, y), Anchor::Start, SMALL, Ink::Text);
    canvas.write(text, "to the 99th percentile");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_stays_in_the_picture() {
        let group = |name: &str, bars: [Option<(f64, f64)>; 2]| TimesGroup {
            name: name.to_string(),
            bars: bars.to_vec(),
        };
        let svg = times(&TimesChart {
            title: "mesh:4x4 <>".into(),
            kinds: vec!["granted".into(), "refused".into()],
            groups: vec![
                group("ff", [Some((0.0, 0.0)), Some((12.5, 30.0))]),
                group(&"a-very-long-name:with=options".repeat(3), [None, Some((4e7, 5e9))]),
            ],
            note: "a note".into(),
        });
        for tag in svg.split('<').filter(|tag| tag.starts_with("rect") || tag.starts_with("line")) {
            for part in tag.split(['"', ' ']).filter_map(|part| part.parse::<f64>().ok()) {
                assert!((0.0..=WIDTH).contains(&part), "{tag}");
            }
        }
        assert!(
            svg.contains("none") && svg.contains("…") && svg.contains("12.5")
                || svg.contains(">13<")
        );
        assert!(svg.contains("&lt;&gt;"));
    }
}
