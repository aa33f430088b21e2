//! `pavior slurm generate`: a topology.yaml in which each size of a mix can be placed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pavior_mesh::Grid;

use super::{AXES, Demand, Mix, count, gcd, shape_text, turned, volume};
use crate::Config;
use crate::names::NodeName;

/// Where the boxes of a size may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchors {
    /// Side by side, so that boxes leave the fewest nodes between them.
    Aligned,
    /// At every node, so that a box is found soonest.
    Any,
}

/// What is to be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Where boxes may begin.
    pub anchors: Anchors,
    /// Whether boxes may be turned: each way is a placement.
    pub turn: bool,
}

/// A file, and what it cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The topology.yaml; comments have the line for slurm.conf, and what torus3d cannot do.
    pub yaml: String,
    /// Sizes of the mix that no box of the machine has: Slurm will refuse such jobs.
    pub cannot: Vec<Demand>,
}

/// The most placements that are written.
const MOST: usize = 1000;

/// Three sides, x first; Slurm's numbers have 16 bits, as those of a machine.
type Sides = [u16; 3];

/// A topology.yaml for a machine and a mix.
///
/// Boxes never wrap around axes without wrap links, although torus3d knows only tori: their anchors
/// are chosen so.
///
/// # Errors
/// If more than 1000 placements would be needed.
pub fn generate(config: &Config, mix: &Mix, choice: Choice) -> Result<Generated, String> {
    let grid = &config.grid;
    let mut shapes: BTreeMap<u64, BTreeSet<Sides>> = BTreeMap::new();
    let mut cannot = Vec::new();
    // A number of nodes gets the shapes that jobs of as many nodes ask for, if there are any.
    let shaped = mix.iter().filter(|(demand, _)| matches!(demand, Demand::Shape(_)));
    let numbers = mix.iter().filter(|(demand, _)| matches!(demand, Demand::Nodes(_)));
    for (demand, _) in shaped.chain(numbers) {
        let known = shapes.get(&demand.nodes()).is_some_and(|forms| !forms.is_empty());
        if known && matches!(demand, Demand::Nodes(_)) {
            continue;
        }
        let forms = forms(demand, grid, choice.turn);
        if forms.is_empty() {
            cannot.push(demand);
        }
        shapes.entry(demand.nodes()).or_default().extend(forms);
    }
    shapes.retain(|_, forms| !forms.is_empty());
    let mut placements = String::new();
    let mut number = 0;
    for forms in shapes.values() {
        for &sides in forms {
            let lattices = lattices(sides, grid, choice.anchors);
            number += lattices.len();
            if number > MOST {
                return Err(format!(
                    "more than {MOST} placements: choose aligned anchors, or fewer sizes"
                ));
            }
            for lattice in lattices {
                placements += &placement(sides, &lattice);
            }
        }
    }
    if number == 0 {
        return Err(format!("no size of the mix is a box of {grid}"));
    }
    let mut yaml = head(config, mix, &shapes, &cannot);
    yaml += &torus(config);
    yaml += &placements;
    Ok(Generated { yaml, cannot })
}

/// The boxes for a demand.
fn forms(demand: Demand, grid: &Grid, turn: bool) -> Vec<Sides> {
    let all: BTreeSet<Sides> = match demand {
        Demand::Nodes(nodes) => boxes_of(nodes, grid),
        Demand::Shape(sides) => ways(sides).into_iter().filter(|way| fits(*way, grid)).collect(),
    };
    // Boxes that divide the machine leave no nodes between them; of these the most compact one, and
    // of its ways the one that is written first.
    let given = match demand {
        Demand::Nodes(_) => [0; 3],
        Demand::Shape(sides) => sides,
    };
    let best = all.iter().copied().min_by_key(|sides| {
        let odd = (0..3).filter(|&axis| side(grid, axis) % sides[axis] != 0).count();
        let length: u32 = sides.iter().map(|&side| u32::from(side)).sum();
        (odd, length, *sides != given, sides.map(std::cmp::Reverse))
    });
    let Some(best) = best else { return Vec::new() };
    if turn {
        return all.into_iter().filter(|sides| turned(*sides) == turned(best)).collect();
    }
    vec![best]
}

fn side(grid: &Grid, axis: usize) -> u16 {
    if axis < grid.axes() { grid.side(axis) } else { 1 }
}

fn fits(sides: Sides, grid: &Grid) -> bool {
    (0..3).all(|axis| sides[axis] <= side(grid, axis))
}

