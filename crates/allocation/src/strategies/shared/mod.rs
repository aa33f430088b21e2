//! Pieces that several strategies really share.

pub(super) mod bit_set;
pub(super) mod border_planes;
pub(super) mod buddies;
pub(super) mod busy_list;
pub(super) mod coverage;
pub(super) mod curve;
pub(super) mod factor_shapes;
pub(super) mod prefix_sums;
pub(super) mod runs;
pub(super) mod turning;
