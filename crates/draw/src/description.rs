//! Text descriptions of drawings, for people who cannot see them.

use crate::axis::Unit;
use crate::chart::{Chart, Mark, Marks, Series};

/// The maximum number of values that are listed individually for a bar chart.
const MOST_VALUES: usize = 40;
/// The maximum number of series to describe. Any remaining series are only counted.
const MOST_SERIES: usize = 24;

/// Describes a chart in words and appends the given sentences.
pub(crate) fn of_chart(chart: &Chart, sentences: &[String]) -> String {
    let kind = match chart.marks {
        Marks::Lines => "Lines",
        Marks::Bars if chart.y.logarithmic => "Points",
        Marks::Bars => "Bars",
        Marks::Steps => "Steps",
    };
    let by = match chart.x.label.as_str() {
        "" => String::new(),
        label => format!(" by {label}"),
    };
    let mut text = format!("{kind} of {}{by}.", chart.y.label);
    let values: usize = chart.series.iter().map(|series| series.points.len()).sum();
    for series in chart.series.iter().take(MOST_SERIES) {
        let said = if chart.categories.is_empty() || values > MOST_VALUES {
            of_line(chart, series)
        } else {
            of_bars(chart, series)
        };
        let name = if series.name.is_empty() { String::new() } else { series.name.clone() + ": " };
        text += &format!(" {name}{said}.");
    }
    if chart.series.len() > MOST_SERIES {
        text += &format!(" {} more.", chart.series.len() - MOST_SERIES);
    }
    if !chart.stated.is_empty() {
        let points: Vec<String> =
            chart.stated.iter().map(|mark| point(chart, mark)).take(MOST_VALUES).collect();
        text += &format!(" {} (crosses): {}.", capital(Chart::STATED), points.join(", "));
    }
    for sentence in sentences {
        text += &format!(" {sentence}");
    }
    if !chart.note.is_empty() {
        text += &format!(" {}.", capital(chart.note.trim_end_matches('.')));
    }
    text
}

/// Describes a line's endpoints, and its highest point if that is not an endpoint.
fn of_line(chart: &Chart, series: &Series) -> String {
    let finite = || series.points.iter().filter(|mark| mark.x.is_finite() && mark.y.is_finite());
    let (Some(first), Some(last)) = (finite().next(), finite().next_back()) else {
        return "no value".to_string();
    };
    if first == last {
        return point(chart, first);
    }
    let mut text = format!("from {} to {}", point(chart, first), point(chart, last));
    let highest = finite().fold(first, |most, mark| if mark.y > most.y { mark } else { most });
    if highest.y > first.y && highest.y > last.y {
        text += &format!(", at most {}", point(chart, highest));
    }
    text
}

fn of_bars(chart: &Chart, series: &Series) -> String {
    let bars: Vec<String> = series.points.iter().map(|mark| point(chart, mark)).collect();
    if bars.is_empty() { "no value".to_string() } else { bars.join(", ") }
}

fn point(chart: &Chart, mark: &Mark) -> String {
    let y = value(chart.y.unit, mark.y);
    match chart.categories.get(mark.x as usize) {
        Some(name) => format!("{y} at {name}"),
        None => format!("{y} at {}", value(chart.x.unit, mark.x)),
    }
}

/// Formats a number with four significant digits.
fn value(unit: Unit, value: f64) -> String {
    if !value.is_finite() {
        return "no number".to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    unit.words(rounded)
}

/// Capitalizes the first letter of a clause.
pub(crate) fn capital(clause: &str) -> String {
    let mut letters = clause.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::ChartAxis;

    #[test]
    fn a_chart_is_told() {
        let mark = |x, y| Mark { x, y, interval: None };
        let points = vec![mark(1.0, 60.0), mark(2.0, 9000.0), mark(3.0, 7200.0)];
        let mut chart = Chart {
            title: "Waiting".into(),
            x: ChartAxis::plain("load", false),
            y: ChartAxis::of("waiting", "s", false),
            categories: Vec::new(),
            marks: Marks::Lines,
            series: vec![Series { name: "ff".into(), points }],
            stated: Vec::new(),
            note: "7 replications per point".into(),
        };
        assert_eq!(
            of_chart(&chart, &[]),
            "Lines of waiting by load. ff: from 1 min at 1 to 2 h at 3, at most 2 h 30 min at 2. \
             7 replications per point."
        );
        chart.categories = vec!["a".into()];
        chart.series[0].points = vec![mark(0.0, 60.0)];
        assert!(of_chart(&chart, &[]).contains("ff: 1 min at a."));
    }
}
