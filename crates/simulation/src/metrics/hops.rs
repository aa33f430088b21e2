//! Hops: the number of links that a message crosses, averaged over delivered messages.

use super::carried::Carried;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "hops",
    meaning: "number of links crossed, averaged over messages",
    unit: Unit::Count,
    standard: true,
    build: |context| Carried::boxed(context, |_, totals| totals.mean_hops()),
};
