//! Distributions of the boxes that synthetic jobs request. Each distribution is in its own file.

mod exponential;
mod pods;
mod uniform;
mod uniform_decreasing;

use pavior_kernel::{Entry, Family, Options, Stream};
use pavior_mesh::{Grid, Sides};

/// The implementation of a side distribution.
pub struct SideDistribution {
    /// Checks that the distribution is defined on a machine. Returns the reason if it is not.
    pub supports: fn(&Options, &Grid) -> Result<(), String>,
    /// The constructor, for a machine on which the distribution is defined.
    pub build: fn(&Options, &Grid) -> Box<dyn DrawSides>,
}

/// A source of random boxes.
pub trait DrawSides: Send {
    /// Draws the sides of one job's box. The side is 1 along any axis that the machine lacks.
    fn sides(&mut self, draw: &mut Stream) -> Sides;
}

impl Family for SideDistribution {
    const NOUN: &'static str = "side distribution";

    fn builtin() -> &'static [&'static Entry<SideDistribution>] {
        &[&uniform::ENTRY, &uniform_decreasing::ENTRY, &exponential::ENTRY, &pods::ENTRY]
    }
}

/// A `supports` function for distributions that are defined on every machine.
const ANY_GRID: fn(&Options, &Grid) -> Result<(), String> = |_, _| Ok(());

/// Sides that are drawn independently by calling `side` with the length of each axis, in the order
/// x, y, z. Nothing is drawn for axes that the machine lacks.
struct PerAxis<F> {
    grid: Grid,
    side: F,
}

fn per_axis<F>(grid: &Grid, side: F) -> Box<dyn DrawSides>
where
    F: Fn(u16, &mut Stream) -> u16 + Send + 'static,
{
    Box::new(PerAxis { grid: *grid, side })
}

impl<F: Fn(u16, &mut Stream) -> u16 + Send> DrawSides for PerAxis<F> {
    fn sides(&mut self, draw: &mut Stream) -> Sides {
        let mut sides = [1; 3];
        for (axis, side) in sides.iter_mut().enumerate().take(self.grid.axes()) {
            *side = (self.side)(self.grid.side(axis), draw);
        }
        sides
    }
}
