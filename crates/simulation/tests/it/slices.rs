//! Tests of slices of a pod whose chips, cubes and switches fail. The results are compared with
//! closed-form results, exact enumeration and manual calculation.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::{Cubes, Grid, NodeId, Request, Sides, orientations, volume};
use pavior_simulation::{Ending, Failing, Fate, Inputs, Restart, Setup, Spares};
use pavior_trials::size;
use pavior_workload::{Change, Component, FailureClasses, FailureEvent, Failures, Job, TimeUnit};

use crate::{job, recorded, setup};

/// Returns the value of a metric after a run.
fn measured(setup: &Setup, jobs: Vec<Job>, failing: Failing, name: &str) -> f64 {
    let inputs = Inputs::from(jobs).with_failures(failing);
    let run = setup.clone().simulation(inputs).measure(&[name]).unwrap();
    run.run().unwrap().value(name).unwrap()
}

/// Returns the fraction of time during which a slice could be placed, averaged over ten runs of 800
/// time units each, and the half-width of the mean's 99.9% confidence interval.
fn share(strategy: &str, classes: &str, slice: Request, spares: Spares) -> (f64, f64) {
    let unit = TimeUnit::TIME_UNIT;
    let mut setup = setup("torus:8x8x8", strategy, "fcfs", Ending::Drained);
    setup.slice = Some(slice);
    let classes: FailureClasses = classes.parse().unwrap();
    let shares: Vec<f64> = (0..10)
        .map(|replication| {
            // One job arrives at the beginning and one at the end. Both have zero length.
            let jobs = [0, unit.time(800.0).0].map(|at| job(at, at, [1, 1, 1], 0));
            let events = Failures::new(&setup.grid, &classes, unit, 1, replication).unwrap();
            let failing = Failing { spares, ..Failing::new(events, Restart::Scratch) };
            measured(&setup, jobs.to_vec(), failing, "slice_availability")
        })
        .collect();
    let mean = shares.iter().sum::<f64>() / 10.0;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 9.0;
    // 4.78 is the quantile of Student's t distribution with 9 degrees of freedom.
    (mean, 4.78 * (variance / 10.0).sqrt())
}

const CUBES: &str = "cube:mttf=9:mttr=1";

/// Returns the probability that at least `least` of `count` independent components are available,
/// if each is available with probability `each`.
fn binomial(count: i32, least: i32, each: f64) -> f64 {
    let choose = |taken: i32| (0..taken).map(|i| f64::from(count - i) / f64::from(i + 1)).product();
    let term = |taken: i32| -> f64 {
        let ways: f64 = choose(taken);
        ways * each.powi(taken) * (1.0 - each).powi(count - taken)
    };
    (least..=count).map(term).sum()
}

/// Returns true if a box with these sides, in any orientation, fits in a set of cubes from a 2x2x2
/// torus. The set has one bit per cube.
fn has_box(set: u32, sides: Sides) -> bool {
    let cube = |[x, y, z]: [u16; 3]| u32::from(x % 2 + 2 * (y % 2) + 4 * (z % 2));
    let all = (0..8u16).map(|i| [i % 2, i / 2 % 2, i / 4]);
    orientations(sides).filter(|turned| turned.iter().all(|&side| side <= 2)).any(|turned| {
        all.clone().any(|base| {
            let inside = all.clone().filter(|at| (0..3).all(|axis| at[axis] < turned[axis]));
            inside
                .map(|at| [0, 1, 2].map(|axis| base[axis] + at[axis]))
                .all(|at| set >> cube(at) & 1 == 1)
        })
    })
}

/// Returns the shapes of all boxes of `cubes` cubes that fit within 2x2x2 cubes.
fn shapes(cubes: u32) -> Vec<Sides> {
    let all = [[1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]];
    all.into_iter().filter(|&sides| volume(sides) == u64::from(cubes)).collect()
}

