//! SVG charts with axes: lines with intervals, bars (or points if y is logarithmic), and steps.

use crate::axis::Scale;
use crate::canvas::{self, Anchor, Canvas, bold, turned};
use crate::chart::{Chart, Mark, Marks, Series};
use crate::coinciding::{self, Turn};
use crate::description::of_chart;
use crate::palette::Ink;
use crate::rows;
use crate::text::{cut, width_of, wrapped};
use crate::xml::Element;

pub(crate) const WIDTH: f64 = 500.0;
const PLOT_HEIGHT: f64 = 260.0;
pub(crate) const RIGHT: f64 = 18.0;
/// Font sizes that remain legible when the figure is only 350 pixels wide.
pub(crate) const TITLE: f64 = 15.0;
pub(crate) const SMALL: f64 = 13.0;

/// Draws a chart as SVG.
pub fn svg(chart: &Chart) -> String {
    let legend = legend(chart);
    // The plot starts about 60 units from the left, and bold letters are wider than normal ones.
    let title = wrapped(&chart.title, TITLE * 1.08, WIDTH - 60.0 - RIGHT);
    let top = 12.0 + 20.0 * title.len() as f64 + 20.0 * legend.len() as f64 + 10.0;
    let y = value_scale(chart, (top + PLOT_HEIGHT, top));
    let left = 34.0 + y.ticks.iter().map(|t| width_of(&y.label(*t), SMALL)).fold(12.0, f64::max);
    let tilted = tilted(chart, left);
    if are_points(chart) && tilted {
        return rows::svg(chart);
    }
    let x = x_scale(chart, left);
    let groups = coinciding(chart, &x, &y);
    let turns = coinciding::turns(chart.series.len(), &groups);
    let sentences = coinciding::sentences(chart, &groups);
    let note: Vec<String> = sentences
        .iter()
        .chain([&chart.note])
        .flat_map(|text| wrapped(text, SMALL - 2.0, WIDTH - 60.0 - RIGHT))
        .collect();
    let names = room_for_names(chart, &x, tilted);
    let bottom = top + PLOT_HEIGHT;
    let notes_at = bottom + names + 26.0;
    let height = notes_at + 14.0 * note.len() as f64 + 6.0;
    let mut canvas = Canvas::new(WIDTH, height);
    let key = canvas::key_of(&chart.title);
    if chart.marks == Marks::Bars && !are_points(chart) && chart.series.len() > 1 {
        *canvas.body() += &canvas::hatches(&key);
    }
    heading(&mut canvas, &title, left);
    let place = (left, 28.0 + 20.0 * title.len() as f64);
    draw_legend(&mut canvas, chart, &legend, place, &turns, &key);
    axes(&mut canvas, chart, &x, &y, (left, top, bottom), tilted);
    let middle = left.midpoint(WIDTH - RIGHT);
    let below = (middle, bottom + names + 18.0);
    canvas.write(canvas::text(below, Anchor::Middle, SMALL, Ink::Text), &chart.x.label);
    let beside = (18.0, top.midpoint(bottom));
    let label = canvas::text(beside, Anchor::Middle, SMALL, Ink::Text);
    canvas.write(turned(label, -90.0, beside), &chart.y.label);
    match chart.marks {
        Marks::Bars => bars(&mut canvas, chart, &x, &y, &key),
        Marks::Lines | Marks::Steps => lines(&mut canvas, chart, &x, &y, &turns),
    }
    for mark in chart.stated.iter().filter(|mark| x.shows(mark.x) && y.shows(mark.y)) {
        cross(&mut canvas, (x.at(mark.x), y.at(mark.y)));
    }
    for (row, line) in note.iter().enumerate() {
        let place = (left, notes_at + 14.0 * (row as f64 + 0.6));
        canvas.write(canvas::text(place, Anchor::Start, SMALL - 2.0, Ink::Faint), line);
    }
    canvas.finish(&chart.title, &of_chart(chart, &sentences))
}

pub(crate) fn heading(canvas: &mut Canvas, title: &[String], left: f64) {
    for (row, line) in title.iter().enumerate() {
        let place = (left, 24.0 + 20.0 * row as f64);
        canvas.write(bold(canvas::text(place, Anchor::Start, TITLE, Ink::Text)), line);
    }
}

/// Returns true if points are drawn instead of bars. A logarithmic axis has no 0 at which bars
/// could start, so the lengths of bars would be meaningless.
fn are_points(chart: &Chart) -> bool {
    chart.marks == Marks::Bars && chart.y.logarithmic
}

