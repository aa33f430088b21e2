//! Boxes requested by synthetic jobs. Each distribution is one file.

mod exponential;
mod pods;
mod uniform;
mod uniform_decreasing;

use pavior_kernel::{Entry, Family, Options, Stream};
use pavior_mesh::{Grid, Sides};

/// A side distribution's behavior.
pub struct SideDistribution {
    /// A function that returns an error if the distribution is not defined on a machine.
    pub supports: fn(&Options, &Grid) -> Result<(), String>,
    /// The constructor for a supported machine.
    pub build: fn(&Options, &Grid) -> Box<dyn DrawSides>,
}

/// Random boxes.
pub trait DrawSides: Send {
    /// Draws one job's sides, with 1 on axes that the machine lacks.
    fn sides(&mut self, draw: &mut Stream) -> Sides;
}

impl Family for SideDistribution {
    const NOUN: &'static str = "side distribution";

    fn builtin() -> &'static [&'static Entry<SideDistribution>] {
        &[&uniform::ENTRY, &uniform_decreasing::ENTRY, &exponential::ENTRY, &pods::ENTRY]
    }
}

/// The `supports` function of distributions defined on every machine.
const ANY_GRID: fn(&Options, &Grid) -> Result<(), String> = |_, _| Ok(());

/// Sides drawn independently by `side`, axis by axis in the order x, y, z, from the axis length.
/// Axes that the machine lacks use no draws.
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
