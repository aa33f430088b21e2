//! Tests of the Lublin-Feitelson model: the published proportions, the daily cycle, and a
//! comparison with the model's log in the archive.

use pavior_workload::traces::Record;
use pavior_workload::{Class, Generator, Lublin, LublinJobs, Selection};

fn jobs(class: Class, nodes: u32, count: usize) -> Vec<Record> {
    LublinJobs::new(Lublin::new(class, nodes), 1, 0).take(count).collect()
}

fn share(jobs: &[Record], which: impl Fn(&Record) -> bool) -> f64 {
    jobs.iter().filter(|job| which(job)).count() as f64 / jobs.len() as f64
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
}

#[test]
fn sizes_have_the_published_proportions() {
    for class in [Class::All, Class::Batch, Class::Interactive] {
        let model = Lublin::new(class, 128);
        let all = jobs(class, 128, 40_000);
        close(share(&all, |job| job.nodes == 1), model.serial, 0.01, "serial");
        // Some parallel jobs get a power of two by chance.
        let pow2 = share(&all, |job| job.nodes > 1 && job.nodes.is_power_of_two());
        assert!(pow2 > model.pow2 - 0.01 && pow2 < 1.0 - model.serial, "{class:?}: {pow2}");
        let most = libm_exp2(model.uhi.round());
        assert!(all.iter().all(|job| (1..=most).contains(&job.nodes)));
        // A fraction 1 - uprob of the parallel jobs is in the second stage, above 2^umed.
        let large = share(&all, |job| f64::from(job.nodes) > model.umed.exp2() * 1.42);
        assert!(large < (1.0 - model.serial) * (1.0 - model.uprob), "{class:?}: {large}");
        assert!(large > 0.02, "{class:?}: {large}");
    }
    assert_eq!(Lublin::new(Class::All, 128).umed.to_string(), "4.5");
    assert_eq!(Lublin::new(Class::Batch, 128).umed.to_string(), "5");
    assert_eq!(Lublin::new(Class::Interactive, 128).uhi.to_string(), "5.5");
}

fn libm_exp2(log: f64) -> u32 {
    log.exp2() as u32
}

#[test]
fn every_machine_has_sizes_that_fit() {
    for nodes in [1, 2, 3, 5, 8, 12, 100, 352, 9216, 1 << 24] {
        for class in [Class::All, Class::Batch, Class::Interactive] {
            for job in jobs(class, nodes, 3000) {
                assert!((1..=nodes).contains(&job.nodes), "{class:?} {nodes}: {}", job.nodes);
            }
        }
    }
}

#[test]
fn run_times_are_hyper_gamma() {
    for class in [Class::All, Class::Batch, Class::Interactive] {
        let model = Lublin::new(class, 128);
        let all = jobs(class, 128, 60_000);
        let serial: Vec<f64> = all
            .iter()
            .filter(|job| job.nodes == 1)
            // Run times are rounded down to seconds, so the middle of each second is used.
            .map(|job| (job.run.ticks() / 1e6 + 0.5).ln())
            .collect();
        let mean = serial.iter().sum::<f64>() / serial.len() as f64;
        let p = model.short_share.0 + model.short_share.1;
        let expected = p * model.short.0 * model.short.1 + (1.0 - p) * model.long.0 * model.long.1;
        // Values above 12 are redrawn, which slightly lowers the mean.
        close(mean, expected, 0.1, "mean logarithm of the run time");
        assert!(all.iter().all(|job| job.run.ticks() / 1e6 <= 12f64.exp()));
    }
}

