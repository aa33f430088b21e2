//! Compares the loop with a simple, slow simulator that steps through every tick.

use pavior_mesh::{Cuboid, Grid, Occupancy, Scan, orientations};
use pavior_simulation::{Ending, Fate, Inputs, Observer, Recorder, run};
use pavior_trials::size;
use pavior_workload::{Job, Service};
use proptest::prelude::*;

use crate::{job, setup};

/// Computes the jobs' start and end times tick by tick, for FCFS with first fit and rotation.
fn by_ticks(grid: Grid, jobs: &[Job]) -> Vec<(u64, u64)> {
    let mut free = Occupancy::all_free(grid);
    let mut running: Vec<(u64, Cuboid)> = Vec::new();
    let mut times = vec![(0, 0); jobs.len()];
    let (mut next, mut tick) = (0, 0);
    while next < jobs.len() || !running.is_empty() {
        loop {
            let ended: Vec<_> = running.iter().filter(|(end, _)| *end <= tick).copied().collect();
            running.retain(|(end, _)| *end > tick);
            for (_, cuboid) in &ended {
                free.give(cuboid).unwrap();
            }
            let mut started = false;
            while next < jobs.len() && jobs[next].arrival.0 <= tick {
                let shapes = orientations(jobs[next].request.shape.unwrap());
                let Some(cuboid) = shapes
                    .flat_map(|shape| {
                        let bases = Scan::default().bases(grid, shape);
                        bases.map(move |base| Cuboid::new(base, shape))
                    })
                    .find(|cuboid| free.is_free(cuboid))
                else {
                    break;
                };
                free.take(&cuboid).unwrap();
                let Service::Run(length) = jobs[next].service else { unreachable!() };
                times[next] = (tick, tick + length.0);
                running.push((tick + length.0, cuboid));
                next += 1;
                started = true;
            }
            if !started {
                break;
            }
        }
        tick += 1;
    }
    times
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(50, 200, 200)))]

    #[test]
    fn starts_and_ends_agree(
        grid in prop::sample::select(vec!["mesh:4x3", "torus:5x3", "mesh:3x2x2", "grid:4wx3"]),
        draws in prop::collection::vec((0u64..4, [1u16..4, 1..3, 1..2], 0u64..9), 1..40),
        strategy in prop::sample::select(vec!["tff", "tff:plain"]),
    ) {
        let mut arrival = 0;
        let jobs: Vec<Job> = draws
            .iter()
            .enumerate()
            .map(|(id, &(gap, shape, length))| {
                arrival += gap;
                job(id as u64, arrival, shape, length)
            })
            .collect();
        let setup = setup(grid, strategy, "fcfs", Ending::Drained);
        let mut recorder = Recorder::default();
        let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
        let inputs = Inputs::from(jobs.clone());
        run(&setup, inputs, &mut observers).unwrap();
        let given: Vec<(u64, u64)> = recorder
            .into_records()
            .iter()
            .map(|record| match &record.fate {
                Fate::Started { start, end: Some(end), .. } => (start.0, end.0),
                other => panic!("{other:?}"),
            })
            .collect();
        prop_assert_eq!(given, by_ticks(setup.grid, &jobs));
    }
}