#[test]
fn the_share_of_time_is_the_binomial_one_with_switches() {
    for cubes in (5..=8).step_by(size(3, 1, 1)) {
        let slice = Request::nodes(64 * cubes);
        let (mean, width) = share("tpu", CUBES, slice, Spares::default());
        let exact = binomial(8, cubes as i32, 0.9);
        assert!((mean - exact).abs() <= width, "{cubes} cubes: {mean} ± {width}, not {exact}");
        assert!(width < 0.05, "{width}");
    }
    // Spares replace failed cubes that the slice needs, but reduce the number of usable cubes.
    let spares = Spares { cubes: 2, switches: 0 };
    let (mean, width) = share("tpu", CUBES, Request::nodes(64 * 6), spares);
    assert!((mean - binomial(8, 6, 0.9)).abs() <= width, "{mean} ± {width}");
    assert_eq!(share("tpu", CUBES, Request::nodes(64 * 7), spares), (0.0, 0.0));
}

#[test]
fn classes_of_failures_act_together() {
    // A cube is whole if it and its 64 chips work. Multi-cube slices need all 48 switches.
    let classes = "cube:mttf=19:mttr=1,chip:mttf=999:mttr=1,switch:mttf=799:mttr=1";
    let each = 0.95 * 0.999_f64.powi(64);
    let switches = (1.0 - 1.0 / 800.0_f64).powi(48);
    for (cubes, exact) in [(6, binomial(8, 6, each) * switches), (1, binomial(8, 1, each))] {
        let (mean, width) = share("tpu", classes, Request::nodes(64 * cubes), Spares::default());
        assert!((mean - exact).abs() <= width + 1e-6, "{cubes}: {mean} ± {width}, not {exact}");
    }
    let spares = Spares { cubes: 0, switches: 1 };
    let exact = binomial(8, 6, each) * binomial(48, 47, 1.0 - 1.0 / 800.0);
    let (mean, width) = share("tpu", classes, Request::nodes(64 * 6), spares);
    assert!((mean - exact).abs() <= width, "{mean} ± {width}, not {exact}");
}

#[test]
fn static_wiring_needs_a_box_as_enumeration_says() {
    for cubes in [1, 2, 4, 8].into_iter().step_by(size(3, 1, 1)) {
        let exact: f64 = (0..256u32)
            .filter(|&set| shapes(cubes).iter().any(|&sides| has_box(set, sides)))
            .map(|set| {
                0.9_f64.powi(set.count_ones() as i32) * 0.1_f64.powi(set.count_zeros() as i32 - 24)
            })
            .sum();
        let slice = Request::nodes(64 * cubes);
        let (mean, width) = share("tpu:static", CUBES, slice, Spares::default());
        assert!((mean - exact).abs() <= width + 1e-6, "{cubes}: {mean} ± {width}, not {exact}");
    }
}

#[test]
fn both_wirings_answer_as_enumeration_does_in_every_state() {
    let grid: Grid = "torus:8x8x8".parse().unwrap();
    let all = Cubes::of(&grid).unwrap();
    let mut machines = ["tpu", "tpu:static"].map(|name| Machine::new(grid, name).unwrap());
    for set in 0..256u32 {
        for machine in &mut machines {
            for cube in (0..8).map(NodeId) {
                // One missing chip is enough to exclude a cube.
                let chip = all.nodes(cube).nodes(&grid).nth(cube.index() * 7).unwrap();
                if set >> cube.0 & 1 == 1 {
                    machine.repair(chip).unwrap();
                } else {
                    machine.fail(chip).unwrap();
                }
            }
        }
        let [switched, wired] = &mut machines;
        for cubes in 1..=8 {
            let slice = Request::nodes(64 * cubes);
            assert_eq!(switched.probe(&slice).is_ok(), set.count_ones() >= cubes);
            let fits = shapes(cubes).iter().any(|&sides| has_box(set, sides));
            assert_eq!(wired.probe(&slice).is_ok(), fits, "{cubes} of {set:08b}");
        }
    }
}

/// The start and end of each job's last run.
type Times = Vec<Option<(u64, Option<u64>)>>;

