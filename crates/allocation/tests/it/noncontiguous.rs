//! Tests of strategies that grant by count, for properties that the conformance suite cannot check:
//! some strategies must follow the same rule, and others must minimize a quantity.

use pavior_allocation::claim::BoxGroup;
use pavior_allocation::{Placement, Selection, Strategy, conformance, oracle};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request, Scan, orientations};

use crate::common::strategy as build;

fn selection(name: &str) -> Selection {
    name.parse().unwrap()
}

/// Calls a function with many occupancies of a grid. Each call also gets strategies in the same
/// state, which were notified of the busy nodes one at a time.
fn in_random_states(
    grid: &Grid,
    names: &[&str],
    mut check: impl FnMut(&Occupancy, &mut [Box<dyn Strategy>], &mut Stream),
) {
    let mut dice = Stream::new(3, 0, "states");
    for _ in 0..60 {
        let mut strategies: Vec<_> = names.iter().map(|name| build(name, grid)).collect();
        let mut free = Occupancy::all_free(*grid);
        for _ in 0..dice.below(u64::from(grid.nodes())) {
            let node = NodeId(dice.below(u64::from(grid.nodes())) as u32);
            if free.take_node(node) {
                let single = Placement::Whole(Cuboid::node(grid.point(node)));
                for strategy in &mut strategies {
                    strategy.granted(&single);
                }
            }
        }
        check(&free, &mut strategies, &mut dice);
    }
}

fn ask(strategy: &mut dyn Strategy, free: &Occupancy, nodes: u32) -> Option<Placement> {
    strategy.find(free, &Request::nodes(nodes), &mut Stream::new(1, 0, "unused"))
}

#[test]
fn one_rule_under_several_names_gives_one_answer() {
    let groups: [&[&str]; 5] = [
        &["naive", "paging", "paging:0:row-major", "linear-sorted"],
        &["paging:0:snake", "linear-sorted:snake"],
        &["paging:0:shuffled-snake:shuffle=hilbert", "linear-sorted:hilbert"],
        &["hilbert", "linear-best:hilbert"],
        &["linear-first:order=0-1-2-3-4-5-6-7-8-9-10-11", "linear-first"],
    ];
    for grid in ["mesh:4x3", "torus:4x3", "mesh:2x3x2"] {
        let grid: Grid = grid.parse().unwrap();
        for names in groups {
            in_random_states(&grid, names, |free, strategies, dice| {
                let nodes = dice.between(1, u64::from(grid.nodes())) as u32;
                let answers: Vec<_> =
                    strategies.iter_mut().map(|s| ask(s.as_mut(), free, nodes)).collect();
                assert!(answers.iter().all(|answer| *answer == answers[0]), "{names:?}");
            });
        }
    }
}

#[test]
fn mip_without_a_box_is_the_least_span_in_row_major_order() {
    let grid: Grid = "mesh:6x5".parse().unwrap();
    let mut scattered = 0;
    in_random_states(&grid, &["mip", "linear-first"], |free, strategies, _| {
        for nodes in 1..=free.count() {
            let mip = ask(strategies[0].as_mut(), free, nodes).unwrap();
            if matches!(mip, Placement::Parts(_)) {
                scattered += 1;
                assert_eq!(Some(mip), ask(strategies[1].as_mut(), free, nodes));
            }
        }
    });
    assert!(scattered > 100, "{scattered} scattered placements");
}

#[test]
fn anca_and_mc_take_a_free_box_of_the_shape_where_there_is_one() {
    let grid: Grid = "torus:5x4".parse().unwrap();
    in_random_states(&grid, &["anca", "mc"], |free, strategies, _| {
        for shape in [[2, 2, 1], [3, 2, 1], [2, 3, 1], [4, 1, 1], [1, 1, 1]] {
            let request = Request::shape(shape);
            let mut find = |index: usize| {
                strategies[index].find(free, &request, &mut Stream::new(1, 0, "unused"))
            };
            let turned: Vec<BoxGroup> = orientations(shape).map(BoxGroup::cuboid).collect();
            if let Some(expected) = oracle::first(free, &turned, Scan::default()) {
                assert_eq!(find(0).unwrap().parts(), expected, "{shape:?}");
            }
            if oracle::first(free, &turned[..1], Scan::default()).is_some() {
                // The placement's rows are split where they wrap around. Together, the parts form a
                // single box of the requested shape.
                let parts = find(1).unwrap();
                let bounds = |axis: usize| {
                    let taken = |at: &u16| {
                        let mut nodes = parts.parts().iter().flat_map(|part| part.nodes(&grid));
                        nodes.any(|node| grid.point(node)[axis] == *at)
                    };
                    (0..grid.side(axis)).filter(taken).count()
                };
                assert_eq!([bounds(0), bounds(1), bounds(2)], shape.map(usize::from));
            }
        }
    });
}