/// The ways to turn a box.
fn ways([a, b, c]: Sides) -> BTreeSet<Sides> {
    [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]].into_iter().collect()
}

/// The boxes of a number of nodes that fit the machine.
fn boxes_of(nodes: u32, grid: &Grid) -> BTreeSet<Sides> {
    let mut all = BTreeSet::new();
    for a in (1..=side(grid, 0)).filter(|&a| nodes % u32::from(a) == 0) {
        let rest = nodes / u32::from(a);
        for b in (1..=side(grid, 1)).filter(|&b| rest % u32::from(b) == 0) {
            if let Ok(c) = u16::try_from(rest / u32::from(b))
                && c <= side(grid, 2)
            {
                all.insert([a, b, c]);
            }
        }
    }
    all
}

/// Anchors along one axis: the first, and the distance between them.
type Steps = (u16, u16);

/// The anchors of a box, as lattices that Slurm can be told: a start and a spacing an axis.
fn lattices(sides: Sides, grid: &Grid, anchors: Anchors) -> Vec<[Steps; 3]> {
    let [xs, ys, zs] = [0, 1, 2].map(|axis| along(sides[axis], grid, axis, anchors));
    let mut all = Vec::new();
    for &x in &xs {
        for &y in &ys {
            // One above the bound is enough to exceed it.
            all.extend(zs.iter().take(MOST + 1).map(|&z| [x, y, z]));
            if all.len() > MOST {
                return all;
            }
        }
    }
    all
}

/// The anchors along an axis.
fn along(length: u16, grid: &Grid, axis: usize, anchors: Anchors) -> Vec<Steps> {
    let side = side(grid, axis);
    let wraps = axis < grid.axes() && grid.wraps(axis);
    match anchors {
        // All anchors of a box that is as long as the machine have the same nodes.
        _ if length == side => vec![(0, side)],
        // What does not divide the side overlaps, as Slurm's own anchors do.
        Anchors::Aligned if wraps || side % length == 0 => vec![(0, gcd(length, side))],
        Anchors::Any if wraps || length == 1 => vec![(0, 1)],
        // Without wrap each anchor stands alone: its spacing is the whole side.
        Anchors::Aligned => {
            let last = side - length;
            let mut all: Vec<Steps> =
                (0..=last).step_by(usize::from(length)).map(|at| (at, side)).collect();
            if all.last() != Some(&(last, side)) {
                all.push((last, side));
            }
            all
        }
        Anchors::Any => (0..=side - length).map(|at| (at, side)).collect(),
    }
}

fn placement(sides: Sides, lattice: &[Steps; 3]) -> String {
    let triple = |values: [u16; 3]| {
        let pairs = [0, 1, 2].map(|axis| format!("{}: {}", AXES[axis], values[axis]));
        format!("{{{}}}", pairs.join(", "))
    };
    let seed = lattice.map(|(first, _)| first);
    let mut text = format!("          - dims: {}\n", triple(sides));
    if seed != [0; 3] {
        let _ = writeln!(text, "            anchor_seed: {}", triple(seed));
    }
    let _ = writeln!(text, "            anchor_spacing: {}", triple(lattice.map(|(_, step)| step)));
    text
}

/// The comments: what to do with the file, and what it cannot do.
fn head(
    config: &Config,
    mix: &Mix,
    shapes: &BTreeMap<u64, BTreeSet<Sides>>,
    cannot: &[Demand],
) -> String {
    let mut text = format!(
        "# topology/torus3d of Slurm 26.05, for {}.\n\
         # It goes beside slurm.conf, which needs for the partition:\n\
         #   PartitionName={} ... Topology=torus\n\
         # TopologyPlugin is ignored where there is a topology.yaml. Restart slurmctld.\n\
         #\n\
         # What torus3d cannot do:\n\
         # - It places by number of nodes. A job of any other number is refused at submission.\n",
        config.grid, config.partition
    );
    let mut asked: BTreeMap<u64, BTreeSet<Sides>> = BTreeMap::new();
    for (demand, _) in mix.iter() {
        if let Demand::Shape(sides) = demand {
            asked.entry(volume(sides)).or_default().insert(turned(sides));
        }
    }
    for (nodes, forms) in shapes {
        let different: BTreeSet<Sides> = forms.iter().map(|sides| turned(*sides)).collect();
        if different.len() > 1 {
            let names: Vec<String> = different.into_iter().map(shape_text).collect();
            let names = names.join(" or ");
            let _ = writeln!(
                text,
                "# - Shapes of one size cannot be told apart: a job of {nodes} nodes gets {names}."
            );
        } else if forms.len() > 1 && asked.contains_key(nodes) {
            let _ = writeln!(text, "# - A job of {nodes} nodes cannot say which way it is turned.");
        }
    }
    if !cannot.is_empty() {
        let names: Vec<String> = cannot.iter().map(ToString::to_string).collect();
        for names in names.chunks(12) {
            let _ =
                writeln!(text, "# - No box of this machine has this size: {}.", names.join(", "));
        }
    }
    let flat: Vec<&str> = (0..config.grid.axes())
        .filter(|&axis| !config.grid.wraps(axis) && side(&config.grid, axis) > 1)
        .map(|axis| AXES[axis])
        .collect();
    if !flat.is_empty() {
        let _ = writeln!(
            text,
            "# - It knows no axis without wrap links ({}); the anchors here are chosen so that no\n\
             #   box wraps around there.",
            flat.join(", ")
        );
    }
    text
}

