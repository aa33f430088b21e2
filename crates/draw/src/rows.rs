//! Point charts with one row per name, for names that would not fit along the x axis.

use crate::axis::Scale;
use crate::canvas::{self, Anchor, Canvas};
use crate::chart::{Chart, Mark};
use crate::coinciding::Turn;
use crate::description::of_chart;
use crate::lines::{self, RIGHT, SMALL, TITLE, WIDTH};
use crate::palette::Ink;
use crate::text::{cut, width_of, wrapped};

/// The height allotted to each series within a row.
const LANE: f64 = 7.0;
/// The space between rows.
const GAP: f64 = 6.0;
/// The maximum width of a name.
const NAME: f64 = 170.0;
const EDGE: f64 = 12.0;

/// Draws a chart of points as SVG. Values increase to the right; names run from top to bottom.
pub(crate) fn svg(chart: &Chart) -> String {
    let legend = lines::legend(chart);
    let title = wrapped(&chart.title, TITLE * 1.08, WIDTH - EDGE - RIGHT);
    let names: Vec<String> = chart.categories.iter().map(|name| cut(name, SMALL, NAME)).collect();
    let left = EDGE + 8.0 + names.iter().map(|name| width_of(name, SMALL)).fold(0.0, f64::max);
    let top = 22.0 + 20.0 * (title.len() + legend.len()) as f64;
    let count = names.len() as f64;
    let bottom = top + count * (GAP + LANE * chart.series.len() as f64);
    let values = lines::value_scale(chart, (left, WIDTH - RIGHT));
    let rows = Scale::plain((-0.5, count - 0.5), (top, bottom));
    let note = wrapped(&chart.note, SMALL - 2.0, WIDTH - EDGE - RIGHT);
    let mut canvas = Canvas::new(WIDTH, bottom + 50.0 + 14.0 * note.len() as f64);
    lines::heading(&mut canvas, &title, EDGE);
    let place = (EDGE, 28.0 + 20.0 * title.len() as f64);
    lines::draw_legend(&mut canvas, chart, &legend, place, &[], "");
    for (index, name) in names.iter().enumerate() {
        let at = rows.at(index as f64);
        canvas.add(canvas::line((left, at), (WIDTH - RIGHT, at), Ink::Grid));
        let place = (left - 7.0, at + 4.5);
        canvas.write(canvas::text(place, Anchor::End, SMALL, Ink::Text), name);
    }
    for &tick in &values.ticks {
        let at = values.at(tick);
        canvas.add(canvas::line((at, top), (at, bottom), Ink::Grid));
        let text = values.label(tick);
        let place = (at.min(WIDTH - 3.0 - width_of(&text, SMALL) / 2.0), bottom + 18.0);
        canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Faint), &text);
    }
    canvas.add(canvas::line((left, top), (left, bottom), Ink::Axis));
    let below = (left.midpoint(WIDTH - RIGHT), bottom + 36.0);
    canvas.write(canvas::text(below, Anchor::Middle, SMALL, Ink::Text), &chart.y.label);
    let shown = |mark: &&Mark| rows.shows(mark.x) && values.shows(mark.y);
    let middle = (chart.series.len() as f64 - 1.0) / 2.0;
    for (index, series) in chart.series.iter().enumerate() {
        for mark in series.points.iter().filter(shown) {
            let at = rows.at(mark.x) + LANE * (index as f64 - middle);
            interval(&mut canvas, &values, at, mark, Ink::Series(index));
            canvas.add(canvas::mark((values.at(mark.y), at), index, Turn::ALONE));
        }
    }
    for mark in chart.stated.iter().filter(shown) {
        lines::cross(&mut canvas, (values.at(mark.y), rows.at(mark.x)));
    }
    for (row, line) in note.iter().enumerate() {
        let place = (EDGE, bottom + 50.0 + 14.0 * (row as f64 + 0.6));
        canvas.write(canvas::text(place, Anchor::Start, SMALL - 2.0, Ink::Faint), line);
    }
    canvas.finish(&chart.title, &of_chart(chart, &[]))
}

/// Draws a point's confidence interval. An end that is off the axis has no cap.
fn interval(canvas: &mut Canvas, values: &Scale, at: f64, mark: &Mark, ink: Ink) {
    let Some(ends) = mark.interval.filter(|[low, high]| low < high) else { return };
    let [low, high] = ends.map(|end| values.clamped(end));
    canvas.add(canvas::line((low, at), (high, at), ink).with("stroke-width", "1.2"));
    for (_, place) in ends.into_iter().zip([low, high]).filter(|(end, _)| values.holds(*end)) {
        let cap = canvas::line((place, at - 3.0), (place, at + 3.0), ink);
        canvas.add(cap.with("stroke-width", "1.2"));
    }
}