#[test]
fn the_day_has_its_rush_hour() {
    let model = Lublin::new(Class::All, 128);
    let weights = model.weights();
    close(weights.iter().sum(), 48.0, 1e-9, "sum of the weights");
    let peak = (0..48).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap();
    // The mode of gamma(8.1737, 3.9631) is at 28.4 half hours. Bucket i - 1 holds the mass at i.
    assert_eq!(peak, 27);
    let all = jobs(Class::All, 128, 200_000);
    let mut counts = [0.0; 48];
    for job in &all {
        counts[(job.submit.0 / 1_000_000 / 1800 % 48) as usize] += 48.0 / all.len() as f64;
    }
    for (bucket, (count, weight)) in counts.iter().zip(weights).enumerate() {
        close(*count, weight, 0.06 + 0.1 * weight, &format!("half hour {bucket}"));
    }
    let start = Lublin { start: 6, ..model };
    let shifted: Vec<Record> = LublinJobs::new(start, 1, 0).take(60_000).collect();
    let noon = share(&shifted, |job| job.submit.0 / 1_000_000 / 1800 % 48 == 27 - 12) * 48.0;
    close(noon, weights[27], 0.2, "the rush hour, six hours into the log");
}

/// Sizes in the archive's lublin_256 log, each with the fraction of jobs of at most that size.
const LOG_SIZES: [(u32, f64); 8] = [
    (1, 0.2493),
    (2, 0.3411),
    (4, 0.4755),
    (8, 0.6139),
    (16, 0.7476),
    (32, 0.8794),
    (64, 0.9318),
    (128, 0.9727),
];

#[test]
fn it_looks_like_the_archives_log_of_it() {
    // The archive's lublin_256 log has gap quartiles of 41, 116 and 366 s, a mean run time of
    // 4862.8 s and a median run time of 137 s. 86.1% of its sizes are powers of two. Its mean gap
    // of 770.7 s is low by chance: the model's mean gap is 911 s, with a standard deviation of 6343
    // s.
    let all = jobs(Class::All, 256, 50_000);
    let last = all.last().unwrap().submit.ticks() / 1e6;
    close(last / 50_000.0, 911.0, 3.0 * 6343.0 / 50_000f64.sqrt(), "mean gap");
    let mut gaps: Vec<f64> = all
        .windows(2)
        .map(|pair| (pair[1].submit.ticks() - pair[0].submit.ticks()) / 1e6)
        .collect();
    gaps.sort_by(f64::total_cmp);
    for (at, expected) in [(12_500, 41.0), (25_000, 116.0), (37_500, 366.0)] {
        close(gaps[at], expected, 0.05 * expected, "quartile of the gaps");
    }
    let mut runs: Vec<f64> = all.iter().map(|job| job.run.ticks() / 1e6).collect();
    runs.sort_by(f64::total_cmp);
    close(runs.iter().sum::<f64>() / 50_000.0, 4862.8, 350.0, "mean run time");
    close(runs[25_000], 137.0, 20.0, "median run time");
    close(share(&all, |job| job.nodes.is_power_of_two()), 0.861, 0.01, "powers of two");
    for (size, below) in LOG_SIZES {
        close(share(&all, |job| job.nodes <= size), below, 0.015, "share of sizes");
    }
}

#[test]
fn generators_number_their_jobs() {
    let generate = |text: &str, seed| {
        let Selection { entry, options } = text.parse::<Selection<Generator>>().unwrap();
        (entry.does.generate)(&options, 128, seed, 0).take(500).collect::<Vec<_>>()
    };
    for text in ["lublin", "lublin:batch", "lublin:interactive", "lublin:both:start=9"] {
        let all = generate(text, 1);
        assert!(all.iter().zip(1..).all(|(job, number)| job.number == number), "{text}");
        assert!(all.is_sorted_by_key(|job| job.submit), "{text}");
        assert_eq!(all, generate(text, 1));
        assert_ne!(all, generate(text, 2));
    }
    // The `both` stream merges the jobs of the two classes.
    let strip = |all: Vec<Record>| {
        all.into_iter().map(|job| (job.submit, job.nodes, job.run)).collect::<Vec<_>>()
    };
    let both = generate("lublin:both", 1);
    let batch = both.iter().filter(|job| job.tags.queue == 1).cloned().collect();
    let batch = strip(batch);
    assert!(!batch.is_empty() && batch.len() < 500);
    assert_eq!(batch, strip(generate("lublin:batch", 1))[..batch.len()]);
}
