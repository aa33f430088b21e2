//! Blocking: a message's latency minus the latency it would have on an empty network, averaged over
//! delivered messages.

use super::carried::Carried;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "blocking",
    meaning: "latency minus the latency on an empty network, averaged over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |context| {
        Carried::boxed(context, |context, totals| totals.mean_blocking(context.routing_delay))
    },
};