/// Returns the start and end times of the jobs, and the number of interrupted jobs.
fn go(jobs: &[Job], spares: Spares, events: &[(u64, Component, Change)]) -> (Times, f64) {
    let setup = setup("torus:8x8x8", "tpu", "fcfs", Ending::Drained);
    let event = |&(at, component, change): &(u64, Component, Change)| FailureEvent {
        at: Time(at),
        component,
        change,
    };
    let events: Vec<FailureEvent> = events.iter().map(event).collect();
    let failing =
        || Failing { spares, ..Failing::new(events.clone().into_iter(), Restart::Scratch) };
    let inputs = Inputs::from(jobs.iter().cloned()).with_failures(failing());
    let times = recorded(&setup, inputs).0.into_iter().map(|record| match record.fate {
        Fate::Started { start, end, .. } => Some((start.0, end.map(|end| end.0))),
        _ => None,
    });
    (times.collect(), measured(&setup, jobs.to_vec(), failing(), "jobs_hit"))
}

const NONE: Spares = Spares { cubes: 0, switches: 0 };

#[test]
fn a_switch_hits_slices_of_several_cubes_and_no_others() {
    let jobs = [job(0, 0, [4, 4, 8], 10), job(1, 0, [4, 4, 4], 10), job(2, 0, [2, 2, 1], 10)];
    let events =
        [(4, Component::Switch(7), Change::Fail), (6, Component::Switch(7), Change::Repair)];
    let alone = vec![Some((6, Some(16))), Some((0, Some(10))), Some((0, Some(10)))];
    assert_eq!(go(&jobs, NONE, &events), (alone, 1.0));
    // A spare switch takes over immediately, and the interrupted slice restarts at once.
    let with_spare = vec![Some((4, Some(14))), Some((0, Some(10))), Some((0, Some(10)))];
    assert_eq!(go(&jobs, Spares { switches: 1, ..NONE }, &events), (with_spare, 1.0));
}

#[test]
fn a_cube_takes_all_its_jobs_and_comes_back_when_nothing_in_it_is_missing() {
    let jobs = [job(0, 0, [8, 8, 8], 10), job(1, 1, [1, 1, 1], 3)];
    let (cube, chip) = (Component::Cube(NodeId(0)), Component::Node(NodeId(0)));
    let events = [
        (4, cube, Change::Fail),
        (5, chip, Change::Fail),
        (7, cube, Change::Repair),
        (9, chip, Change::Repair),
    ];
    let times = vec![Some((9, Some(19))), Some((19, Some(22)))];
    assert_eq!(go(&jobs, NONE, &events), (times, 1.0));
}

#[test]
fn a_spare_cube_takes_the_place_of_a_failed_one() {
    let jobs = [job(0, 0, [4, 4, 28], 10), job(1, 0, [8, 8, 8], 1), job(2, 2, [4, 4, 4], 4)];
    let events = [
        (4, Component::Cube(NodeId(2)), Change::Fail),
        (5, Component::Cube(NodeId(2)), Change::Repair),
    ];
    // One cube is always a spare, so the eight cubes are never all granted together. Job 2 gets
    // neither the spare nor the repaired cube.
    let times = vec![Some((4, Some(14))), None, Some((14, Some(18)))];
    let spares = Spares { cubes: 1, switches: 0 };
    assert_eq!(go(&jobs, spares, &events), (times, 1.0));
    // Without a spare, job 2 takes the eighth cube, and job 0 waits until cube 2 is repaired.
    let without = [jobs[0].clone(), job(1, 2, [4, 4, 4], 4)];
    let times = vec![Some((5, Some(15))), Some((2, Some(6)))];
    assert_eq!(go(&without, NONE, &events), (times, 1.0));
}

#[test]
fn a_job_on_a_cube_that_goes_out_of_use_ends_before_it_does() {
    // Two jobs share a cube. A chip used by one of them fails, and the spare cube takes over.
    let jobs = [job(0, 0, [2, 4, 4], 10), job(1, 0, [2, 4, 4], 10), job(2, 11, [4, 4, 28], 1)];
    let events = [(4, Component::Node(NodeId(0)), Change::Fail)];
    let (times, hit) = go(&jobs, Spares { cubes: 1, switches: 0 }, &events);
    assert_eq!((times[1], hit), (Some((0, Some(10))), 1.0));
    assert_eq!(times[2], Some((14, Some(15))));
}
