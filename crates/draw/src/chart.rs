//! A chart as data, before it is drawn.

use crate::axis::{self, Unit};
use crate::palette::COLOURS;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Its heading.
    pub title: String,
    /// Along the bottom.
    pub x: ChartAxis,
    /// Along the left.
    pub y: ChartAxis,
    /// The names along x, where it has names instead of numbers: x = 0 is the first.
    pub categories: Vec<String>,
    /// How series are drawn.
    pub marks: Marks,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
    /// What a paper states, drawn as crosses over the series.
    pub stated: Vec<Mark>,
    /// What a reader must know, in a line below.
    pub note: String,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartAxis {
    /// What stands along it; with its unit, unless the numbers themselves have it.
    pub label: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
    /// What its numbers count.
    pub unit: Unit,
}

impl ChartAxis {
    /// An axis of plain numbers.
    pub fn plain(label: impl Into<String>, logarithmic: bool) -> ChartAxis {
        ChartAxis { label: label.into(), logarithmic, unit: Unit::Plain }
    }

    /// The axis of a quantity in a unit that results name: of seconds, the numbers have their units
    /// themselves.
    ///
    /// ```
    /// use pavior_draw::ChartAxis;
    /// let label = |name, unit| ChartAxis::of(name, unit, false).label;
    /// assert_eq!(label("waiting_time", "s"), "waiting time");
    /// assert_eq!(label("waiting", "time_unit"), "waiting (time units)");
    /// assert_eq!(label("utilization", "fraction"), "utilization (fraction)");
    /// ```
    pub fn of(quantity: &str, unit: &str, logarithmic: bool) -> ChartAxis {
        let name = quantity.replace('_', " ");
        let label = match unit {
            "" | "count" | "ratio" | "s" => name,
            "ns" => format!("{} time, median of runs", name.trim_end_matches(" ns")),
            "time_unit" => format!("{name} (time units)"),
            "cycle" => format!("{name} (cycles)"),
            other => format!("{name} ({other})"),
        };
        ChartAxis { label, logarithmic, unit: Unit::named(unit) }
    }
}

/// How series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Points joined by lines, with intervals.
    Lines,
    /// Bars side by side, with intervals; points where the y axis is logarithmic.
    Bars,
    /// Steps that hold their height until the next.
    Steps,
}

/// A series of points with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in ascending order of x.
    pub points: Vec<Mark>,
}

/// A point of a series. One that is not finite, or not above 0 on a logarithmic axis, is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Along x; the index of a category where x has names.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// The ends of the confidence interval of y, below and above it; that of a median may reach
    /// farther on one side.
    pub interval: Option<[f64; 2]>,
}

impl Chart {
    /// What the legend calls the crosses.
    pub(crate) const STATED: &str = "stated in the paper";

    /// The number of series that a drawing tells apart by colours, marks and dashes.
    pub const TOLD_APART: usize = COLOURS;

    /// The least and the greatest of the values that can be shown; none if there are none.
    pub(crate) fn range(
        values: impl Iterator<Item = f64>,
        logarithmic: bool,
    ) -> Option<(f64, f64)> {
        let shown = values.filter(|value| axis::can_show(*value, logarithmic));
        shown.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &Mark> {
        self.series.iter().flat_map(|series| &series.points).chain(&self.stated)
    }
}
