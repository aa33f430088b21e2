//! Tests that LSSA always grants the first base of the first shape that fits, although its `Claim`
//! guarantees less.

use pavior_allocation::claim::Claim;
use pavior_allocation::{Selection, oracle};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, Request, Scan};

use crate::common::busy_machine;

#[test]
fn the_first_base_of_the_first_shape() {
    let grid = Grid::mesh(&[9, 8]).unwrap();
    let mut dice = Stream::new(1, 0, "lssa");
    let mut l_shapes = 0;
    for name in ["lssa", "lssa:plain", "lssa:turn=none"] {
        let selection: Selection = name.parse().unwrap();
        for _ in 0..300 {
            let percent = dice.between(10, 40);
            let nodes = Cuboid::whole(&grid).nodes(&grid);
            let busy = nodes.filter(|_| dice.below(100) < percent);
            let busy = busy.map(|node| Cuboid::node(grid.point(node)));
            let mut machine = busy_machine(grid, name, busy);
            let request = Request::shape([dice.between(1, 6) as u16, dice.between(1, 4) as u16, 1]);
            let family = (Claim::of(&selection).family)(&request, &grid, &selection.options);
            let first = oracle::first(machine.free(), &family, Scan::default());
            let given = machine.probe(&request).ok().map(|placement| placement.parts().to_vec());
            assert_eq!(given, first, "{name} {request:?}");
            l_shapes += u32::from(given.is_some_and(|parts| parts.len() == 2));
        }
    }
    assert!(l_shapes > 30, "only {l_shapes} placements were Ls");
}
