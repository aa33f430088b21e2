//! Jobs' per-node demands, and the resources that nodes offer. An unsupported demand is never
//! ignored: the job is not placed, and a note tells the user why.

use std::collections::BTreeSet;

use crate::ledger::constraints::Features;
use crate::ledger::gres::{self, Gres};
use crate::names::{NodeName, number};

/// A job's demands on each node that it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Demands {
    pub(crate) features: Option<Features>,
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

/// A demand that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidDemand {
    Constraint,
    Processors,
    Gres,
    Memory,
    Layout,
    Disk,
}

impl InvalidDemand {
    /// Describes the fault. The text does not depend on the job.
    pub(crate) fn fault(self) -> &'static str {
        match self {
            InvalidDemand::Constraint => "its constraint cannot be parsed",
            InvalidDemand::Processors => "its CPU count cannot be parsed",
            InvalidDemand::Gres => "its GRES cannot be parsed",
            InvalidDemand::Memory => "its memory cannot be parsed",
            InvalidDemand::Layout => "its processor layout cannot be parsed",
            InvalidDemand::Disk => "its temporary disk space cannot be parsed",
        }
    }
}

impl DemandFields<'_> {
    /// Parses the fields. An error names the first invalid field.
    pub(crate) fn parse(self) -> Result<Demands, InvalidDemand> {
        let features = match self.features {
            "(null)" | "" => None,
            text => Some(Features::parse(text).ok_or(InvalidDemand::Constraint)?),
        };
        let least = number::<u64>(self.least_cpus).ok_or(InvalidDemand::Processors)?;
        let all = number::<u64>(self.cpus).ok_or(InvalidDemand::Processors)?;
        let cpus = least.max(all.div_ceil(u64::from(self.nodes.max(1))));
        Ok(Demands {
            features,
            gres: gres::parse(self.gres).ok_or(InvalidDemand::Gres)?,
            memory: mebibytes(self.memory).ok_or(InvalidDemand::Memory)?,
            cpus,
            layout: layout(self.layout).ok_or(InvalidDemand::Layout)?,
            disk: mebibytes(self.disk).ok_or(InvalidDemand::Disk)?,
            excluded: self.excluded.into_iter().collect(),
        })
    }
}

impl Demands {
    /// Returns true if a node satisfies the demands.
    pub(crate) fn satisfied_by(&self, name: &NodeName, offer: &Offer) -> bool {
        let [sockets, cores, threads] = offer.layout;
        let [wants_sockets, wants_cores, wants_threads] = self.layout;
        // If a job requests fewer threads per core than the node has, the rest stay idle.
        let usable = match (wants_threads, threads) {
            (1.., 1..) if wants_threads < threads => {
                offer.cpus * u64::from(wants_threads) / u64::from(threads)
            }
            _ => offer.cpus,
        };
        self.features.as_ref().is_none_or(|features| features.satisfied_by(&offer.features))
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
    if text == "N/A" {
        return Some(0);
    }
    let (digits, unit) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
        Some(digits) => (digits, text.as_bytes()[digits.len()]),
        None => (text, b'M'),
    };
    let (factor, divisor) = match unit.to_ascii_uppercase() {
        b'K' => (1, 1024),
        b'M' => (1, 1),
        b'G' => (1 << 10, 1),
        b'T' => (1 << 20, 1),
        b'P' => (1 << 30, 1),
        _ => return None,
    };
    Some(number::<u64>(digits)?.checked_mul(factor)?.div_ceil(divisor))
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
