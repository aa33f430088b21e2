//! LSSA chooses exactly the first base of the first of its shapes, although it claims less.

use pavior_allocation::claim::Claim;
use pavior_allocation::{Machine, Placement, Selection, oracle};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request, Scan};

#[test]
fn the_first_base_of_the_first_shape() {
    let grid = Grid::mesh(&[9, 8]).unwrap();
    let mut dice = Stream::new(1, 0, "lssa");
    let mut l_shapes = 0;
    for name in ["lssa", "lssa:plain", "lssa:turn=none"] {
        let selection: Selection = name.parse().unwrap();
        for _ in 0..300 {
            let mut machine = Machine::with_seed(grid, &selection, 1).unwrap();
            let busy = dice.between(10, 40);
            for node in 0..grid.nodes() {
                if dice.below(100) < busy {
                    let node = Cuboid::node(grid.point(NodeId(node)));
                    let job = JobId(u64::from(grid.id(node.base).0));
                    machine.allocate_at(job, Placement::Whole(node)).unwrap();
                }
            }
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
