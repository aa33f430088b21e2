//! Pieces that several strategies really share.

pub(super) mod base_search;
pub(super) mod border_planes;
pub(super) mod busy_list;
pub(super) mod contact;
pub(super) mod coverage;
pub(super) mod coverage_list;
pub(super) mod ells;
pub(super) mod factor_shapes;
pub(super) mod folds;
pub(super) mod fringe;
pub(super) mod growth;
pub(super) mod prefix_sums;
pub(super) mod regions;
pub(super) mod turning;