/// The topology up to its placements.
fn torus(config: &Config) -> String {
    let [x, y, z] = [0, 1, 2].map(|axis| side(&config.grid, axis));
    format!(
        "- topology: torus\n  cluster_default: true\n  torus3d:\n    toruses:\n      \
         - name: torus\n        dims: {{x: {x}, y: {y}, z: {z}}}\n        nodes: \"{}\"\n        \
         placements:\n",
        list(&config.names)
    )
}

/// A list of nodes as Slurm writes it, in the same order.
fn list(names: &[NodeName]) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let run = run(&names[at..]);
        let first = names[at].as_str();
        parts.push(match split(first) {
            Some((head, digits)) if run > 1 => {
                let last = names[at + run - 1].as_str();
                format!("{head}[{digits}-{}]", &last[head.len()..])
            }
            _ => first.to_string(),
        });
        at += run;
    }
    parts.join(",")
}

/// How many names at the beginning count up, in digits of the same width.
fn run(names: &[NodeName]) -> usize {
    let Some((head, digits)) = split(names[0].as_str()) else { return 1 };
    let Ok(first) = digits.parse::<u64>() else { return 1 };
    let follows = |(at, name): (usize, &NodeName)| {
        let number = first + at as u64;
        name.as_str() == format!("{head}{number:0width$}", width = digits.len())
    };
    // A number that has grown wider than the first is written as Slurm counts on: n[8-11].
    names.iter().enumerate().take_while(|one| follows(*one)).count()
}

/// A name, and the digits at its end: at most nine, which fit any number of Slurm's.
fn split(name: &str) -> Option<(&str, &str)> {
    let head = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &name[head.len()..];
    (!digits.is_empty() && digits.len() <= 9).then_some((head, digits))
}

impl Generated {
    /// What could not be done, in a sentence; `None` if all could.
    pub fn complaint(&self) -> Option<String> {
        let names: Vec<String> = self.cannot.iter().take(8).map(ToString::to_string).collect();
        let more = if self.cannot.len() > 8 { ", ..." } else { "" };
        (!names.is_empty()).then(|| {
            format!(
                "{} of the mix in no box of the machine: {}{more}",
                count(self.cannot.len(), "size"),
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The anchors that Slurm makes of steps, in order.
    fn positions(steps: &[Steps], side: u16) -> BTreeSet<u16> {
        let of = |&(first, step): &Steps| {
            let step = gcd(step, side);
            (first % step..side).step_by(usize::from(step))
        };
        steps.iter().flat_map(of).collect()
    }

    #[test]
    fn boxes_do_not_wrap_around_a_mesh_and_reach_all_of_it() {
        for side in 1..=9 {
            for length in 1..=side {
                for anchors in [Anchors::Aligned, Anchors::Any] {
                    let mesh = Grid::mesh(&[side]).unwrap();
                    let found = positions(&along(length, &mesh, 0, anchors), side);
                    assert!(
                        found.iter().all(|at| at + length <= side),
                        "{side} {length} {found:?}"
                    );
                    let reached = |cell| found.iter().any(|&at| (at..at + length).contains(&cell));
                    assert!((0..side).all(reached), "{side} {length} {found:?}");
                    let torus = Grid::torus(&[side]).unwrap();
                    let around = positions(&along(length, &torus, 0, anchors), side);
                    if anchors == Anchors::Any && length < side {
                        assert_eq!(found.len(), usize::from(side - length) + 1);
                        assert_eq!(around.len(), usize::from(side));
                    }
                }
            }
        }
    }
}
