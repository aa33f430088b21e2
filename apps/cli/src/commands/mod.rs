//! The commands, one per module.

pub(crate) mod advise;
pub(crate) mod allocate;
pub(crate) mod bench;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod forecast;
#[cfg(feature = "kube")]
pub(crate) mod kube;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod network;
pub(crate) mod plot;
pub(crate) mod records;
pub(crate) mod registries;
pub(crate) mod reproduce;
pub(crate) mod results;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod slots;
#[cfg(feature = "slurm")]
pub(crate) mod slurm;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod unblock;
pub(crate) mod yardstick;
