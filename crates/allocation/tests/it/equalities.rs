//! Tests of strategies that must agree, because in theory they make the same choice.

use pavior_allocation::Machine;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Request};

use crate::common::{busy_machine, machine};

/// Sends several strategies the same queries in a random history, and requires the same answers.
fn agree(names: &[&str], grid: &str, seed: u64, request: impl Fn(&mut Stream) -> Request) {
    let mut machines: Vec<Machine> = names.iter().map(|name| machine(grid, name)).collect();
    let mut dice = Stream::new(seed, 0, "agree");
    let mut held = Vec::new();
    for step in 0..400 {
        let job = JobId(step);
        if dice.below(5) < 2 && !held.is_empty() {
            let gone = held.swap_remove(dice.below(held.len() as u64) as usize);
            for machine in &mut machines {
                machine.release(gone).unwrap();
            }
            continue;
        }
        let request = request(&mut dice);
        let mut answers = machines.iter_mut().map(|machine| machine.allocate(job, &request));
        let first = answers.next().unwrap().cloned();
        for (index, answer) in answers.enumerate() {
            assert_eq!(answer.cloned(), first, "{} on {grid}, {request:?}", names[index + 1]);
        }
        if first.is_ok() {
            held.push(job);
        }
    }
    assert!(held.iter().all(|job| machines[0].placement(*job).is_some()));
}

const GRIDS: [&str; 6] =
    ["mesh:16x16", "mesh:13x7", "torus:9x8", "grid:7x10w", "mesh:5x4x6", "torus:4x5x3"];

fn boxes(grid: &str) -> impl Fn(&mut Stream) -> Request {
    let sides = grid.parse::<Grid>().unwrap().sides();
    move |dice| {
        let half = sides.map(|n| u64::from(n.div_ceil(2)));
        Request::shape(half.map(|n| dice.between(1, n) as u16))
    }
}

#[test]
fn adaptive_scan_and_quick_allocation_choose_first_fits_base() {
    for grid in GRIDS {
        let turning = ["tff", "tff:plain", "as", "as:rows=jump", "qa"];
        agree(&turning, grid, 3, boxes(grid));
        let fixed = ["ff", "ff:plain", "as:turn=none", "as:turn=none:rows=jump", "qa:turn=none"];
        agree(&fixed, grid, 4, boxes(grid));
    }
}

#[test]
fn all_shapes_of_a_prime_are_its_two_lines() {
    // On a square, a job with a prime number of nodes has only the shapes n x 1 and 1 x n. First
    // Fit with rotation tries the same two shapes.
    for grid in ["mesh:13x13", "torus:7x7"] {
        let prime = |dice: &mut Stream| {
            let n = [2, 3, 5, 7][dice.below(4) as usize];
            Request::shape([n, 1, 1])
        };
        agree(&["tff", "asff", "asff:plain"], grid, 5, prime);
    }
}

#[test]
fn best_fit_does_not_choose_first_fits_base() {
    // The equalities above would be trivial if every strategy returned the lowest leftmost base,
    // but this is not the case.
    let grid: Grid = "mesh:5x5".parse().unwrap();
    let place = |name: &str| {
        let mut machine = busy_machine(grid, name, [Cuboid::node([0; 3])]);
        machine.allocate(JobId(2), &Request::shape([4, 1, 1])).unwrap().parts()[0].base
    };
    assert_eq!(place("as"), [1, 0, 0]);
    assert_eq!(place("bf"), [1, 0, 0]);
    assert_eq!(place("wf"), [1, 1, 0]);
}
