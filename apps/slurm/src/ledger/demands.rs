//! Jobs' per-node demands, and the resources that nodes offer. An unsupported demand is never
//! ignored: the job is not placed, and a note tells the user why.

use std::collections::BTreeSet;

use crate::ledger::constraints::Constraint;
use crate::ledger::gres::{self, Gres};
use crate::names::{NodeName, number};

/// A job's demands on each node that it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Demands {
    pub(crate) constraint: Option<Constraint>,
    pub(crate) gres: Vec<Gres>,
    /// Memory in MiB.
    pub(crate) memory: u64,
    pub(crate) cpus: u64,
    /// Sockets, cores per socket and threads per core; 0 if unspecified.
    pub(crate) layout: [u32; 3],
    /// Temporary disk space in MiB.
    pub(crate) disk: u64,
    /// The excluded nodes, stored as a set because many jobs may each exclude all nodes.
    pub(crate) excluded: BTreeSet<NodeName>,
}

/// The resources of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub(crate) features: Vec<String>,
    pub(crate) gres: Vec<Gres>,
    /// Memory in MiB.
    pub(crate) memory: u64,
    pub(crate) cpus: u64,
    /// Sockets, cores per socket and threads per core.
    pub(crate) layout: [u32; 3],
    /// Temporary disk space in MiB.
    pub(crate) disk: u64,
}

/// The `squeue` fields that hold a job's demands.
pub(crate) struct DemandFields<'a> {
    pub(crate) features: &'a str,
    pub(crate) gres: &'a str,
    pub(crate) memory: &'a str,
    /// The minimum number of processors per node.
    pub(crate) least_cpus: &'a str,
    /// The total number of processors on all nodes.
    pub(crate) cpus: &'a str,
    pub(crate) nodes: u32,
    pub(crate) layout: &'a str,
    pub(crate) disk: &'a str,
    pub(crate) excluded: Vec<NodeName>,
}

impl DemandFields<'_> {
    /// Parses the fields. An error describes the first invalid field without quoting it.
    pub(crate) fn parse(self) -> Result<Demands, &'static str> {
        let constraint = match self.features {
            "(null)" | "" => None,
            text => Some(Constraint::parse(text).ok_or("its constraint cannot be parsed")?),
        };
        let count = |text: &str| number::<u64>(text).ok_or("its CPU count cannot be parsed");
        let (least, all) = (count(self.least_cpus)?, count(self.cpus)?);
        let cpus = least.max(all.div_ceil(u64::from(self.nodes.max(1))));
        Ok(Demands {
            constraint,
            gres: gres::parse(self.gres).ok_or("its GRES cannot be parsed")?,
            memory: mebibytes(self.memory).ok_or("its memory cannot be parsed")?,
            cpus,
            layout: layout(self.layout).ok_or("its processor layout cannot be parsed")?,
            disk: mebibytes(self.disk).ok_or("its temporary disk space cannot be parsed")?,
            excluded: self.excluded.into_iter().collect(),
        })
    }
}

impl Demands {
    /// Returns true if a node satisfies the demands.
    pub(crate) fn satisfied_by(&self, name: &NodeName, offer: &Offer) -> bool {
        let [sockets, cores, threads] = offer.layout;
        let [wants_sockets, wants_cores, wants_threads] = self.layout;
        // If a job requests fewer threads per core than the node has, the remaining threads stay
        // idle.
        let usable = match (wants_threads, threads) {
            (1.., 1..) if wants_threads < threads => {
                offer.cpus.saturating_mul(wants_threads.into()) / u64::from(threads)
            }
            _ => offer.cpus,
        };
        self.constraint.as_ref().is_none_or(|one| one.satisfied_by(&offer.features))
            && self.gres.iter().all(|gres| gres.satisfied_by(&offer.gres))
            && self.memory <= offer.memory
            && self.cpus <= usable
            && wants_sockets <= sockets
            && wants_cores <= cores
            && wants_threads <= threads
            && self.disk <= offer.disk
            && !self.excluded.contains(name)
    }
}

/// Parses a size such as `3000`, `3000M` or `2G` into MiB. `0` and `N/A` are zero.
pub(crate) fn mebibytes(text: &str) -> Option<u64> {
    match text {
        "N/A" => Some(0),
        _ if text.ends_with(|c: char| c.is_ascii_digit()) => number(text),
        _ => Some(gres::count(text)?.div_ceil(1 << 20)),
    }
}

/// Parses sockets, cores and threads, such as `2:*:1` for a job or `2:8:2` for a node.
pub(crate) fn layout(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split(':');
    let mut part = || match parts.next()? {
        "*" => Some(0),
        text => number(text),
    };
    let layout = [part()?, part()?, part()?];
    parts.next().is_none().then_some(layout)
}

#[cfg(test)]
mod tests;
