//! Tests of synthetic streams: their distributions, and the independence of the random streams.

use pavior_kernel::Time;
use pavior_mesh::{Grid, Sides, volume};
use pavior_workload::traces::Record;
use pavior_workload::{Job, Service, Synthetic, SyntheticJobs};

fn workload(load: f64, sides: &str, service: &str) -> Synthetic {
    Synthetic {
        sides: sides.parse().unwrap(),
        service: service.parse().unwrap(),
        ..Synthetic::at_load(load)
    }
}

fn jobs(workload: &Synthetic, grid: &Grid, count: usize) -> Vec<Job> {
    SyntheticJobs::new(workload, grid, 1, 0).unwrap().take(count).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn sides_of(distribution: &str, grid: &Grid, count: usize) -> Vec<Sides> {
    let jobs = jobs(&workload(1.0, distribution, "constant"), grid, count);
    jobs.iter().map(|job| job.request.shape.unwrap()).collect()
}

/// Returns the frequency of each side length on an axis.
fn frequencies(distribution: &str, grid: &Grid, axis: usize) -> Vec<f64> {
    let all = sides_of(distribution, grid, 40_000);
    let count = |side| all.iter().filter(|sides| sides[axis] == side).count();
    (1..=grid.side(axis)).map(|side| count(side) as f64 / all.len() as f64).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 0.012, "{found:?} is not {expected:?}");
    }
}

#[test]
fn uniform_sides() {
    let grid = Grid::mesh(&[4, 10]).unwrap();
    close(&frequencies("uniform", &grid, 0), &[0.25; 4]);
    close(&frequencies("uniform", &grid, 1), &[0.1; 10]);
    assert!(sides_of("uniform", &grid, 100).iter().all(|sides| sides[2] == 1));
}

#[test]
fn uniform_decreasing_sides() {
    let grid = Grid::mesh(&[8, 22]).unwrap();
    close(
        &frequencies("uniform-decreasing", &grid, 0),
        &[0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05],
    );
    // The breakpoints 22/8, 22/4 and 22/2 are rounded down to 2, 5 and 11.
    let expected: Vec<f64> = (1..=22)
        .map(|side| match side {
            1..=2 => 0.4 / 2.0,
            3..=5 => 0.2 / 3.0,
            6..=11 => 0.2 / 6.0,
            _ => 0.2 / 11.0,
        })
        .collect();
    close(&frequencies("uniform-decreasing", &grid, 1), &expected);
    let grid = Grid::mesh(&[16, 7]).unwrap();
    let error = workload(1.0, "uniform-decreasing", "constant").check(&grid).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sides `uniform-decreasing` cannot be used on mesh:16x7: every axis must have at least 8 \
         nodes, but the y axis has 7"
    );
}

#[test]
fn exponential_sides() {
    let grid = Grid::mesh(&[8, 8, 8]).unwrap();
    // P(side = s) is P(s-1 < X <= s) for X with mean 4, except that all values above 7 become 8.
    let tail = |x: f64| (-x / 4.0).exp();
    let mut expected: Vec<f64> =
        (1..=7).map(|s| tail(f64::from(s) - 1.0) - tail(f64::from(s))).collect();
    expected.push(tail(7.0));
    for axis in 0..3 {
        close(&frequencies("exponential", &grid, axis), &expected);
    }
}

#[test]
fn pods_are_powers_of_two() {
    let grid = Grid::torus(&[4, 12, 8]).unwrap();
    for any in ["pods", "pods:1:shape=any"] {
        let all = sides_of(any, &grid, 5_000);
        for sides in &all {
            assert!(sides.iter().all(|side| side.is_power_of_two()) && grid.fits(*sides));
            // The sides are in descending order on the axes y, z, x.
            assert!(sides[1] >= sides[2] && sides[2] >= sides[0], "{sides:?}");
        }
        assert!(all.contains(&[4, 8, 8]) && all.contains(&[1, 1, 1]));
        assert_eq!(all.contains(&[1, 8, 1]), any.contains("any"));
    }
    // Volumes of 1, 2 and 4 have equal weights.
    let grid = Grid::torus(&[2, 2]).unwrap();
    let all = sides_of("pods:1", &grid, 30_000);
    for v in [1, 2, 4] {
        let share = all.iter().filter(|&&sides| volume(sides) == v).count() as f64 / 30_000.0;
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{v}: {share}");
    }
}

#[test]
fn services() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    let run = |job: &Job| match job.service {
        Service::Run(time) => time.ticks() / 1e6,
        other => panic!("{other:?}"),
    };
    let all = jobs(&workload(1.0, "uniform", "exponential:2.5"), &grid, 40_000);
    let average = mean(all.iter().map(run));
    assert!((average - 2.5).abs() < 0.05, "{average}");
    let all = jobs(&workload(1.0, "uniform", "constant:0.25"), &grid, 3);
    assert!(all.iter().all(|job| job.service == Service::Run(Time(250_000))));
    assert!(all.iter().all(|job| job.estimate == Time(250_000)));
    let all = jobs(&workload(1.0, "uniform", "iterations:3"), &grid, 3);
    assert!(all.iter().all(|job| job.service == Service::Iterations(3)));
    let all = jobs(&workload(1.0, "uniform", "messages:5"), &grid, 40_000);
    let quota = |job: &Job| match job.service {
        Service::Messages(count) => count,
        other => panic!("{other:?}"),
    };
    // The mean of max(1, floor(X)) is 1 + sum over k >= 2 of exp(-k/5).
    let expected = 1.0 + (-0.4f64).exp() / (1.0 - (-0.2f64).exp());
    let average = mean(all.iter().map(|job| quota(job) as f64));
    assert!((average - expected).abs() < 0.08, "{average} {expected}");
    assert!(all.iter().all(|job| quota(job) >= 1 && job.estimate.0 == quota(job)));
    // The same draws are rounded in different ways. Rounding up gives one more than rounding down,
    // except that values below 1 become 1 in both cases.
    let rounded = |how: &str| jobs(&workload(1.0, "uniform", how), &grid, 40_000);
    let (up, nearest) = (rounded("messages:5:rounding=up"), rounded("messages:rounding=nearest"));
    for ((down, up), nearest) in all.iter().map(quota).zip(up.iter().map(quota)).zip(&nearest) {
        assert!(up == down + 1 || (up, down) == (1, 1));
        assert!([down, up].contains(&quota(nearest)));
    }
    let average = mean(nearest.iter().map(|job| quota(job) as f64));
    assert!((average - 5.0).abs() < 0.12, "{average}");
}

