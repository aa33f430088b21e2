//! Energy: flit-hops times the energy per link, plus router traversals times the energy per router,
//! averaged over delivered messages. The NAS paper proposes this metric as future work.

use super::carried::Carried;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "energy",
    meaning: "energy of all flit-hops and router traversals, averaged over messages",
    unit: Unit::Energy,
    standard: true,
    build: |context| Carried::boxed(context, |context, totals| totals.mean_energy(context.energy)),
};
