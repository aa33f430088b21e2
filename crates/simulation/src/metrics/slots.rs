//! Slots: how many boxes of a shape can be placed side by side, turned or not, as a time average.
//!
//! The shape stands behind the name: `slots:4x4x4`. Counted anew whenever the occupancy changes, so
//! it is computed only when asked for. Where the budget of a count runs out, what was found counts:
//! the value is then a lower bound.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pavior_kernel::BadName;
use pavior_mesh::{Sides, read_sides};
use pavior_planning::{Shape, slots};

use super::time_average::FreeOverTime;
use super::{Context, Metric, MetricSpec, Unit};

/// The words of bit sets that are looked at for one count: about a millisecond.
const BUDGET: u64 = 400_000;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slots",
    meaning: "boxes of a shape that can be placed side by side, turned or not, time average; \
              slots:4x4x4 (only when asked for)",
    unit: Unit::Count,
    standard: false,
    build,
};

/// The metric of a shape. Each shape has one for as long as the program runs.
pub(super) fn of_shape(text: &str) -> Result<&'static MetricSpec, BadName> {
    static KNOWN: Mutex<BTreeMap<Sides, &'static MetricSpec>> = Mutex::new(BTreeMap::new());
    let sides = read_sides(text).ok_or_else(|| BadName {
        reason: "write a shape behind it, such as slots:4x4x4".to_string(),
        span: 0..text.len(),
    })?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(known.entry(sides).or_insert_with(|| {
        let name: &'static str = format!("slots:{text}").leak();
        Box::leak(Box::new(MetricSpec { name, ..SPEC }))
    }))
}

/// Without a shape it has no value.
fn build(context: &Context) -> Box<dyn Metric> {
    let shape = read_sides(context.option).map(Shape::new);
    FreeOverTime::boxed(context.grid, 1.0, move |free| {
        Some(slots(free, &[shape?], BUDGET).boxes.len() as f64)
    })
}
