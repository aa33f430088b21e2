//! Waiting by size: `waiting_of:5-32`, for example, covers jobs with 5 to 32 nodes.

use std::ops::RangeInclusive;

use pavior_kernel::BadName;

use super::mean::MeanOf;
use super::{MetricSpec, Unit, options};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting_of",
    meaning: "start - arrival, averaged over completed jobs of the given sizes; for example \
              waiting_of:5-32 (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| {
        MeanOf::boxed(context, Interest::DEPARTURES, |context, _, fact| match fact {
            Fact::Departed { job, start, .. }
                if sizes(context.option)?.contains(&job.request.nodes) =>
            {
                Some(context.time.units(start.since(job.arrival)))
            }
            _ => None,
        })
    },
};

pub(super) fn of_sizes(text: &str) -> Result<&'static MetricSpec, BadName> {
    match sizes(text) {
        Some(sizes) => {
            Ok(options::with_option(&SPEC, &format!("{}-{}", sizes.start(), sizes.end())))
        }
        None => Err(BadName {
            reason: "the metric requires a range of node counts, such as \
                     waiting_of:5-32"
                .to_string(),
            span: 0..text.len(),
        }),
    }
}

/// Parses an inclusive range of sizes.
fn sizes(text: &str) -> Option<RangeInclusive<u32>> {
    let whole = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (least, most) = text.split_once('-')?;
    let (least, most) = (whole(least)?, whole(most)?);
    (least <= most).then_some(least..=most)
}