#[test]
fn arrivals_have_the_load() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    for arrivals in ["exponential", "bursts", "bursts:20:within=0.5", "bursts:1"] {
        let workload = Synthetic {
            arrivals: arrivals.parse().unwrap(),
            ..workload(4.0, "uniform", "constant")
        };
        let all = jobs(&workload, &grid, 100_000);
        let rate = 100_000.0 / (all.last().unwrap().arrival.ticks() / 1e6);
        assert!((rate - 4.0).abs() < 0.2, "{arrivals}: {rate}");
        assert!(all.is_sorted_by_key(|job| job.arrival));
        let gaps: Vec<f64> =
            all.windows(2).map(|pair| pair[1].arrival.ticks() - pair[0].arrival.ticks()).collect();
        let average = mean(gaps.iter().copied());
        let variation = mean(gaps.iter().map(|gap| (gap - average).powi(2))) / average.powi(2);
        let bursty = arrivals.starts_with("bursts") && arrivals != "bursts:1";
        assert_eq!(variation > 1.2, bursty, "{arrivals}: {variation}");
    }
}

#[test]
fn cycles_are_rounded_up() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    let (time, cycle) =
        (workload(0.02, "uniform", "constant"), workload(0.02, "uniform", "messages:5"));
    assert_eq!((time.unit().name, cycle.unit().name), ("time_unit", "cycle"));
    for (a, b) in jobs(&time, &grid, 1000).iter().zip(jobs(&cycle, &grid, 1000)) {
        // Rounding to a millionth could move a value past an integer, but not in this stream.
        assert_eq!(a.arrival.0.div_ceil(1_000_000), b.arrival.0);
    }
}

#[test]
fn parts_draw_from_their_own_streams() {
    let grid = Grid::mesh(&[8, 8, 8]).unwrap();
    let base = jobs(&workload(1.0, "uniform", "exponential"), &grid, 50);
    let other = jobs(&workload(1.0, "exponential", "exponential"), &grid, 50);
    assert!(base.iter().zip(&other).all(|(a, b)| (a.arrival, a.service) == (b.arrival, b.service)));
    assert!(base.iter().zip(&other).any(|(a, b)| a.request != b.request));
    let twice = jobs(&workload(2.0, "uniform", "exponential"), &grid, 50);
    for (a, b) in base.iter().zip(&twice) {
        assert_eq!((a.request, a.service), (b.request, b.service));
        assert!(a.arrival.0.abs_diff(2 * b.arrival.0) <= 2);
    }
    let replication = SyntheticJobs::new(&Synthetic::at_load(1.0), &grid, 1, 1).unwrap();
    assert_ne!(replication.take(50).collect::<Vec<_>>(), base);
}

#[test]
fn loads_out_of_range_are_refused() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        assert!(Synthetic::at_load(load).check(&grid).is_err(), "{load}");
    }
}

#[test]
fn jobs_become_records_of_a_log() {
    let grid = Grid::mesh(&[8, 8]).unwrap();
    for job in jobs(&workload(2.0, "pods", "exponential:3"), &grid, 20) {
        let record = Record::of_job(&job).unwrap();
        assert_eq!((record.submit, Service::Run(record.run)), (job.arrival, job.service));
        assert_eq!((record.nodes, record.shape), (job.request.nodes, job.request.shape));
    }
    let job = &jobs(&workload(2.0, "pods", "messages:3"), &grid, 1)[0];
    assert_eq!(Record::of_job(job), None);
}

#[test]
fn the_jobs_are_pinned() {
    // A change here would change every published result, so it must be deliberate.
    let grid = Grid::mesh(&[8, 8, 8]).unwrap();
    let seen: Vec<_> = jobs(&Synthetic::at_load(4.6), &grid, 3)
        .iter()
        .map(|job| (job.arrival.0, job.request.shape.unwrap(), job.estimate.0))
        .collect();
    assert_eq!(seen, PINNED);
}

const PINNED: [(u64, Sides, u64); 3] =
    [(107_539, [3, 5, 7], 731_152), (491_605, [2, 6, 3], 438_480), (706_261, [2, 6, 7], 675_111)];

#[test]
fn uniform_sides_can_be_bounded() {
    let machine = Grid::mesh(&[16, 4, 9]).unwrap();
    let sides = |name| sides_of(name, &machine, 2000);
    let most =
        |sides: &[[u16; 3]]| [0, 1, 2].map(|axis| sides.iter().map(|s| s[axis]).max().unwrap());
    assert_eq!(most(&sides("uniform")), [16, 4, 9]);
    assert_eq!(most(&sides("uniform:6")), [6, 4, 6]);
    assert_eq!(sides("uniform:most=100"), sides("uniform"));
}
