//! The figures declared in an experiment: their axes, their series, and the points to draw.

use std::collections::HashMap;

use pavior_kernel::unknown_name;
use pavior_simulation::metrics::ALLOCATION_NS;

use super::error::Fault;
use super::read::{Entry, Node};
use super::values::scalar;
use super::{Specification, word};
use crate::chart::heading;
use crate::parameters::{self, Parameter, ValueType};
use crate::{Catalogue, Point};

/// A figure with one line per combination of series values. If the x values are not numbers, the
/// figure has bars instead of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name, used for the figure's files.
    pub name: String,
    /// The figure's heading.
    pub title: String,
    /// The parameter on the x axis, as an index into [`parameters::ALL`].
    pub x: usize,
    /// The metric on the y axis.
    pub y: String,
    /// The parameters that define the series.
    pub series: Vec<usize>,
    /// The conditions that a point must meet to be drawn: a list of allowed values per parameter.
    pub fixed: Vec<(usize, Vec<String>)>,
    /// The x axis.
    pub x_axis: Axis,
    /// The y axis.
    pub y_axis: Axis,
    /// Names for values, shown in the legend.
    pub labels: Vec<(String, String)>,
    /// Numbers reported in a paper.
    pub stated: Vec<StatedMark>,
}

/// A number reported in a paper's text, and its position in the paper's figure.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedMark {
    /// The value of the parameter on the x axis.
    pub x: String,
    /// The reported number.
    pub y: f64,
    /// The name of a series in the legend, if the number is a multiple of that series' value.
    pub of: Option<String>,
}

/// An axis of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label, or `None` to use the name of the parameter or metric.
    pub label: Option<String>,
    /// True if the axis is logarithmic.
    pub logarithmic: bool,
}

const KEYS: [&str; 11] =
    ["name", "title", "x", "y", "series", "where", "log", "x-label", "y-label", "labels", "stated"];

impl Figure {
    /// Returns true if a point is drawn, given the value of each parameter.
    pub fn draws<'p>(&self, value: impl Fn(usize) -> Option<&'p str>) -> bool {
        self.fixed.iter().all(|(parameter, wanted)| {
            value(*parameter).is_some_and(|value| wanted.iter().any(|one| one == value))
        })
    }

    fn heading(&self, specification: &Specification) -> String {
        let mut drawn =
            specification.points.iter().filter(|point| self.draws(|index| point.at(index)));
        let first = drawn.next().and_then(|point| point.get("machine"));
        let machine = first.filter(|_| drawn.all(|point| point.get("machine") == first));
        let told = self.fixed.iter().filter(|(index, _)| parameters::ALL[*index].name != "machine");
        let condition = |(index, values): &(usize, Vec<String>)| {
            let name = parameters::ALL[*index].name.replace('-', " ");
            format!(", {name} {}", values.join(" or "))
        };
        let conditions: Vec<String> = told.map(condition).collect();
        let conditions = conditions.concat();
        heading(&self.y, parameters::ALL[self.x].name, machine, &conditions)
    }

    /// Returns a value's name in the legend.
    pub fn label<'s>(&'s self, value: &'s str) -> &'s str {
        let renamed = self.labels.iter().find(|(from, _)| from == value);
        renamed.map_or(value, |(_, to)| to)
    }
}

