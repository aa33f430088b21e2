//! Tests for `pavior kube` against a real control plane without kubelets, set up by
//! `examples/kubernetes/control-plane.sh`.
//!
//! A missing control plane is reported; with `PAVIOR_REQUIRE_KUBERNETES`, as in `.ci/run`, it is an
//! error.

mod attack;
mod chaos;
mod cluster;
mod disturbed;
mod in_force;
mod jobsets;
mod judge;
mod kubelets;
mod kueue;
mod ledger;
mod page;
mod policies;
mod proxy;
mod recovery;
mod sets;
mod storm;
