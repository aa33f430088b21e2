//! The free-list strategies' placement policies. A policy chooses a placement in one of the listed
//! free boxes.
//!
//! A request may be placed at any corner of any entry in which it fits, in any allowed orientation.
//! The policies choose from among these placements:
//!
//! - `fragmentation`: the placement that loses the least potential. A placement cuts every entry M
//!   that it overlaps, and M is then valued at its largest remaining slab. The cost is the sum of
//!   |M| - |largest remaining slab of M| over these entries. Ties go to the placement that overlaps
//!   fewer entries, then to the one with more contact, then to the first base in scan order, and
//!   then to the earlier orientation.
//! - `contact`: the placement with the highest contact score. Ties go to the first base in scan
//!   order, and then to the earlier orientation.
//! - `first`: the lowest corner of the first entry in which the request fits, in the first
//!   orientation that fits.
//! - `smallest`: like `first`, but for the smallest entry in which the request fits. Ties go to the
//!   earlier entry in the list.
//! - the first entry (not an option): the corner with the most contact in the first entry in which
//!   the request fits. Ties go to the earlier orientation, and then to the lower corner.

use std::cmp::Reverse;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Scan, Sides};

use crate::Work;
use crate::strategies::shared::contact::{contact, most_contact};
use crate::strategies::shared::free_list::{end, meets, slabs};
use crate::strategies::shared::turning::Turn;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    Fragmentation,
    Contact,
    First,
    Smallest,
    FirstEntry,
}

/// The `place` option, which defaults to fragmentation.
pub(crate) const PLACE: OptionSpec = OptionSpec {
    key: "place",
    values: Values::OneOf(&["fragmentation", "contact", "first", "smallest"]),
    default: "fragmentation",
    meaning: "the corner to choose: the one that least reduces the free boxes, the one with the \
              most contact, or the lowest corner of the first or of the smallest free box",
    bare: false,
};

impl Placing {
    pub(crate) fn of(options: &Options) -> Placing {
        match options.get("place") {
            "contact" => Placing::Contact,
            "first" => Placing::First,
            "smallest" => Placing::Smallest,
            _ => Placing::Fragmentation,
        }
    }

    /// Finds the placement for a request. Adds to `work` the entries and corners tried, the
    /// comparisons between entries and corners, and the nodes adjacent to scored corners.
    pub(crate) fn place(
        self,
        list: &[Cuboid],
        free: &Occupancy,
        turn: Turn,
        request: &Request,
        work: &mut Work,
    ) -> Option<Cuboid> {
        let grid = free.grid();
        if self == Placing::First {
            let mut tried = list.iter().inspect(|_| work.boxes += 1);
            return tried.find_map(|entry| low_corner(entry, grid, turn, request));
        }
        if self == Placing::FirstEntry {
            return list.iter().find_map(|entry| best_in(entry, free, turn, request, work));
        }
        work.boxes += list.len() as u64;
        if self == Placing::Smallest {
            return smallest(list, grid, turn, request);
        }
        let best = corners(list, grid, turn, request).min_by_key(|(index, at)| {
            let (cost, met) = match self {
                Placing::Fragmentation => fragmentation(list, at),
                _ => (0, 0),
            };
            let compared = if self == Placing::Fragmentation { list.len() } else { 0 };
            work.boxes += 1 + compared as u64;
            work.words += most_contact(grid, at.sides) as u64;
            (cost, met, Reverse(contact(free, at)), row_major(at), *index)
        });
        best.map(|(_, at)| at)
    }
}

/// Returns the placement with the most contact among those at an entry's corners, or `None` if the
/// request does not fit.
fn best_in(
    entry: &Cuboid,
    free: &Occupancy,
    turn: Turn,
    request: &Request,
    work: &mut Work,
) -> Option<Cuboid> {
    work.boxes += 1;
    let shapes = turn.shapes(*free.grid(), request);
    shapes.flat_map(|shape| corners_of(entry, shape)).min_by_key(|corner| {
        work.boxes += 1;
        work.words += most_contact(free.grid(), corner.sides) as u64;
        Reverse(contact(free, corner))
    })
}

/// Returns the placement at the lowest corner of the smallest entry that can hold the request.
fn smallest(list: &[Cuboid], grid: &Grid, turn: Turn, request: &Request) -> Option<Cuboid> {
    let fitting = list.iter().filter_map(|entry| {
        low_corner(entry, grid, turn, request).map(|corner| (entry.volume(), corner))
    });
    fitting.min_by_key(|(volume, _)| *volume).map(|(_, corner)| corner)
}

/// Returns the placement at an entry's lowest corner, in the first orientation that fits.
fn low_corner(entry: &Cuboid, grid: &Grid, turn: Turn, request: &Request) -> Option<Cuboid> {
    let mut shapes = turn.shapes(*grid, request);
    shapes.find(|&shape| fits(entry, shape)).map(|shape| Cuboid::new(entry.base, shape))
}

fn fits(entry: &Cuboid, shape: Sides) -> bool {
    (0..3).all(|axis| shape[axis] <= entry.sides[axis])
}

/// Returns a request's placements at an entry's corners, each with the index of its orientation.
fn corners<'a>(
    list: &'a [Cuboid],
    grid: &'a Grid,
    turn: Turn,
    request: &'a Request,
) -> impl Iterator<Item = (usize, Cuboid)> + 'a {
    list.iter().flat_map(move |entry| {
        let shapes = turn.shapes(*grid, request).enumerate();
        shapes.flat_map(move |(index, shape)| {
            corners_of(entry, shape).map(move |corner| (index, corner))
        })
    })
}

/// Returns the placements of a shape at an entry's corners, lowest first, with x varying fastest.
/// Returns none if the shape does not fit.
fn corners_of(entry: &Cuboid, shape: Sides) -> impl Iterator<Item = Cuboid> + use<> {
    let entry = *entry;
    let codes = if fits(&entry, shape) { 0..8usize } else { 0..0 };
    codes.filter_map(move |code| {
        let mut base = entry.base;
        for axis in (0..3).filter(|axis| code >> axis & 1 == 1) {
            if shape[axis] == entry.sides[axis] {
                return None;
            }
            base[axis] = end(&entry, axis) - shape[axis];
        }
        Some(Cuboid::new(base, shape))
    })
}

/// Returns a placement's fragmentation cost, and the number of entries that it overlaps.
fn fragmentation(list: &[Cuboid], at: &Cuboid) -> (u64, usize) {
    let (mut cost, mut met) = (0, 0);
    for entry in list.iter().filter(|entry| meets(entry, at)) {
        let left = slabs(entry, at).map(|slab| slab.volume()).max().unwrap_or(0);
        cost += u64::from(entry.volume() - left);
        met += 1;
    }
    (cost, met)
}

fn row_major(at: &Cuboid) -> [i32; 3] {
    Scan::default().key(at.base)
}
