//! Latency: the number of cycles from a message's creation to its delivery, averaged over delivered
//! messages.

use super::carried::Carried;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "latency",
    meaning: "cycles from creation to delivery, averaged over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |context| Carried::boxed(context, |_, totals| totals.mean_latency()),
};
