//! Charts built from figure declarations and result tables.

use pavior_draw::{Chart, ChartAxis, Mark, Marks, Series, Unit};

use pavior_simulation::metrics::ALLOCATION_NS;

use crate::parameters::{self, ValueType};
use crate::results::Line;
use crate::{Figure, Table};

/// Builds a figure's chart from a table that contains the figure's metric.
pub fn chart(figure: &Figure, table: &Table) -> Chart {
    let column = |index: usize| parameters::ALL[index].column();
    let value = |row: &Line, index: usize| -> Option<String> {
        table.value(row, &column(index)).map(str::to_string)
    };
    // A parameter without a column has a constant value, as was checked when the figure was read.
    let drawn = |row: &&Line| {
        row.metric == figure.y
            && figure.fixed.iter().all(|(index, wanted)| {
                value(row, *index).is_none_or(|value| wanted.contains(&value))
            })
    };
    let rows: Vec<&Line> = table.rows.iter().filter(drawn).collect();
    let numeric = matches!(parameters::ALL[figure.x].kind, ValueType::Number | ValueType::Count);
    let mut categories: Vec<String> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    let mut without: Vec<(usize, String)> = Vec::new();
    for row in &rows {
        let Some(at) = value(row, figure.x) else { continue };
        let x = if numeric {
            let Ok(x) = at.parse() else { continue };
            x
        } else {
            let name = figure.label(&at).to_string();
            position(&mut categories, |one| *one == name, || name.clone()) as f64
        };
        // A name on the x axis keeps its position even if no value is drawn there.
        let name = name(figure, |index| value(row, index));
        let Some((y, interval)) = drawn_as(row) else {
            without.push((x as usize, name));
            continue;
        };
        let make = || Series { name: name.clone(), points: Vec::new() };
        let index = position(&mut series, |one| one.name == name, make);
        series[index].points.push(Mark { x, y, interval });
    }
    for one in &mut series {
        one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let stated = stated(figure, &categories, &series);
    let unit = rows.first().map(|row| row.unit.clone()).unwrap_or_default();
    let missing = if numeric { String::new() } else { missing(&categories, &series, &without) };
    Chart {
        title: figure.title.clone(),
        x: labelled(along(figure, in_seconds(table)), figure.x_axis.label.as_ref()),
        y: labelled(
            ChartAxis::of(&figure.y, &unit, figure.y_axis.logarithmic),
            figure.y_axis.label.as_ref(),
        ),
        marks: if numeric { Marks::Lines } else { Marks::Bars },
        categories,
        series,
        stated,
        note: missing + &note(&rows),
    }
}

/// Returns the value to draw (the median or, failing that, the mean) and its interval.
fn drawn_as(row: &Line) -> Option<(f64, Option<[f64; 2]>)> {
    if let Some(median) = row.median {
        return Some((median.value, median.interval));
    }
    let mean = row.summary.mean?;
    Some((mean, row.summary.ci95.map(|half| [mean - half, mean + half])))
}

/// Converts numbers reported in a paper to marks in the figure.
fn stated(figure: &Figure, categories: &[String], series: &[Series]) -> Vec<Mark> {
    let place = |value: &str| match value.parse() {
        Ok(x) if categories.is_empty() => Some(x),
        _ => {
            let name = figure.label(value);
            categories.iter().position(|one| one == name).map(|index| index as f64)
        }
    };
    let mark = |one: &crate::StatedMark| {
        let x = place(&one.x)?;
        let drawn = |series: &Series| {
            series.points.iter().find(|mark| mark.x.total_cmp(&x).is_eq()).copied()
        };
        // Skip numbers at positions that a quick run does not include.
        series.iter().find_map(drawn)?;
        let times = match &one.of {
            None => 1.0,
            Some(of) => series.iter().find(|series| series.name == *of).and_then(drawn)?.y,
        };
        Some(Mark { x, y: one.y * times, interval: None })
    };
    figure.stated.iter().filter_map(mark).collect()
}

/// Returns the index of the first matching element, appending a new one if none matches.
fn position<T>(all: &mut Vec<T>, fits: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    all.iter().position(fits).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

/// Returns a series' name, which is composed of its parameter values. If a value is a number, the
/// parameter's name precedes it. A label in parentheses directly follows the previous value, as in
/// `GABL(FCFS)`. Empty labels are omitted.
fn name(figure: &Figure, value: impl Fn(usize) -> Option<String>) -> String {
    let part = |&index: &usize| {
        let value = value(index)?;
        let parameter = &parameters::ALL[index];
        let label = figure.label(&value).to_string();
        let plain = label != value || parameter.kind == ValueType::Text;
        Some(if plain { label } else { format!("{} {value}", parameter.name) })
    };
    let parts = figure.series.iter().filter_map(part).filter(|part| !part.is_empty());
    parts.fold(String::new(), |name, part| {
        let between = if name.is_empty() || part.starts_with('(') { "" } else { ", " };
        name + between + &part
    })
}

/// Describes bars that have no value, as in `no value for FF, BF (3x3); `.
fn missing(names: &[String], series: &[Series], without: &[(usize, String)]) -> String {
    let place = |(index, name): (usize, &String)| {
        let of: Vec<&str> =
            without.iter().filter(|(x, _)| *x == index).map(|(_, of)| of.as_str()).collect();
        match of.len() {
            0 => None,
            _ if of.len() >= series.len() => Some(name.clone()),
            _ => Some(format!("{name} ({})", of.join(" and "))),
        }
    };
    let places: Vec<String> = names.iter().enumerate().filter_map(place).collect();
    if places.is_empty() { String::new() } else { format!("no value for {}; ", places.join(", ")) }
}

/// Returns the axis for a parameter. If the runs measure time in seconds, times on the axis are
/// shown in hours and days.
fn along(figure: &Figure, in_seconds: bool) -> ChartAxis {
    let parameter = &parameters::ALL[figure.x];
    let unit = match parameter.unit {
        "units of time" if in_seconds => "s",
        _ => "",
    };
    let name = match parameter.name {
        "load" => "load (arrivals per unit of time)",
        name => name,
    };
    ChartAxis::of(&name.replace('-', " "), unit, figure.x_axis.logarithmic)
}

/// Returns true if all runs measure time in seconds.
fn in_seconds(table: &Table) -> bool {
    let of_time = |row: &&Line| ["turnaround", "waiting", "service"].contains(&&*row.metric);
    let mut times = table.rows.iter().filter(of_time).peekable();
    times.peek().is_some() && times.all(|row| row.unit == "s")
}

/// Sets an axis label to the figure's label, if the figure has one. If this label ends with a unit
/// in parentheses, numbers on the axis are formatted without units.
fn labelled(axis: ChartAxis, label: Option<&String>) -> ChartAxis {
    let Some(label) = label else { return axis };
    let unit = if label.trim_end().ends_with(')') { Unit::Plain } else { axis.unit };
    ChartAxis { label: label.clone(), unit, ..axis }
}

/// Returns a heading such as `Turnaround by load on mesh:16x16, sides uniform`. Each condition
/// begins with `,`.
pub fn heading(y: &str, x: &str, machine: Option<&str>, conditions: &str) -> String {
    let y = match y {
        ALLOCATION_NS => "allocation time".to_string(),
        name => name.replace('_', " "),
    };
    let mut letters = y.chars();
    let y: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let machine = machine.map(|machine| format!(" on {machine}")).unwrap_or_default();
    format!("{y} by {}{machine}{conditions}", x.replace('-', " "))
}

/// Returns a note about replications, intervals and precision.
fn note(rows: &[&Line]) -> String {
    let least = rows.iter().map(|row| row.replications).min().unwrap_or(0);
    let most = rows.iter().map(|row| row.replications).max().unwrap_or(0);
    if most > 0 && rows.iter().all(|row| row.median.is_some()) {
        return note_of_medians(rows, least, most);
    }
    let mut note = match (least, most) {
        (_, 0) => return String::new(),
        (1, 1) if rows.iter().all(|row| row.summary.ci95.is_none()) => {
            return "1 replication per point: no confidence intervals".to_string();
        }
        (1, 1) => "95% confidence intervals, 1 replication per point".to_string(),
        _ if least == most && rows.iter().all(|row| is_certain(row)) => {
            format!("identical in all {most} replications of each point")
        }
        _ if least == most => format!("95% confidence intervals, {most} replications per point"),
        _ => format!("95% confidence intervals, {least} to {most} replications per point"),
    };
    let missed = rows.iter().filter(|row| row.target_missed).count();
    if missed > 0 {
        note += &format!("; precision target missed at {missed} of {} points", rows.len());
    }
    note
}

/// Returns a note about the medians of measured times.
fn note_of_medians(rows: &[&Line], least: u64, most: u64) -> String {
    let of = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let without = |row: &&&Line| row.median.is_some_and(|median| median.interval.is_none());
    let rest = match rows.iter().filter(without).count() {
        0 => "with 95% confidence intervals for the median",
        missing if missing == rows.len() => "too few for confidence intervals",
        _ => {
            "with 95% confidence intervals for the median at points with at least six \
             replications"
        }
    };
    format!("medians of {of} replications per point, {rest}")
}

/// Returns true if all replications produced the same number (apart from rounding errors in the
/// mean), or if none produced a number.
fn is_certain(row: &Line) -> bool {
    let Some(mean) = row.summary.mean else { return true };
    row.summary.ci95.is_some_and(|half| half <= 1e-9 * mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Specification, Summary};

    /// Returns a hand-written table of two strategies at two loads.
    fn table() -> Table {
        let line = |strategy: &str, load: &str, mean: f64| Line {
            values: ["mesh:4x4", strategy, "fcfs", load].map(String::from).into(),
            replications: 7,
            target_missed: mean > 3.0,
            overloaded: false,
            metric: "turnaround".into(),
            summary: Summary { mean: Some(mean), ci95: Some(0.5) },
            median: None,
            unit: "time_unit".into(),
        };
        let columns = ["machine", "strategy", "scheduler", "load"].map(String::from).to_vec();
        let rows = vec![
            line("ff", "10", 2.0),
            line("tff", "10", 1.5),
            line("ff", "2", 4.0),
            line("tff", "2", 3.0),
        ];
        Table { columns, rows }
    }

    fn chart(figure: &str) -> Chart {
        let text = format!(
            "machine = 'mesh:4x4'\nstrategy = ['ff', 'tff']\nload = [10, 2]\n[[figure]]\n\
             name = 'f'\ny = 'turnaround'\n{figure}"
        );
        super::chart(&Specification::parse(&text, "test").unwrap().figures[0], &table())
    }

    #[test]
    fn lines_are_in_order_and_labelled() {
        let chart = chart("labels = { ff = 'First Fit' }");
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["First Fit", "tff"]);
        let xs: Vec<f64> = chart.series[0].points.iter().map(|mark| mark.x).collect();
        assert_eq!(xs, [2.0, 10.0]);
        assert_eq!(chart.y.label, "turnaround (time units)");
        assert!(chart.note.contains("7 replications") && chart.note.contains("missed at 1 of 4"));
        let chart = self::chart("series = ['strategy', 'scheduler']\nlabels = { fcfs = '' }");
        assert_eq!(chart.series[1].name, "tff", "an empty label leaves no comma");
    }

    #[test]
    fn seconds_are_drawn_as_hours_and_days() {
        let text = |label: &str| {
            format!(
                "machine = 'mesh:4x4'\nstrategy = ['ff', 'tff']\nload = [10, 2]\n[[figure]]\nname \
                 = 'f'\ny = 'turnaround'\n{label}"
            )
        };
        let chart = |label: &str| {
            let mut table = table();
            table.rows.iter_mut().for_each(|row| row.unit = "s".into());
            super::chart(&Specification::parse(&text(label), "test").unwrap().figures[0], &table)
        };
        let axis = chart("").y;
        assert_eq!((axis.label.as_str(), axis.unit), ("turnaround", Unit::Seconds));
        assert_eq!(chart("y-label = 'time in the system'").y.unit, Unit::Seconds);
        assert_eq!(chart("y-label = 'turnaround (s)'").y.unit, Unit::Plain);
        assert_eq!(self::chart("").y.unit, Unit::Plain);
        assert_eq!(chart("").title, "Turnaround by load on mesh:4x4");
    }

    #[test]
    fn one_run_can_have_an_interval_of_its_own() {
        let note = |ci95| {
            let mut table = table();
            for row in &mut table.rows {
                (row.replications, row.target_missed, row.summary.ci95) = (1, false, ci95);
            }
            note(&table.rows.iter().collect::<Vec<_>>())
        };
        assert_eq!(note(None), "1 replication per point: no confidence intervals");
        assert_eq!(note(Some(0.5)), "95% confidence intervals, 1 replication per point");
    }

    #[test]
    fn what_a_paper_states_is_marked_where_it_is_drawn() {
        let stated =
            "stated = [{ x = 2, y = 3.5 }, { x = 10, y = 0.8, of = 'ff' }, { x = 3, y = 1 }]";
        let chart = self::chart(stated);
        let places: Vec<(f64, f64)> = chart.stated.iter().map(|mark| (mark.x, mark.y)).collect();
        assert_eq!(places, [(2.0, 3.5), (10.0, 1.6)]);
        let bars = "x = 'strategy'\nwhere = { load = 2 }\nlabels = { ff = 'FF' }";
        let chart = self::chart(&format!("{bars}\nstated = {{ x = 'ff', y = 4 }}"));
        assert_eq!((chart.stated[0].x, chart.stated[0].y), (0.0, 4.0));
    }

    #[test]
    fn names_along_x_make_bars() {
        let chart = chart("x = 'strategy'\nwhere = { load = 2 }");
        assert_eq!((chart.marks, chart.categories.join(" ")), (Marks::Bars, "ff tff".to_string()));
        assert_eq!(chart.series.len(), 1);
        let ys: Vec<f64> = chart.series[0].points.iter().map(|mark| mark.y).collect();
        assert_eq!(ys, [4.0, 3.0]);
        assert!(chart.note.starts_with("95%"), "{}", chart.note);
    }

    #[test]
    fn bars_that_are_not_there_are_named() {
        let text = "machine = 'mesh:4x4'\nstrategy = ['ff', 'tff']\nload = [10, 2]\n[[figure]]\n\
                    name = 'f'\ny = 'turnaround'\nx = 'strategy'\nseries = 'load'";
        let note = |missing: &[usize]| {
            let mut table = table();
            for &row in missing {
                table.rows[row].summary.mean = None;
            }
            super::chart(&Specification::parse(text, "test").unwrap().figures[0], &table).note
        };
        assert!(note(&[1]).starts_with("no value for tff (load 10); 95%"), "{}", note(&[1]));
        assert!(note(&[0, 2]).starts_with("no value for ff; 95%"), "{}", note(&[0, 2]));
    }
}