/// Groups the series that coincide in the drawing. Bars never coincide, because they are drawn side
/// by side.
fn coinciding(chart: &Chart, x: &Scale, y: &Scale) -> Vec<Vec<usize>> {
    if chart.marks == Marks::Bars {
        return Vec::new();
    }
    let places = |series: &Series| {
        let shown = series.points.iter().filter(|mark| x.shows(mark.x) && y.shows(mark.y));
        shown.map(|mark| (x.at(mark.x), y.at(mark.y))).collect()
    };
    let lines: Vec<Vec<(f64, f64)>> = chart.series.iter().map(places).collect();
    coinciding::groups(&lines)
}

/// Returns the height needed for the names or numbers along the x axis.
fn room_for_names(chart: &Chart, x: &Scale, tilted: bool) -> f64 {
    if !tilted {
        return 18.0;
    }
    let names = chart.categories.iter().enumerate();
    let width = |(index, name): (usize, &String)| width_of(&tilted_name(x, index, name), SMALL);
    10.0 + names.map(width).fold(0.0, f64::max) * 0.5
}

/// Returns the scale for the values, drawn between two positions on the canvas.
pub(crate) fn value_scale(chart: &Chart, place: (f64, f64)) -> Scale {
    let ends = chart.points().flat_map(|mark| {
        let [low, high] = mark.interval.unwrap_or([mark.y; 2]);
        [low, mark.y, high]
    });
    let range = Chart::range(ends, chart.y.logarithmic).unwrap_or((0.0, 1.0));
    // A linear axis starts at 0 so that heights can be compared. If no point is below 0, intervals
    // are also cut off at 0. This keeps one very long interval from flattening everything else.
    let points = Chart::range(chart.points().map(|mark| mark.y), false).unwrap_or((0.0, 1.0));
    let range = if chart.y.logarithmic {
        range
    } else if points.0 >= 0.0 {
        (0.0, range.1.min(points.1 * 1.5))
    } else {
        (range.0, range.1.max(0.0))
    };
    let range = if range == (0.0, 0.0) { (0.0, 1.0) } else { range };
    let range = if chart.y.logarithmic && range.0 <= 0.0 { (1.0, 10.0) } else { range };
    let kind = (chart.y.logarithmic, chart.y.unit);
    Scale::new(range, kind, place, 6)
}

fn x_scale(chart: &Chart, left: f64) -> Scale {
    if !chart.categories.is_empty() {
        // Leave half a category's width empty before the first name and after the last.
        let count = chart.categories.len() as f64;
        return Scale::plain((-0.5, count - 0.5), (left, WIDTH - RIGHT));
    }
    let usual = if chart.x.logarithmic { (1.0, 10.0) } else { (0.0, 1.0) };
    let range = Chart::range(chart.points().map(|mark| mark.x), chart.x.logarithmic);
    let place = (left, WIDTH - RIGHT);
    Scale::new(range.unwrap_or(usual), (chart.x.logarithmic, chart.x.unit), place, 6)
}

/// Returns true if the names along the x axis are too wide to fit side by side.
fn tilted(chart: &Chart, left: f64) -> bool {
    let room = (WIDTH - RIGHT - left) / chart.categories.len().max(1) as f64;
    chart.categories.iter().any(|name| width_of(name, SMALL) > room * 0.95)
}

/// Truncates a name so that it fits when it is rotated by 30 degrees and ends below its tick.
fn tilted_name(x: &Scale, index: usize, name: &str) -> String {
    cut(name, SMALL, (x.at(index as f64) - 4.0) / 0.866)
}

/// Returns a legend entry by index. The series come first, followed by the values from a paper.
fn entry(chart: &Chart, index: usize) -> &str {
    chart.series.get(index).map_or(Chart::STATED, |series| &series.name)
}

