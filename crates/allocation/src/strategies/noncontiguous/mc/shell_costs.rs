//! MC's engine, which computes the costs of eight neighboring centers at once.
//!
//! A node in shell j costs j. It is outside exactly j boxes: the center's box, and that box grown
//! by 1, 2, .. j - 1 shells. Let F(k) be the number of free nodes in the box grown by k shells.
//! Then the cost of n nodes is
//!
//! ```text
//!   sum over k = 0, 1, .. of max(0, n - F(k))
//! ```
//!
//! No term is negative, so a center is dropped once its sum reaches the best cost so far. A table
//! of prefix sums gives F for eight neighbors along x at once. On a machine with w columns, a row
//! in the table is laid out as follows:
//!
//! ```text
//!   cells:        before x = 0  |  free nodes below x = 0, 1, .. w  |  after x = w
//!   first cell:   0                w (`zero_cell`)                     2 w + 1
//! ```
//!
//! Past both ends, a row holds the values for the border or for the wrapped ring, so no center is a
//! special case. Along y and z, a ring is stored twice, so boxes may extend beyond its end.
//!
//! Invariant: numbers have 16 bits, and counts of free nodes are correct modulo 2^16. A cost that
//! does not fit saturates, and its center is not chosen.
//!
//! Cost: O(N) per state (up to 4 N on tori), and O(r) vector operations for r shells of eight
//! centers.

use pavior_mesh::{Grid, NodeId, Occupancy, Sides};

use super::shells::{Core, Offer};

/// The number of centers processed together.
const LANES: usize = 8;
type Lanes = [u16; LANES];

/// For each byte, the number of set bits among its lowest 1, 2, .. 8 bits.
const PREFIXES: [Lanes; 256] = {
    let mut prefixes = [[0; LANES]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < LANES {
            prefixes[byte][bit] = (byte << (7 - bit) & 0xFF).count_ones() as u16;
            bit += 1;
        }
        byte += 1;
    }
    prefixes
};

/// The search and its table. The table is scratch space, so a clone starts with an empty one.
#[derive(Debug)]
pub(super) struct ShellCosts {
    grid: Grid,
    /// The index of the cell for x = 0 in a table row, and the number of cells per row.
    zero_cell: usize,
    row_cells: usize,
    /// The number of rows per table plane, and the number of planes, including repeats on rings.
    plane_rows: usize,
    planes: usize,
    /// For each cell, the number of free nodes with lower x, y and z coordinates.
    table: Vec<u16>,
    /// Scratch space for one row of the machine: the number of free nodes below each x, in the
    /// layout of a table row.
    row_sums: Vec<u16>,
    /// For each shell, the table rows that bound the boxes around the current row of centers.
    row_bounds: Vec<[usize; 4]>,
    touched: u64,
}

impl Clone for ShellCosts {
    fn clone(&self) -> ShellCosts {
        ShellCosts { touched: self.touched, ..ShellCosts::new(self.grid) }
    }
}

impl ShellCosts {
    pub(super) fn new(grid: Grid) -> ShellCosts {
        let w = usize::from(grid.side(0));
        let rows = |axis: usize| {
            let n = usize::from(grid.side(axis));
            if grid.wraps(axis) { 2 * n } else { n + 1 }
        };
        ShellCosts {
            grid,
            // Rows are long enough for every box, including those that cover the whole axis.
            zero_cell: w,
            row_cells: (3 * w + LANES).next_multiple_of(LANES),
            plane_rows: rows(1),
            planes: rows(2),
            table: Vec::new(),
            row_sums: Vec::new(),
            row_bounds: Vec::new(),
            touched: 0,
        }
    }

    /// Returns the number of table words filled, plus the number of times that free nodes were
    /// counted for a group of eight centers.
    pub(super) fn words_touched(&self) -> u64 {
        self.touched
    }

