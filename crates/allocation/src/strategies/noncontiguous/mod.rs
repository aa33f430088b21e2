//! Strategies that grant nodes by count, in one piece or in many.

use pavior_kernel::Options;
use pavior_mesh::{Grid, Request, Scan};

use crate::claim::{BoxGroup, Claim, Grants, Recognition};

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
pub(super) mod mc1x1;
pub(super) mod mip;
pub(super) mod naive;
pub(super) mod nas;
pub(super) mod paging;
pub(super) mod random;

/// The claim of a strategy that succeeds exactly when enough nodes are free, and grants as many.
fn by_count(_: &Options) -> Claim {
    Claim {
        family: no_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Count,
    }
}

/// No shapes: what is granted is judged by count.
fn no_family(_: &Request, _: &Grid, _: &Options) -> Vec<BoxGroup> {
    Vec::new()
}