/// Breaks the legend into rows that fit.
pub(crate) fn legend(chart: &Chart) -> Vec<Vec<usize>> {
    let named = chart.series.len() != 1 || !chart.series[0].name.is_empty();
    let first = if named { 0 } else { chart.series.len() };
    let last = chart.series.len() + usize::from(!chart.stated.is_empty());
    let mut rows: Vec<Vec<usize>> = Vec::new();
    let mut used = f64::MAX;
    for index in first..last {
        let width = entry_width(entry(chart, index));
        if used + width > WIDTH - 60.0 - RIGHT {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += width;
        if let Some(row) = rows.last_mut() {
            row.push(index);
        }
    }
    rows
}

fn entry_width(name: &str) -> f64 {
    38.0 + width_of(name, SMALL) + 16.0
}

pub(crate) fn draw_legend(
    canvas: &mut Canvas,
    chart: &Chart,
    rows: &[Vec<usize>],
    (left, top): (f64, f64),
    turns: &[Turn],
    key: &str,
) {
    for (row, indices) in rows.iter().enumerate() {
        let (mut x, y) = (left, top + 20.0 * row as f64);
        for &index in indices {
            let name = entry(chart, index);
            if index == chart.series.len() {
                cross(canvas, (x + 16.0, y - 4.0));
            } else if are_points(chart) {
                canvas.add(canvas::mark((x + 16.0, y - 4.0), index, Turn::ALONE));
            } else if chart.marks == Marks::Bars {
                let (at, size) = ((x + 6.0, y - 11.0), (24.0, 13.0));
                canvas.add(canvas::rect(at, size, Ink::Series(index)));
                if let Some(over) = canvas::hatch(at, size, index, key) {
                    canvas.add(over);
                }
            } else {
                let line = canvas::line((x, y - 4.0), (x + 32.0, y - 4.0), Ink::Series(index));
                // In the legend, the sample for a dashed coinciding line starts with one of that
                // line's own dashes.
                let turn = Turn { rank: 0, ..turns[index] };
                canvas.add(stroked(line, index, turn));
                if chart.marks == Marks::Lines {
                    canvas.add(canvas::mark((x + 16.0, y - 4.0), index, turns[index]));
                }
            }
            canvas.write(canvas::text((x + 38.0, y), Anchor::Start, SMALL, Ink::Text), name);
            x += entry_width(name);
        }
    }
}

/// Draws a cross that stays visible on top of marks and bars.
pub(crate) fn cross(canvas: &mut Canvas, (x, y): (f64, f64)) {
    for slope in [-1.0, 1.0] {
        let (from, to) = ((x - 5.0, y - 5.0 * slope), (x + 5.0, y + 5.0 * slope));
        canvas.add(canvas::line(from, to, Ink::Text).with("stroke-width", "2"));
    }
}

/// Sets the width and dashes of a series' line. Dashes vary by series to distinguish lines without
/// color, and the dashes of coinciding lines alternate.
fn stroked(line: Element, series: usize, turn: Turn) -> Element {
    if let Some((dashes, offset)) = turn.dashes() {
        let line = line.with("stroke-width", "2.4").with("stroke-dasharray", dashes);
        return line.with("stroke-dashoffset", offset);
    }
    let line = line.with("stroke-width", "1.9");
    match series % 4 {
        0 => line,
        1 => line.with("stroke-dasharray", "7 4"),
        2 => line.with("stroke-dasharray", "2 3"),
        _ => line.with("stroke-dasharray", "9 3 2 3"),
    }
}

fn axes(
    canvas: &mut Canvas,
    chart: &Chart,
    x: &Scale,
    y: &Scale,
    (left, top, bottom): (f64, f64, f64),
    tilted: bool,
) {
    for &tick in &y.ticks {
        let at = y.at(tick);
        canvas.add(canvas::line((left, at), (WIDTH - RIGHT, at), Ink::Grid));
        let place = (left - 7.0, at + 4.5);
        canvas.write(canvas::text(place, Anchor::End, SMALL, Ink::Faint), &y.label(tick));
    }
    if chart.categories.is_empty() {
        for &tick in &x.ticks {
            let at = x.at(tick);
            canvas.add(canvas::line((at, top), (at, bottom), Ink::Grid));
            // The last number must not extend past the edge.
            let text = x.label(tick);
            let place = (at.min(WIDTH - 3.0 - width_of(&text, SMALL) / 2.0), bottom + 18.0);
            canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Faint), &text);
        }
    }
    for (index, name) in chart.categories.iter().enumerate() {
        let at = x.at(index as f64);
        if tilted {
            let place = (at, bottom + 16.0);
            let text = canvas::text(place, Anchor::End, SMALL, Ink::Faint);
            canvas.write(turned(text, -30.0, place), &tilted_name(x, index, name));
        } else {
            let place = (at, bottom + 18.0);
            canvas.write(canvas::text(place, Anchor::Middle, SMALL, Ink::Faint), name);
        }
    }
    canvas.add(canvas::line((left, bottom), (WIDTH - RIGHT, bottom), Ink::Axis));
    canvas.add(canvas::line((left, top), (left, bottom), Ink::Axis));
}

fn lines(canvas: &mut Canvas, chart: &Chart, x: &Scale, y: &Scale, turns: &[Turn]) {
    for (index, series) in chart.series.iter().enumerate() {
        let shown = |mark: &&Mark| x.shows(mark.x) && y.shows(mark.y);
        let marks: Vec<_> = series.points.iter().filter(shown).collect();
        let mut path: Vec<(f64, f64)> = Vec::new();
        for mark in &marks {
            let place = (x.at(mark.x), y.at(mark.y));
            if let (Marks::Steps, Some(last)) = (chart.marks, path.last()) {
                path.push((place.0, last.1));
            }
            path.push(place);
        }
        canvas.add(stroked(canvas::path(&path, Ink::Series(index)), index, turns[index]));
        if chart.marks == Marks::Steps {
            continue;
        }
        for mark in &marks {
            let place = (x.at(mark.x), y.at(mark.y));
            interval(canvas, y, place.0, mark, Ink::Series(index));
            canvas.add(canvas::mark(place, index, turns[index]));
        }
    }
}

