//! One answer against the oracle.

use pavior_kernel::CallerError;
use pavior_mesh::{Cuboid, Occupancy, Request, picture};

use crate::claim::{BoxGroup, Claim, Grants, Recognition, Scene};
use crate::{Placement, Selection, oracle};

/// Holds a strategy's answer to a request, in a state, against its claim. The state is what is free
/// and what is held; strategies without rules of their own depend on what is free alone.
///
/// # Errors
/// If the answer is unsound or breaks the claim: a text with the state drawn.
pub fn judge(
    selection: &Selection,
    free: &Occupancy,
    held: &[Placement],
    request: &Request,
    answer: Option<&Placement>,
) -> Result<(), String> {
    let claim = Claim::of(selection);
    let family = (claim.family)(request, free.grid(), &selection.options);
    let scene = Scene { free, held, request, options: &selection.options };
    let verdict = sound(selection, &claim, &family, free, request, answer)
        .and_then(|()| recognised(&claim, &family, &scene, answer));
    verdict.map_err(|reason| {
        format!(
            "{selection} on {}: {reason}\nrequest {request:?}\nanswer {answer:?}\n{}",
            free.grid(),
            picture::draw(free)
        )
    })
}

/// A strategy that failed, or proposed what cannot be granted.
pub(super) fn failed(
    selection: &Selection,
    free: &Occupancy,
    request: &Request,
    error: &CallerError,
) -> String {
    format!("{selection} on {}: {error}\nrequest {request:?}\n{}", free.grid(), picture::draw(free))
}

/// Whether what is granted lies on the grid, is free and disjoint, and is what may be granted.
fn sound(
    selection: &Selection,
    claim: &Claim,
    family: &[BoxGroup],
    free: &Occupancy,
    request: &Request,
    answer: Option<&Placement>,
) -> Result<(), String> {
    let Some(placement) = answer else { return Ok(()) };
    if placement.parts().is_empty() {
        return Err("a placement without a box".into());
    }
    let grid = free.grid();
    let mut left = free.clone();
    for part in placement.parts() {
        if !part.lies_on(grid) {
            return Err(format!("{part:?} does not lie on the machine"));
        }
        if !left.is_free(part) {
            return Err(format!("{part:?} holds a busy node, or one granted twice"));
        }
        left.take(part).expect("found free just now");
    }
    if selection.entry.does.contiguous {
        let parts = canonical(placement, free);
        let base = parts[0].base;
        let member = |shape: &BoxGroup| shape.at(grid, relative(base, shape, grid)) == parts;
        return if family.iter().any(member) {
            Ok(())
        } else {
            Err("the placement is no shape of the strategy's family".into())
        };
    }
    let exact = |nodes: u32| match family {
        [] => nodes == request.nodes,
        shapes => shapes.iter().any(|shape| nodes == shape.nodes()),
    };
    match (claim.grants, placement.nodes()) {
        (Grants::Exact, nodes) if !exact(nodes) => {
            Err(format!("{nodes} nodes granted for {}", request.nodes))
        }
        (Grants::RoundsUp { most }, nodes)
            if u64::from(nodes) > most(request, grid, &selection.options) =>
        {
            Err(format!("{nodes} nodes granted for {}, more than it may", request.nodes))
        }
        (_, nodes) if nodes < request.nodes => {
            Err(format!("only {nodes} nodes granted for {}", request.nodes))
        }
        _ => Ok(()),
    }
}

/// The base of a shape whose first part stands at `first`.
fn relative(first: [u16; 3], shape: &BoxGroup, grid: &pavior_mesh::Grid) -> [u16; 3] {
    std::array::from_fn(|axis| {
        let (n, offset) = (u32::from(grid.side(axis)), u32::from(shape.parts[0].base[axis]));
        ((u32::from(first[axis]) + n - offset % n) % n) as u16
    })
}

/// Whether the answer is what the claim says it is.
fn recognised(
    claim: &Claim,
    family: &[BoxGroup],
    scene: &Scene<'_>,
    answer: Option<&Placement>,
) -> Result<(), String> {
    let Scene { free, request, .. } = *scene;
    let expect = |expected: bool, why: &str| match (expected, answer.is_some()) {
        (true, false) => Err(format!("refused, but {why}")),
        (false, true) => Err(format!("granted, although not: {why}")),
        _ => Ok(()),
    };
    match &claim.recognition {
        Recognition::First => {
            let first = oracle::first(free, family, claim.scan);
            let given = answer.map(|placement| canonical(placement, free));
            if given == first { Ok(()) } else { Err(format!("the first placement is {first:?}")) }
        }
        Recognition::Complete => {
            let first = oracle::first(free, family, claim.scan);
            expect(first.is_some(), &format!("{first:?} is free"))
        }
        Recognition::Best { score, over, first_of_ties } => {
            let best = oracle::best(free, family, claim.scan, *over, *score);
            expect(best.is_some(), &format!("{best:?} is free"))?;
            let (Some((most, at)), Some(placement)) = (best, answer) else { return Ok(()) };
            let given = canonical(placement, free)[0];
            let value = score(free, &given);
            if value != most {
                Err(format!("its score is {value}, the best is {most} at {at:?}"))
            } else if *first_of_ties && given != at {
                Err(format!("of the best score {most}, {at:?} comes first"))
            } else {
                Ok(())
            }
        }
        Recognition::Count => {
            expect(request.nodes <= free.count(), &format!("{} nodes are free", free.count()))
        }
        Recognition::Own { feasible, allowed } => {
            expect(feasible(scene), "its own rule says that it fits")?;
            if answer.is_none_or(|placement| allowed(scene, placement)) {
                Ok(())
            } else {
                Err("its own rule does not allow this".into())
            }
        }
        Recognition::Partial(_) => Ok(()),
    }
}

fn canonical(placement: &Placement, free: &Occupancy) -> Vec<Cuboid> {
    placement.parts().iter().map(|part| part.canonical(free.grid())).collect()
}
