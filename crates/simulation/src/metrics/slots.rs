//! Slots: the number of boxes of a shape that fit simultaneously, turned or not, as a time average.
//!
//! The shape follows the name, as in `slots:4x4x4`. Computed only on request, because each change
//! in occupancy requires a new count. If a count exhausts its budget, only the boxes found so far
//! count, and the value is a lower bound.

use pavior_answers::{Shape, slots};
use pavior_kernel::BadName;
use pavior_mesh::read_sides;

use super::time_average::FreeOverTime;
use super::{Context, Metric, MetricSpec, Unit, options};

/// The maximum number of words of bit sets to read for each count, which takes about a millisecond.
pub(super) const BUDGET: u64 = 400_000;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slots",
    meaning: "boxes of a shape that fit simultaneously, turned or not, time average; slots:4x4x4 \
              (only on request)",
    unit: Unit::Count,
    standard: false,
    build,
};

pub(super) fn of_shape(
    spec: &'static MetricSpec,
    text: &str,
) -> Result<&'static MetricSpec, BadName> {
    read_sides(text).map(|_| options::with_option(spec, text)).ok_or_else(|| BadName {
        reason: format!("the metric needs a shape, such as {}:4x4x4", spec.name),
        span: 0..text.len(),
    })
}

/// Creates the metric. Without a shape, it has no value.
fn build(context: &Context) -> Box<dyn Metric> {
    let shape = read_sides(context.option).map(Shape::new);
    FreeOverTime::boxed(context.grid, 1.0, move |free| {
        Some(slots(free, &[shape?], BUDGET).boxes.len() as f64)
    })
}
