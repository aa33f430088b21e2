//! Slots: the number of boxes of a shape, rotated or not, that fit at once, averaged over time.
//!
//! The shape follows the name, as in `slots:4x4x4`. The metric is computed only on request, because
//! every change in occupancy requires a new count. A count that exhausts its budget includes only
//! the boxes found so far, so its value is a lower bound.

use pavior_answers::{Shape, slots};
use pavior_kernel::BadName;
use pavior_mesh::read_sides;

use super::time_average::FreeOverTime;
use super::{Context, Metric, MetricSpec, Unit, options};

/// The maximum number of bit-set words to read for each count. Reading them takes about 1 ms.
pub(super) const BUDGET: u64 = 400_000;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slots",
    meaning: "number of boxes of a shape, rotated or not, that fit simultaneously, averaged over \
              time; for example slots:4x4x4 (only on request)",
    unit: Unit::Count,
    standard: false,
    build,
};

pub(super) fn of_shape(
    spec: &'static MetricSpec,
    text: &str,
) -> Result<&'static MetricSpec, BadName> {
    read_sides(text).map(|_| options::with_option(spec, text)).ok_or_else(|| BadName {
        reason: format!("the metric requires a shape, such as {}:4x4x4", spec.name),
        span: 0..text.len(),
    })
}

/// Creates the metric, which has no value unless its name includes a shape.
fn build(context: &Context) -> Box<dyn Metric> {
    let shape = read_sides(context.option).map(Shape::new);
    FreeOverTime::boxed(context.grid, 1.0, move |free| {
        Some(slots(free, &[shape?], BUDGET).boxes.len() as f64)
    })
}
