//! Tests of drawings of random states: machines, explanations, counterexamples and channel loads.

use pavior_allocation::conformance::Counterexample;
use pavior_allocation::explain::{State, answer};
use pavior_allocation::{Placement, Registry, Selection};
use pavior_draw::{counterexample, explanation, heatmap, state as drawn};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};
use pavior_network::{ChannelLoad, Channels, VirtualChannels};

use crate::wellformed::assert_well_formed;

/// Returns a random state with failed nodes and with jobs of one or two parts each.
fn random_state(grid: Grid, dice: &mut Stream) -> State {
    let mut state = State::new(grid);
    for job in 0..dice.between(1, 6) {
        let parts: Vec<Cuboid> = (0..dice.between(1, 2))
            .map(|_| {
                let sides = grid.sides().map(|n| dice.between(1, u64::from(n.div_ceil(2))) as u16);
                let base = [0, 1, 2]
                    .map(|axis| dice.below(u64::from(grid.starts(axis, sides[axis]))) as u16);
                Cuboid::new(base, sides)
            })
            .collect();
        let _ = state.hold(JobId(job), &parts);
    }
    for _ in 0..dice.below(3) {
        state.fail(NodeId(dice.below(u64::from(grid.nodes())) as u32));
    }
    state
}

#[test]
fn every_machine_and_strategy_is_drawn() {
    let mut dice = Stream::new(3, 0, "explain");
    let grids = ["mesh:6x5", "torus:6x5", "grid:5wx3x4", "mesh:4x3x3", "torus:9", "torus:4x4x2"];
    for name in grids.into_iter().chain(["mesh:1", "mesh:300x2", "mesh:3x3x40"]) {
        let grid: Grid = name.parse().unwrap();
        let state = random_state(grid, &mut dice);
        let request = Request::shape(grid.sides().map(|n| dice.between(1, n.into()) as u16));
        let answers: Vec<_> = Registry::new()
            .entries()
            .filter_map(|spec| answer(&state, &Selection::defaults(spec), &request, 1).ok())
            .collect();
        let svg = explanation(&state, &request, &answers, None, &|job| format!("<{}&\0", job.0));
        assert_well_formed(&svg);
        assert_eq!(svg.matches("class=\"name\"").count(), answers.len(), "{name}");
        let svg = drawn(&state, &|job| format!("<{}&\0", job.0));
        assert_well_formed(&svg);
        assert_eq!(svg.matches("class=\"node\"").count(), usize::from(grid.side(2)), "{name}");
        assert!(svg.matches("class=\"job\"").count() >= state.held().len(), "{name}");
    }
}

#[test]
fn what_a_strategy_answers_wrongly_is_drawn_whatever_it_is() {
    let mut dice = Stream::new(5, 0, "counterexamples");
    for name in ["mesh:3x3", "torus:4x3", "mesh:7", "torus:3x2x4", "mesh:40x30"] {
        let grid: Grid = name.parse().unwrap();
        let free = random_state(grid, &mut dice).free().clone();
        let outside = Cuboid::new([60_000; 3], [60_000; 3]);
        let over = Cuboid::new([1, 0, 0], [60_000, 1, 1]);
        let node = Cuboid::node([0; 3]);
        for (answer, granted) in [
            (None, 0),
            (Some(Placement::Whole(node)), 1),
            (Some(Placement::Parts(vec![node, outside, over])), 2),
            (Some(Placement::Parts(Vec::new())), 0),
        ] {
            let example = Counterexample {
                strategy: "<script>&\0".to_string(),
                free: free.clone(),
                request: Request::shape([2, 1, 1]),
                answer,
                expected: vec![node],
                reason: "</svg>".to_string(),
                answers: 0,
            };
            let svg = counterexample(&example);
            assert_well_formed(&svg);
            assert!(!svg.contains("<script>"), "{name}");
            // The legend contains one more element of this class.
            assert_eq!(svg.matches("class=\"choice\"").count(), granted + 1, "{name}");
            assert_eq!(svg.matches("class=\"expected\"").count(), 2, "{name}");
        }
    }
}

#[test]
fn the_load_of_every_channel_is_drawn() {
    let mut dice = Stream::new(2, 0, "loads");
    for machine in ["mesh:4x3", "torus:4x4", "torus:3x4x2", "mesh:9"] {
        let grid: Grid = machine.parse().unwrap();
        let mut load = ChannelLoad::new(Channels::new(grid, VirtualChannels::Two));
        for _ in 0..60 {
            let mut node = || NodeId(dice.below(u64::from(grid.nodes())) as u32);
            let (from, to) = (node(), node());
            load.add(from, to, 5);
        }
        for cycles in [0, 1000] {
            let svg = heatmap(&load, cycles, "a < b & \"c\" \u{1}");
            assert_well_formed(&svg);
            // Each channel has a title, and so does the drawing.
            assert_eq!(svg.matches("<title>").count(), 1 + load.channels().all().count());
        }
    }
}
