//! Strategies that grant nodes by count, in one or more pieces.

pub(super) mod anca;
pub(super) mod connected;
pub(super) mod gabl;
pub(super) mod gen_alg;
pub(super) mod granular_mbs;
pub(super) mod linear_best;
pub(super) mod linear_first;
pub(super) mod linear_sorted;
pub(super) mod mbs;
pub(super) mod mc;
pub(super) mod mip;
pub(super) mod naive;
pub(super) mod nas;
pub(super) mod paging;
pub(super) mod random;