    /// Finds the cheapest free center. Ties go to the first one in row-major order. Returns `None`
    /// if the numbers need more than 16 bits.
    pub(super) fn cheapest(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        nodes: u32,
    ) -> Option<(Core, Offer)> {
        u16::try_from(free.count()).ok()?;
        self.load(free);
        let [w, d, h] = self.grid.sides();
        let (mut least, mut best) = (u16::MAX, None);
        'centres: for z in 0..h {
            for y in 0..d {
                self.row_bounds.clear();
                let core = Core::new(self.grid, [0, y, z], shape);
                for x in (0..w).step_by(LANES) {
                    let first = self.grid.id([x, y, z]);
                    let centres = free.window(first, (w - x).min(LANES as u16));
                    if centres == 0 {
                        continue;
                    }
                    let costs = self.costs(&core, x, nodes as u16, centres, least);
                    for (lane, cost) in costs.into_iter().enumerate() {
                        if cost < least {
                            (least, best) = (cost, Some([x + lane as u16, y, z]));
                        }
                    }
                    if least == 0 {
                        break 'centres;
                    }
                }
            }
        }
        let core = Core::new(self.grid, best?, shape);
        Some((core, self.offer(&core, u64::from(least), nodes)))
    }

    /// Computes the costs of eight centers, starting at x. Only the centers in `centres` matter. A
    /// cost below `least` is exact; any other cost may be too low, but never below `least`.
    #[inline]
    fn costs(&mut self, core: &Core, x: u16, nodes: u16, centres: u64, least: u16) -> Lanes {
        let busy = |lane: usize| if centres >> lane & 1 == 1 { 0 } else { u16::MAX };
        let mut costs: Lanes = std::array::from_fn(busy);
        for shells in 0.. {
            let free = self.free_in(core, x, shells);
            let mut open = 0;
            for lane in 0..LANES {
                let missing = nodes.saturating_sub(free[lane]);
                costs[lane] = costs[lane].saturating_add(missing);
                // A center no longer matters once its cost is final or too high.
                open |= if missing == 0 { 0 } else { least.saturating_sub(costs[lane]) };
            }
            if open == 0 {
                break;
            }
        }
        costs
    }

    /// Counts the free nodes in the boxes of the eight centers that start at x, with each box grown
    /// by `shells` shells.
    #[inline]
    fn free_in(&mut self, core: &Core, x: u16, shells: usize) -> Lanes {
        self.touched += 1;
        if self.row_bounds.len() == shells {
            self.row_bounds.push(self.rows_around(core, shells as i32));
        }
        let [end_z_end_y, end_z_low_y, low_z_end_y, low_z_low_y] = self.row_bounds[shells];
        let (side, n) = (i32::from(core.sides[0]), i32::from(self.grid.side(0)));
        let (shells, back) = (shells as i32, i32::from((core.sides[0] - 1) / 2));
        // Once every box covers the whole axis, the boxes stop growing.
        let (grown, length) = if self.grid.wraps(0) {
            (shells.min((n - side + 1) / 2), (side + 2 * shells).min(n))
        } else {
            let grown = shells.min((n - 1 - back).max(n - side + back));
            (grown, side + 2 * grown)
        };
        let low = (self.zero_cell as i32 + i32::from(x) - back - grown) as usize;
        let end = low + length as usize;
        let cells = |at: usize| -> &Lanes { self.table[at..].first_chunk().expect("padded") };
        let mut free = [0; LANES];
        // Replaces `free` with the number of free nodes between two rows of the table, minus the
        // old value of `free`.
        let mut subtract_from = |upper: usize, lower: usize| {
            let corners = [upper + end, upper + low, lower + end, lower + low].map(cells);
            for lane in 0..LANES {
                let above = corners[0][lane].wrapping_sub(corners[1][lane]);
                let below = corners[2][lane].wrapping_sub(corners[3][lane]);
                free[lane] = above.wrapping_sub(below).wrapping_sub(free[lane]);
            }
        };
        // First count the free nodes before the box along z. The second call subtracts this count
        // from the count up to the end of the box.
        if low_z_end_y != low_z_low_y {
            subtract_from(low_z_end_y, low_z_low_y);
        }
        subtract_from(end_z_end_y, end_z_low_y);
        free
    }

    /// Returns the table rows that determine the number of free nodes in a box: the rows at the
    /// box's end and start along y, first in the plane at the box's end along z and then in the
    /// plane at its start along z. If the latter plane is the border, the last two rows are 0.
    fn rows_around(&self, core: &Core, shells: i32) -> [usize; 4] {
        let range = |axis: usize| {
            let n = i32::from(self.grid.side(axis));
            let low = core.low(axis) - shells;
            let end = core.low(axis) + i32::from(core.sides[axis]) + shells;
            if !self.grid.wraps(axis) {
                (low.max(0) as usize, end.min(n) as usize)
            } else if end - low >= n {
                (0, n as usize)
            } else {
                // The box contains its center, so it begins less than one turn below 0.
                let up = if low < 0 { n } else { 0 };
                ((low + up) as usize, (end + up) as usize)
            }
        };
        let ((y0, y1), (z0, z1)) = (range(1), range(2));
        let row = |y: usize, z: usize| self.row_cells * (y + self.plane_rows * z);
        if z0 == 0 {
            [row(y1, z1), row(y0, z1), 0, 0]
        } else {
            [row(y1, z1), row(y0, z1), row(y1, z0), row(y0, z0)]
        }
    }

    /// Returns a center's offer, given its cost.
    fn offer(&mut self, core: &Core, cost: u64, nodes: u32) -> Offer {
        self.row_bounds.clear();
        let mut free_inside = 0;
        for last in 0.. {
            let free = u32::from(self.free_in(core, core.centre[0], last)[0]);
            if free >= nodes {
                return Offer { cost, last: last as u32, free_inside };
            }
            free_inside = free;
        }
        unreachable!("enough nodes are free, so some shell has them")
    }

    /// Fills the table, eight cells at a time. Takes O(N) time, with up to 4 N cells on tori. Row 0
    /// in each plane and all of plane 0 remain 0.
    fn load(&mut self, free: &Occupancy) {
        let [w, d, h] = self.grid.sides().map(usize::from);
        let row_cells = self.row_cells;
        let plane = row_cells * self.plane_rows;
        self.table.resize(plane * self.planes, 0);
        self.row_sums.resize(row_cells, 0);
        self.touched += (self.table.len() / LANES) as u64;
        for z in 1..=h {
            for y in 1..=d {
                self.count_row(free, w * (y - 1 + d * (z - 1)));
                let (before, rest) = self.table.split_at_mut(plane * z + row_cells * y);
                let row = &mut rest[..row_cells];
                let below = &before[plane * z + row_cells * (y - 1)..];
                for ((cell, sum), below) in row.iter_mut().zip(&self.row_sums).zip(below) {
                    *cell = sum.wrapping_add(*below);
                }
            }
            let (before, rest) = self.table.split_at_mut(plane * z);
            if z > 1 {
                let pairs = rest[..row_cells * (d + 1)].iter_mut().zip(&before[plane * (z - 1)..]);
                pairs.for_each(|(cell, below)| *cell = cell.wrapping_add(*below));
            }
            // If y wraps, repeat all rows, with the sums of a whole turn added.
            let (once, again) = rest[..plane].split_at_mut(row_cells * (d + 1));
            let whole = &once[row_cells * d..];
            for (row, before) in
                again.chunks_exact_mut(row_cells).zip(once[row_cells..].chunks_exact(row_cells))
            {
                for ((cell, before), whole) in row.iter_mut().zip(before).zip(whole) {
                    *cell = before.wrapping_add(*whole);
                }
            }
        }
        // If z wraps, repeat all planes in the same way.
        let (once, again) = self.table.split_at_mut(plane * (h + 1));
        let whole = &once[plane * h..];
        for (upper, before) in again.chunks_exact_mut(plane).zip(once[plane..].chunks_exact(plane))
        {
            for ((cell, before), whole) in upper.iter_mut().zip(before).zip(whole) {
                *cell = before.wrapping_add(*whole);
            }
        }
    }

    /// Fills `row_sums` for the machine's row whose first node is `from`.
    fn count_row(&mut self, free: &Occupancy, from: usize) {
        let (w, zero_cell) = (usize::from(self.grid.side(0)), self.zero_cell);
        let mut sum = 0u16;
        for first in (0..w).step_by(64) {
            let count = (w - first).min(64);
            let mut word = free.window(NodeId((from + first) as u32), count as u16);
            // Bits past the end of the row are 0. Their cells are overwritten below.
            for cells in self.row_sums[zero_cell + first + 1..]
                .chunks_exact_mut(LANES)
                .take(count.div_ceil(8))
            {
                let ones = &PREFIXES[(word & 0xFF) as usize];
                for lane in 0..LANES {
                    cells[lane] = sum.wrapping_add(ones[lane]);
                }
                sum = sum.wrapping_add(ones[LANES - 1]);
                word >>= 8;
            }
        }
        if self.grid.wraps(0) {
            let (before, rest) = self.row_sums.split_at_mut(zero_cell);
            before.iter_mut().zip(&*rest).for_each(|(cell, ahead)| *cell = ahead.wrapping_sub(sum));
            let (once, again) = rest.split_at_mut(w);
            for cells in again.chunks_mut(w) {
                cells.iter_mut().zip(&*once).for_each(|(cell, at)| *cell = at.wrapping_add(sum));
            }
        } else {
            self.row_sums[zero_cell + w + 1..].fill(sum);
        }
    }
}
