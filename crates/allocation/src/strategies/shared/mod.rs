//! Pieces that several strategies really share.

pub(super) mod base_search;
pub(super) mod bit_set;
pub(super) mod border_planes;
pub(super) mod buddies;
pub(super) mod busy_list;
pub(super) mod cables;
pub(super) mod chain;
pub(super) mod contact;
pub(super) mod coverage;
pub(super) mod coverage_list;
pub(super) mod curve;
pub(super) mod ells;
pub(super) mod factor_shapes;
pub(super) mod folds;
pub(super) mod free_boxes;
pub(super) mod free_placing;
pub(super) mod free_set;
pub(super) mod fringe;
pub(super) mod growth;
pub(super) mod prefix_sums;
pub(super) mod regions;
pub(super) mod right_borders;
pub(super) mod runs;
pub(super) mod snug;
pub(super) mod turning;
