//! Pinned answers of `connected`. Engines may become faster, but must not change any answer.

use pavior_allocation::{Placement, Strategy};
use pavior_kernel::Stream;
use pavior_mesh::{Grid, NodeId, Occupancy, Request};

use crate::common::strategy;

/// A machine on which the strategy handles random requests.
struct Walk {
    free: Occupancy,
    strategy: Box<dyn Strategy>,
    dice: Stream,
    granted: Vec<Placement>,
    /// A hash (FNV-1a) of all answers.
    hash: u64,
}

impl Walk {
    fn new(name: &str) -> Walk {
        let grid: Grid = name.parse().unwrap();
        Walk {
            free: Occupancy::all_free(grid),
            strategy: strategy("connected", &grid),
            dice: Stream::new(16, 0, name),
            granted: Vec::new(),
            hash: 0xcbf2_9ce4_8422_2325,
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.dice.below(u64::from(bound)) as u32
    }

    fn note(&mut self, number: u16) {
        self.hash = (self.hash ^ u64::from(number)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// Takes single nodes of the empty machine at random, giving a state that no strategy would
    /// produce.
    fn scatter(&mut self) {
        self.granted.clear();
        let grid = *self.free.grid();
        self.free = Occupancy::all_free(grid);
        for _ in 0..self.below(grid.nodes() * 5 / 8 + 1) {
            let node = NodeId(self.below(grid.nodes()));
            self.free.take_node(node);
        }
    }

    /// Draws a request for a box or a number of nodes. Small, medium and large requests are all
    /// common.
    fn request(&mut self) -> Request {
        let most = [3, 6, 17][self.below(3) as usize];
        let sides = self.free.grid().sides();
        let sides = sides.map(|n| 1 + self.below(u32::from(n).min(most)) as u16);
        match self.below(4) {
            0 => Request::nodes(1 + self.below(self.free.count().max(1))),
            1 => Request::nodes(1 + self.below(pavior_mesh::volume(sides) as u32 + 2)),
            _ => Request::shape(sides),
        }
    }

    fn step(&mut self) {
        let request = self.request();
        let answer = self.strategy.find(&self.free, &request, &mut Stream::new(1, 0, "unused"));
        let parts = answer.as_ref().map_or(&[][..], Placement::parts);
        self.note(parts.len() as u16);
        for part in parts {
            part.base.into_iter().chain(part.sides).for_each(|number| self.note(number));
        }
        if let Some(placement) = answer {
            self.free.take_all(placement.parts()).unwrap();
            self.granted.push(placement);
        }
        let full = self.free.count() < self.free.grid().nodes() / 8;
        if !self.granted.is_empty() && (full || self.below(3) == 0) {
            let index = self.below(self.granted.len() as u32) as usize;
            let placement = self.granted.swap_remove(index);
            self.free.give_all(placement.parts()).unwrap();
        }
    }
}

/// The hashes of the answers must equal those recorded for the documented rule of `connected`.
/// Study results depend on every one of these answers.
#[test]
fn the_answers_stay() {
    let pinned: [(&str, u32, u64); 13] = [
        ("mesh:16x16", 400, 0xc315_afff_1bad_0a48),
        ("torus:11x9", 400, 0x7844_b900_015b_3a2b),
        ("mesh:70x9", 200, 0xfd4a_1bb2_28c8_001d),
        ("grid:66wx5", 300, 0x3c44_9ab2_4d1c_f12d),
        ("mesh:40", 300, 0xac1a_b1b4_8733_05cd),
        ("torus:37", 300, 0x7967_d907_361d_7e43),
        ("mesh:5x6x7", 300, 0xe629_bc33_87c9_1bf6),
        ("torus:6x5x4", 300, 0x2bd0_978c_1544_1580),
        ("torus:2x6x5", 300, 0x83b0_1d62_f744_aa9b),
        ("torus:2x2x9", 300, 0xcbb0_689d_59c3_a10a),
        ("grid:7x2wx6w", 300, 0x2014_9fa6_717a_8f3f),
        ("mesh:64x33", 60, 0xaa33_9b77_35df_08d2),
        ("mesh:130x80", 20, 0x2e6b_8d76_d756_7348),
    ];
    let hashes = pinned.map(|(name, steps, _)| {
        let mut walk = Walk::new(name);
        for step in 0..steps {
            if step % 50 == 49 {
                walk.scatter();
            }
            walk.step();
        }
        (name, steps, walk.hash)
    });
    assert_eq!(hashes, pinned);
}