#[test]
fn an_order_given_node_by_node_is_held_to_the_same_claims() {
    let grid: Grid = "grid:3wx3".parse().unwrap();
    for name in ["linear-sorted", "linear-first", "linear-best"] {
        let selection = selection(&format!("{name}:order=8-0-4-2-6-1-3-5-7"));
        conformance::every_occupancy(&selection, &grid).unwrap();
    }
}

#[test]
fn an_order_must_name_every_node_once() {
    let grid: Grid = "mesh:3".parse().unwrap();
    for order in ["0-1", "0-1-1", "0-1-3", "0-1-2-3"] {
        let error = selection(&format!("linear-first:{order}")).build(&grid).err().unwrap();
        assert!(error.to_string().contains("each of the 3 nodes exactly once"), "{error}");
    }
    for order in ["", "0-", "0--1", "a-b", "+0-1", "0,1,2"] {
        assert!(format!("linear-first:order={order}").parse::<Selection>().is_err(), "{order}");
    }
}

#[test]
fn paging_succeeds_exactly_when_free_pages_hold_enough_nodes() {
    for name in ["mesh:7x5", "torus:6x4", "mesh:5x4x3", "mesh:9"] {
        let grid: Grid = name.parse().unwrap();
        let names = ["paging:1", "paging:1:snake", "paging:2:shuffled-snake"];
        in_random_states(&grid, &names, |free, strategies, _| {
            for (strategy, side) in strategies.iter_mut().zip([2u16, 2, 4]) {
                let ready = nodes_in_free_pages(free, side);
                for nodes in 1..=grid.nodes() {
                    let answer = ask(strategy.as_mut(), free, nodes);
                    assert_eq!(answer.is_some(), nodes <= ready);
                    // No page is unnecessary: without the last one, there would be too few nodes.
                    if let Some(placement) = answer {
                        let last = placement.parts().last().unwrap().volume();
                        assert!(placement.nodes() - last < nodes);
                    }
                }
            }
        });
    }
}

fn nodes_in_free_pages(free: &Occupancy, side: u16) -> u32 {
    let [w, d, h] = free.grid().sides();
    let starts = |n: u16| (0..n).step_by(usize::from(side));
    let mut ready = 0;
    for z in starts(h) {
        for y in starts(d) {
            for x in starts(w) {
                let sides = [side.min(w - x), side.min(d - y), side.min(h - z)];
                let page = Cuboid::new([x, y, z], sides);
                ready += if free.is_free(&page) { page.volume() } else { 0 };
            }
        }
    }
    ready
}

#[test]
fn pages_that_the_border_cuts_off_are_left_out_if_asked() {
    let grid: Grid = "mesh:5x3".parse().unwrap();
    let mut strategy = build("paging:1:border=unused", &grid);
    let free = Occupancy::all_free(grid);
    assert_eq!(ask(strategy.as_mut(), &free, 8).unwrap().nodes(), 8);
    assert_eq!(ask(strategy.as_mut(), &free, 9), None);
    assert!(selection("paging:2:border=unused").supports(&grid).is_err());
}

#[test]
fn random_draws_n_numbers_of_its_stream_and_none_for_a_refusal() {
    let grid: Grid = "mesh:8x8".parse().unwrap();
    let free = Occupancy::all_free(grid);
    let mut strategy = build("random", &grid);
    let (mut draw, mut same) = (Stream::new(5, 0, "x"), Stream::new(5, 0, "x"));
    let first = strategy.find(&free, &Request::nodes(10), &mut draw);
    assert_eq!(build("random", &grid).find(&free, &Request::nodes(10), &mut same), first);
    assert_eq!(draw, same);
    let mut counted = Stream::new(5, 0, "x");
    for _ in 0..10 {
        counted.next_u64();
    }
    assert_eq!(draw, counted);
    assert_ne!(strategy.find(&free, &Request::nodes(10), &mut draw), first);
    let before = draw.clone();
    assert_eq!(strategy.find(&free, &Request::nodes(65), &mut draw), None);
    assert_eq!(draw, before);
}

#[test]
fn random_draws_every_set_of_nodes_equally_often() {
    let grid: Grid = "mesh:5".parse().unwrap();
    let free = Occupancy::all_free(grid);
    let mut strategy = build("random", &grid);
    let mut draw = Stream::new(9, 0, "x");
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..10_000 {
        let placement = strategy.find(&free, &Request::nodes(2), &mut draw).unwrap();
        let nodes: Vec<NodeId> = placement.parts().iter().flat_map(|p| p.nodes(&grid)).collect();
        *seen.entry(nodes).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 10);
    // The standard deviation is 30.
    assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
}