/// Reads a `[[figure]]` table.
pub(super) fn read(node: Node<'_>, specification: &Specification) -> Result<Figure, Fault> {
    let entries = node.table()?;
    if let Some(entry) = entries.iter().find(|entry| !KEYS.iter().any(|key| entry.is(key))) {
        return Err(entry.unknown(&KEYS));
    }
    let find = |key: &str| entries.iter().find(|entry| entry.is(key));
    let text = |key: &str| find(key).map(|entry| entry.node.text()).transpose();
    let Some(name) = find("name") else {
        return node.fail("a figure needs a `name`, which is used in its file names");
    };
    let name_text = word(name.node)?;
    if specification.figures.iter().any(|other| other.name == name_text) {
        return name.node.fail(format!("a figure named `{name_text}` already exists"));
    }
    let x = match find("x") {
        Some(entry) => parameter(entry.node)?,
        None => parameters::LOAD.index(),
    };
    let Some(y) = find("y") else { return node.fail("a figure needs a `y` metric") };
    let y_name = metric(y.node, specification)?;
    let (x_log, y_log) = find("log").map_or(Ok((false, false)), logarithmic)?;
    if let (Some(entry), true, ValueType::Text | ValueType::Switch) =
        (find("log"), x_log, parameters::ALL[x].kind)
    {
        return entry.node.fail(format!("`{}` is not a number", parameters::ALL[x].name));
    }
    let mut figure = Figure {
        title: String::new(),
        name: name_text,
        x,
        y: y_name,
        series: Vec::new(),
        fixed: find("where")
            .map_or(Ok(Vec::new()), |entry| fixed(entry, &specification.catalogue))?,
        x_axis: Axis { label: text("x-label")?.map(String::from), logarithmic: x_log },
        y_axis: Axis { label: text("y-label")?.map(String::from), logarithmic: y_log },
        labels: find("labels").map_or(Ok(Vec::new()), labels)?,
        stated: find("stated").map_or(Ok(Vec::new()), |entry| stated(entry, x, specification))?,
    };
    series(node, find("series"), &mut figure, specification)?;
    figure.title = match text("title")? {
        Some(title) => title.to_string(),
        None => figure.heading(specification),
    };
    Ok(figure)
}

/// Returns the figures for an experiment that declares none. They show turnaround and utilization
/// (or, in snapshots, the index) as functions of the load or of another numeric parameter that
/// varies. If no numeric parameter varies, they show these metrics by strategy.
pub(super) fn usual(specification: &Specification) -> Vec<Figure> {
    let mut varying = crate::point::varying(&specification.points);
    let numeric = |index: &usize| {
        matches!(parameters::ALL[*index].kind, ValueType::Number | ValueType::Count)
            && specification.points.iter().all(|point| point.at(*index).is_some())
    };
    // Prefer the load, which is the last numeric parameter.
    let number = varying.iter().copied().rfind(numeric);
    let x = number.unwrap_or(parameters::STRATEGY.index());
    varying.retain(|index| *index != x);
    varying.reverse();
    let observed = |name: &&str| specification.metrics.iter().any(|spec| spec.name == *name);
    let figure = |name: &str| {
        let mut figure = Figure {
            name: name.to_string(),
            title: String::new(),
            x,
            y: name.to_string(),
            series: varying.clone(),
            fixed: Vec::new(),
            x_axis: Axis::default(),
            y_axis: Axis::default(),
            labels: Vec::new(),
            stated: Vec::new(),
        };
        figure.title = figure.heading(specification);
        figure
    };
    let usual = ["turnaround", "utilization", "optimality_index"];
    usual.iter().filter(|name| observed(name)).map(|name| figure(name)).collect()
}

/// Sets the series to the parameters in `named` or, if no parameters are named, to all parameters
/// that vary among the drawn points. If `named` is given, no two points may have the same position
/// in the figure.
fn series(
    node: Node<'_>,
    named: Option<&Entry<'_>>,
    figure: &mut Figure,
    specification: &Specification,
) -> Result<(), Fault> {
    let drawn: Vec<Point> = specification
        .points
        .iter()
        .filter(|point| figure.draws(|index| point.at(index)))
        .cloned()
        .collect();
    if drawn.is_empty() && specification.left_out.is_empty() {
        return node.fail(format!("figure `{}` matches no points", figure.name));
    }
    let x = &parameters::ALL[figure.x];
    if drawn.iter().any(|point| point.at(figure.x).is_none()) {
        return node.fail(format!("`{}` does not apply to every point in this figure", x.name));
    }
    let varying = crate::point::varying(&drawn);
    let varying = varying.into_iter().filter(|&index| index != figure.x);
    let Some(entry) = named else {
        // Once reversed, the list usually begins with the strategy.
        figure.series = varying.rev().collect();
        return Ok(());
    };
    figure.series =
        entry.node.list().into_iter().map(parameter).collect::<Result<Vec<usize>, _>>()?;
    let left: Vec<usize> = varying.filter(|index| !figure.series.contains(index)).collect();
    let mut places: HashMap<Vec<Option<&str>>, &Point> = HashMap::new();
    for point in &drawn {
        let place = figure.series.iter().chain([&figure.x]).map(|&index| point.at(index)).collect();
        let Some(other) = places.insert(place, point) else { continue };
        let differs = left.iter().find(|&&index| point.at(index) != other.at(index));
        let &index = differs.expect("no two points are the same");
        return entry.node.fail(format!(
            "`{0}` also varies: add it to `series`, or fix it with `where = {{ {0} = ... }}`",
            parameters::ALL[index].name
        ));
    }
    Ok(())
}