fn bars(canvas: &mut Canvas, chart: &Chart, x: &Scale, y: &Scale, key: &str) {
    // If the x axis has numbers instead of names, bars get a fixed width.
    let place = if chart.categories.is_empty() { 20.0 } else { x.at(1.0) - x.at(0.0) };
    let group = place * 0.8;
    let width = group / chart.series.len().max(1) as f64;
    for (index, series) in chart.series.iter().enumerate() {
        for mark in series.points.iter().filter(|mark| x.shows(mark.x) && y.shows(mark.y)) {
            let from = x.at(mark.x) - group / 2.0 + width * index as f64;
            let middle = from + width * 0.46;
            if are_points(chart) {
                interval(canvas, y, middle, mark, Ink::Series(index));
                canvas.add(canvas::mark((middle, y.at(mark.y)), index, Turn::ALONE));
                continue;
            }
            let foot = y.clamped(0.0);
            let (top, foot) = (y.at(mark.y).min(foot), y.at(mark.y).max(foot));
            let size = ((width * 0.92).max(1.0), foot - top);
            canvas.add(canvas::rect((from, top), size, Ink::Series(index)));
            if let Some(over) = canvas::hatch((from, top), size, index, key)
                && size.0 >= 4.0
            {
                canvas.add(over);
            }
            interval(canvas, y, middle, mark, Ink::Text);
        }
    }
}

/// Draws a point's confidence interval. An end that is off the axis has no cap. If this end is the
/// upper one, an arrow and the value replace the cap.
fn interval(canvas: &mut Canvas, y: &Scale, at: f64, mark: &Mark, ink: Ink) {
    let Some(ends) = mark.interval.filter(|[low, high]| low < high) else { return };
    let [low, high] = ends.map(|end| y.clamped(end));
    let mut add = |element: Element| canvas.add(element.with("stroke-width", "1.2"));
    add(canvas::line((at, low), (at, high), ink));
    for (end, place) in ends.into_iter().zip([low, high]) {
        if y.holds(end) {
            add(canvas::line((at - 4.0, place), (at + 4.0, place), ink));
        }
    }
    if !y.holds(ends[1]) && ends[1].is_finite() {
        add(canvas::path(&[(at - 4.0, high + 6.0), (at, high), (at + 4.0, high + 6.0)], ink));
        let (text, size) = (y.label(ends[1]), SMALL - 2.0);
        let fits = at + 7.0 + width_of(&text, size) < WIDTH;
        let (anchor, x) = if fits { (Anchor::Start, at + 7.0) } else { (Anchor::End, at - 7.0) };
        canvas.write(canvas::text((x, high + 11.0), anchor, size, Ink::Faint), &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{ChartAxis, Series};

    #[test]
    fn an_interval_that_the_axis_cuts_has_an_arrow_and_its_value_instead_of_a_cap() {
        let axis = |logarithmic| ChartAxis::plain("it", logarithmic);
        let drawn = |half: f64, logarithmic| {
            let points = vec![Mark { x: 1.0, y: 10.0, interval: Some([10.0 - half, 10.0 + half]) }];
            let chart = Chart {
                title: "One point".into(),
                x: axis(false),
                y: axis(logarithmic),
                categories: Vec::new(),
                marks: Marks::Lines,
                series: vec![Series { name: String::new(), points }],
                stated: Vec::new(),
                note: String::new(),
            };
            let svg = svg(&chart);
            let thin = |name: &str| {
                let tags = svg.split('<').filter(|tag| tag.starts_with(name));
                tags.filter(|tag| tag.contains(r#"stroke-width="1.2""#)).count()
            };
            let value = format!(">{}</text>", 10.0 + half);
            // Count the caps and the arrows. The interval's own line is not a cap.
            (thin("line ") - 1, thin("path "), svg.contains(&value))
        };
        // The axis starts at 0 and ends at 15 or above.
        assert_eq!(drawn(2.25, false), (2, 0, false));
        assert_eq!(drawn(12.5, false), (0, 1, true), "cut at both ends");
        assert_eq!(drawn(2.25, true), (2, 0, false));
        assert_eq!(drawn(12.5, true).0, 1, "below 0 nothing can be drawn");
    }
}
