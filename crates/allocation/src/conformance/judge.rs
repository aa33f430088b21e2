//! Compares a single answer with the oracle.

use pavior_kernel::CallerError;
use pavior_mesh::{Cuboid, Grid, Occupancy, Request};

use super::flaw::{Counterexample, Flaw};
use crate::claim::{BoxGroup, Claim, Grants, Recognition, Scene};
use crate::explain::words;
use crate::{BadProposal, Placement, PlacementError, Selection, oracle};

/// The fault in an answer, and the correct placement if only one is correct.
struct Wrong {
    reason: String,
    expected: Vec<Cuboid>,
}

impl From<String> for Wrong {
    fn from(reason: String) -> Wrong {
        Wrong { reason, expected: Vec::new() }
    }
}

impl From<&str> for Wrong {
    fn from(reason: &str) -> Wrong {
        reason.to_string().into()
    }
}

/// Checks a strategy's answer to a request in a given state against the strategy's claim. The state
/// consists of the free nodes and the placements that jobs hold. Unless a strategy has its own
/// rule, its answers depend only on the free nodes.
///
/// # Errors
/// Returns an error if the answer is unsound or breaks the claim.
pub fn judge(
    selection: &Selection,
    free: &Occupancy,
    held: &[Placement],
    request: &Request,
    answer: Option<&Placement>,
) -> Result<(), Flaw> {
    let claim = Claim::of(selection);
    let family = (claim.family)(request, free.grid(), &selection.options);
    let scene = Scene { free, held, request, options: &selection.options };
    let verdict = sound(selection, &claim, &family, free, request, answer)
        .and_then(|()| recognised(&claim, &family, &scene, answer));
    verdict.map_err(|Wrong { reason, expected }| {
        let answer = answer.cloned();
        counterexample(selection, free, request, answer, expected, reason).into()
    })
}

fn counterexample(
    selection: &Selection,
    free: &Occupancy,
    request: &Request,
    answer: Option<Placement>,
    expected: Vec<Cuboid>,
    reason: String,
) -> Counterexample {
    let strategy = selection.to_string();
    let (free, request) = (free.clone(), *request);
    Counterexample { strategy, free, request, answer, expected, reason, answers: 0 }
}

/// Describes a strategy's failure, or a proposal that cannot be granted.
pub(super) fn failed(
    selection: &Selection,
    free: &Occupancy,
    request: &Request,
    error: &CallerError,
) -> Flaw {
    let grid = free.grid();
    let (proposal, reason) = match error.get().downcast_ref() {
        Some(BadProposal::Placement { proposal, fault }) => {
            let reason = match fault {
                PlacementError::Outside(part) => {
                    format!("{} is not on the machine", words(grid, part))
                }
                PlacementError::NotFree(part) => format!("{} is not free", words(grid, part)),
                PlacementError::Overlapping(part) => {
                    format!("{} overlaps another box", words(grid, part))
                }
                other => other.to_string(),
            };
            (proposal, reason)
        }
        Some(BadProposal::TooFew { proposal, requested }) => (
            proposal,
            format!(
                "the placement has only {} nodes, but {requested} were requested",
                proposal.nodes()
            ),
        ),
        None => return format!("{selection} fails on {grid}: {error}").into(),
    };
    let answer = Some(proposal.clone());
    counterexample(selection, free, request, answer, Vec::new(), reason).into()
}

/// Checks that the granted nodes are on the grid, free, disjoint and allowed by the claim.
fn sound(
    selection: &Selection,
    claim: &Claim,
    family: &[BoxGroup],
    free: &Occupancy,
    request: &Request,
    answer: Option<&Placement>,
) -> Result<(), Wrong> {
    let Some(placement) = answer else { return Ok(()) };
    if placement.parts().is_empty() {
        return Err("a placement must have at least one box".into());
    }
    let grid = free.grid();
    let mut left = free.clone();
    for part in placement.parts() {
        if !part.lies_on(grid) {
            return Err(format!("{} is not on the machine", words(grid, part)).into());
        }
        if left.take(part).is_err() {
            let part = words(grid, part);
            return Err(format!("{part} contains a node that is busy or granted twice").into());
        }
    }
    if selection.entry.does.contiguous {
        let parts = canonical(placement, free);
        let base = parts[0].base;
        let member = |shape: &BoxGroup| shape.at(grid, relative(base, shape, grid)) == parts;
        return if family.iter().any(member) {
            Ok(())
        } else {
            Err(no_member(family, grid).into())
        };
    }
    let exact = |nodes: u32| match family {
        [] => nodes == request.nodes,
        shapes => shapes.iter().any(|shape| nodes == shape.nodes()),
    };
    match (claim.grants, placement.nodes()) {
        (Grants::Exact, nodes) if !exact(nodes) => {
            Err(format!("the placement has {nodes} nodes, but {} were requested", request.nodes)
                .into())
        }
        (Grants::RoundsUp { most }, nodes)
            if u64::from(nodes) > most(request, grid, &selection.options) =>
        {
            Err(format!("the placement has {nodes} nodes, more than the strategy may grant").into())
        }
        (_, nodes) if nodes < request.nodes => Err(format!(
            "the placement has only {nodes} nodes, but {} were requested",
            request.nodes
        )
        .into()),
        _ => Ok(()),
    }
}