fn parameter(node: Node<'_>) -> Result<usize, Fault> {
    let name = node.text()?;
    let found = parameters::ALL.iter().position(|parameter| parameter.is_called(name));
    let Some(index) = found else {
        let known: Vec<&str> = parameters::ALL.iter().map(|known| known.name).collect();
        return node.fail(unknown_name("parameter", name, &known).reason);
    };
    Ok(index)
}

fn metric(node: Node<'_>, specification: &Specification) -> Result<String, Fault> {
    let name = node.text()?;
    let mut known: Vec<&str> = specification.metrics.iter().map(|spec| spec.name).collect();
    known.extend(specification.timing.then_some(ALLOCATION_NS));
    if known.contains(&name) {
        Ok(name.to_string())
    } else if pavior_simulation::metrics::named(name).is_ok() {
        node.fail(format!("`{name}` is not observed: add it to `metrics`"))
    } else {
        node.fail(unknown_name("metric", name, &known).reason)
    }
}

/// Reads `log = "x"`, `"y"`, or both.
fn logarithmic(entry: &Entry<'_>) -> Result<(bool, bool), Fault> {
    let mut axes = (false, false);
    for node in entry.node.list() {
        match node.text()? {
            "x" => axes.0 = true,
            "y" => axes.1 = true,
            other => return node.fail(format!("`{other}` is not an axis; use x or y")),
        }
    }
    Ok(axes)
}

fn fixed(entry: &Entry<'_>, catalogue: &Catalogue) -> Result<Vec<(usize, Vec<String>)>, Fault> {
    let mut all = Vec::new();
    for condition in entry.node.table()? {
        let Some(index) =
            parameters::ALL.iter().position(|parameter| parameter.is_called(condition.key))
        else {
            let known: Vec<&str> = parameters::ALL.iter().map(|known| known.name).collect();
            return Err(condition.unknown(&known));
        };
        let parameter: &Parameter = &parameters::ALL[index];
        let values = condition.node.list().into_iter();
        let values: Result<Vec<String>, Fault> = values
            .map(|node| Ok(scalar(parameter, node, catalogue)?.reading.text.to_string()))
            .collect();
        all.push((index, values?));
    }
    Ok(all)
}

fn labels(entry: &Entry<'_>) -> Result<Vec<(String, String)>, Fault> {
    let entries = entry.node.table()?;
    entries.into_iter().map(|one| Ok((one.key.to_string(), one.node.text()?.to_string()))).collect()
}

/// Reads `stated = [{ x = 4.6, y = 0.36 }, { x = 4.6, y = 0.56, of = "FF" }]`.
fn stated(
    entry: &Entry<'_>,
    x: usize,
    specification: &Specification,
) -> Result<Vec<StatedMark>, Fault> {
    let one = |node: Node<'_>| {
        let mut mark = StatedMark { x: String::new(), y: f64::NAN, of: None };
        for entry in node.table()? {
            match entry.key {
                "x" => {
                    let value = scalar(&parameters::ALL[x], entry.node, &specification.catalogue)?;
                    mark.x = value.reading.text.to_string();
                }
                "y" => mark.y = entry.node.number()?,
                "of" => mark.of = Some(entry.node.text()?.to_string()),
                _ => return Err(entry.unknown(&["x", "y", "of"])),
            }
        }
        if mark.x.is_empty() || !mark.y.is_finite() {
            return node.fail("each entry in `stated` needs an `x` and a numeric `y`");
        }
        Ok(mark)
    };
    entry.node.list().into_iter().map(one).collect()
}
