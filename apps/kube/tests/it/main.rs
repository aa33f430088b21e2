//! Tests for `pavior kube` against a real control plane without kubelets, set up by
//! `examples/kubernetes/control-plane.sh`.
//!
//! If there is no control plane, the tests print a note. They then fail if
//! `PAVIOR_REQUIRE_KUBERNETES` is set, as it is in `.ci/run`, and pass otherwise.

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