/// Formats the error for a placement that matches no shape that the strategy may grant.
fn no_member(family: &[BoxGroup], grid: &Grid) -> String {
    let shape = |group: &BoxGroup| {
        let parts = group.parts.iter().map(|part| words(grid, part));
        parts.collect::<Vec<_>>().join(" with ")
    };
    let mut shapes: Vec<String> = family.iter().map(shape).collect();
    let count = shapes.len();
    shapes.truncate(6);
    match count {
        0 => "no box that it may grant fits on the machine".to_string(),
        1..=6 => format!("it may grant only {}, at any base", shapes.join(" or ")),
        _ => format!("this is not one of the {count} shapes that it may grant"),
    }
}

/// Returns a shape's base, given that its first part is at `first`.
fn relative(first: [u16; 3], shape: &BoxGroup, grid: &Grid) -> [u16; 3] {
    std::array::from_fn(|axis| {
        let (n, offset) = (u32::from(grid.side(axis)), u32::from(shape.parts[0].base[axis]));
        ((u32::from(first[axis]) + n - offset % n) % n) as u16
    })
}

/// Checks the answer against the strategy's claimed [`Recognition`].
fn recognised(
    claim: &Claim,
    family: &[BoxGroup],
    scene: &Scene<'_>,
    answer: Option<&Placement>,
) -> Result<(), Wrong> {
    let Scene { free, request, .. } = *scene;
    let grid = free.grid();
    let expect = |granted: bool, reason: String, expected: Vec<Cuboid>| {
        if granted == answer.is_some() { Ok(()) } else { Err(Wrong { reason, expected }) }
    };
    match &claim.recognition {
        Recognition::First => {
            let first = oracle::first(free, family, claim.scan);
            let given = answer.map(|placement| canonical(placement, free));
            if given == first {
                return Ok(());
            }
            let expected = first.unwrap_or_default();
            let reason = match &expected[..] {
                [] => "it claims to choose the first free base, but no base is free".to_string(),
                first => {
                    let first = list(grid, first);
                    format!("it claims to choose the first free base, which is {first}")
                }
            };
            Err(Wrong { reason, expected })
        }
        Recognition::Complete => {
            let free = oracle::first(free, family, claim.scan);
            let at = free.clone().unwrap_or_default();
            let words = format!(
                "it claims to refuse a request only if no base is free, but {} is free",
                list(grid, &at)
            );
            expect(free.is_some(), words, at)
        }
        Recognition::Best { score, over, first_of_ties } => {
            let best = oracle::best(free, family, claim.scan, *over, *score);
            let shown = best.map_or("none".to_string(), |(_, at)| words(grid, &at));
            let at = best.map(|(_, at)| at).into_iter().collect();
            expect(best.is_some(), format!("the best free base is {shown}"), at)?;
            let (Some((most, at)), Some(placement)) = (best, answer) else { return Ok(()) };
            let given = canonical(placement, free)[0];
            let value = score(free, &given);
            let reason = if value != most {
                format!("its score is {value}, but the best is {most} at {shown}")
            } else if *first_of_ties && given != at {
                format!("{shown} comes first among the boxes with the best score, {most}")
            } else {
                return Ok(());
            };
            Err(Wrong { reason, expected: vec![at] })
        }
        Recognition::Count => {
            let (claims, count) =
                ("it claims to grant a request if and only if enough nodes are free", free.count());
            expect(request.nodes <= count, format!("{claims}, and {count} are free"), Vec::new())
        }
        Recognition::Own { feasible, allowed } => {
            let fits = feasible(scene);
            let says = if fits { "fits" } else { "does not fit" };
            expect(fits, format!("by its own rule, the request {says}"), Vec::new())?;
            if answer.is_none_or(|placement| allowed(scene, placement)) {
                Ok(())
            } else {
                Err("its own rule does not allow this placement".into())
            }
        }
        Recognition::Partial(_) => Ok(()),
    }
}

fn list(grid: &Grid, parts: &[Cuboid]) -> String {
    parts.iter().map(|part| words(grid, part)).collect::<Vec<_>>().join(" with ")
}

fn canonical(placement: &Placement, free: &Occupancy) -> Vec<Cuboid> {
    placement.parts().iter().map(|part| part.canonical(free.grid())).collect()
}
