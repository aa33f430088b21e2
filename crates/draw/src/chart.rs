//! Charts as plain data, before they are drawn.

use crate::axis::{self, Unit};
use crate::palette::COLOURS;

/// A chart, independent of the output format.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading of the chart.
    pub title: String,
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The names along the x axis, or an empty list if the axis is numeric. The first is at x = 0.
    pub categories: Vec<String>,
    /// The kind of marks used to draw the series.
    pub marks: Marks,
    /// The series, in legend order.
    pub series: Vec<Series>,
    /// Values reported in a paper, drawn as crosses on top of the series.
    pub stated: Vec<Mark>,
    /// A note for the reader, shown below the chart.
    pub note: String,
}

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartAxis {
    /// The label along the axis. It includes the unit unless the numbers on the axis already do.
    pub label: String,
    /// True if the axis is logarithmic.
    pub logarithmic: bool,
    /// The unit of the numbers on the axis.
    pub unit: Unit,
}

impl ChartAxis {
    /// Creates an axis of plain numbers.
    pub fn plain(label: impl Into<String>, logarithmic: bool) -> ChartAxis {
        ChartAxis { label: label.into(), logarithmic, unit: Unit::Plain }
    }

    /// Creates an axis for a quantity, given the unit's name in result files. If the unit is `s`,
    /// the label omits the unit because each number on the axis includes it.
    ///
    /// ```
    /// # mod pavior { pub use pavior_draw as draw; }
    /// use pavior::draw::ChartAxis;
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

/// The marks used to draw a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Points with intervals, joined by lines.
    Lines,
    /// Adjacent bars with intervals. If the y axis is logarithmic, points replace the bars.
    Bars,
    /// A step function, in which each value holds until the next point.
    Steps,
}

/// A named series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, in ascending order of x.
    pub points: Vec<Mark>,
}

/// A point in a series. It is drawn only if it is finite and, on a logarithmic axis, positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The x value, or the index of a category if the x axis has names.
    pub x: f64,
    /// The value along y.
    pub y: f64,
    /// The lower and upper ends of the confidence interval for y. For a median, the interval may be
    /// asymmetric.
    pub interval: Option<[f64; 2]>,
}

impl Chart {
    /// The legend entry for the crosses.
    pub(crate) const STATED: &str = "stated in the paper";

    /// The number of series that colors, marks and dashes can distinguish in one drawing.
    pub const TOLD_APART: usize = COLOURS;

    /// Returns the smallest and largest of the values that can be drawn, or `None` if none can.
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
