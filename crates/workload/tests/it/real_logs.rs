//! Tests of real logs (`pavior_trials::log`). Because the logs are too large to distribute, the
//! tests run only if they are present.

use std::fs::File;
use std::io::BufReader;

use flate2::bufread::MultiGzDecoder;
use pavior_workload::inspect::{LogSummary, Spread};
use pavior_workload::traces::{ReadOptions, Skip, Trace, swf};

/// A log's name, counts (lines, kept, zero-length, no run time, no size, over estimate), and nodes.
type Expected = (&'static str, [u64; 6], u64);

/// The expected counts (computed from the archive's files) and the machine size in the header.
const LOGS: [Expected; 11] = [
    ("SDSC-Par-1996-3.1-cln", [32_135, 32_135, 7, 0, 0, 0], 400),
    ("NASA-iPSC-1993-3.1-cln", [18_239, 18_239, 173, 0, 0, 0], 128),
    ("LANL-CM5-1994-4.1-cln", [122_060, 122_057, 2, 0, 3, 40_180], 1024),
    ("KTH-SP2-1996-2.1-cln", [28_476, 28_475, 8, 0, 1, 475], 100),
    ("SDSC-SP2-1998-4.2-cln", [59_715, 54_044, 10, 5_671, 0, 4_134], 128),
    ("SDSC-BLUE-2000-4.2-cln", [243_306, 232_562, 26, 10_744, 0, 23_434], 1152),
    ("SDSC-DS-2004-2.1-cln", [96_069, 85_045, 152, 11_024, 0, 10_658], 1664),
    ("HPC2N-2002-2.2-cln", [202_871, 202_871, 0, 0, 0, 14_817], 240),
    ("LLNL-Atlas-2006-2.1-cln", [43_778, 39_207, 2_607, 0, 4_571, 3_351], 9216),
    ("CEA-Curie-2011-2.1-cln", [312_826, 312_807, 17_267, 0, 19, 5_416], 93_312),
    ("lublin_256", [10_000, 10_000, 0, 0, 0, 0], 256),
];

/// Statistics of the archive's files: span in days, mean gap, mean and median run time, size
/// quantiles (0 25 50 75 90 99 100%), fraction of powers of two among all jobs and among parallel
/// jobs, load.
type Shape = (&'static str, [f64; 4], [f64; 7], [f64; 3]);

const SHAPES: [Shape; 11] = [
    (
        "SDSC-Par-1996-3.1-cln",
        [370.5, 996.3, 8753.2, 209.0],
        [1.0, 4.0, 8.0, 16.0, 64.0, 128.0, 320.0],
        [0.925, 0.918, 0.747],
    ),
    (
        "NASA-iPSC-1993-3.1-cln",
        [92.0, 435.8, 764.9, 86.0],
        [1.0, 1.0, 4.0, 32.0, 32.0, 128.0, 128.0],
        [1.0, 1.0, 0.466],
    ),
    (
        "LANL-CM5-1994-4.1-cln",
        [720.9, 510.3, 2581.6, 414.0],
        [32.0, 32.0, 32.0, 128.0, 256.0, 512.0, 1024.0],
        [1.0, 1.0, 0.744],
    ),
    (
        "KTH-SP2-1996-2.1-cln",
        [332.9, 1010.1, 8871.9, 847.0],
        [1.0, 1.0, 3.0, 8.0, 16.0, 70.0, 100.0],
        [0.735, 0.604, 0.701],
    ),
    (
        "SDSC-SP2-1998-4.2-cln",
        [729.4, 1055.3, 7389.2, 358.0],
        [1.0, 2.0, 6.0, 16.0, 32.0, 100.0, 128.0],
        [0.839, 0.794, 0.834],
    ),
    (
        "SDSC-BLUE-2000-4.2-cln",
        [974.1, 345.9, 4239.5, 219.0],
        [8.0, 8.0, 16.0, 32.0, 96.0, 512.0, 1152.0],
        [0.922, 0.922, 0.77],
    ),
    (
        "SDSC-DS-2004-2.1-cln",
        [366.4, 329.5, 7565.8, 648.0],
        [8.0, 8.0, 32.0, 64.0, 128.0, 800.0, 1480.0],
        [0.9, 0.9, 0.671],
    ),
    (
        "HPC2N-2002-2.2-cln",
        [1264.4, 538.5, 17_024.2, 2873.0],
        [1.0, 1.0, 2.0, 8.0, 16.0, 52.0, 200.0],
        [0.919, 0.861, 0.602],
    ),
    (
        "LLNL-Atlas-2006-2.1-cln",
        [193.0, 381.0, 5025.0, 45.0],
        [8.0, 8.0, 64.0, 256.0, 1024.0, 8192.0, 9120.0],
        [0.862, 0.862, 0.704],
    ),
    (
        "CEA-Curie-2011-2.1-cln",
        [253.7, 70.1, 6157.6, 124.0],
        [1.0, 4.0, 32.0, 256.0, 880.0, 15_488.0, 79_920.0],
        [0.839, 0.802, 0.628],
    ),
    (
        "lublin_256",
        [89.2, 770.7, 4862.8, 137.0],
        [1.0, 2.0, 8.0, 17.0, 64.0, 256.0, 256.0],
        [0.861, 0.815, 1.061],
    ),
];

fn read(name: &str) -> Option<Trace> {
    let file = File::open(pavior_trials::log(&format!("{name}.swf.gz"))?).unwrap();
    let text = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(BufReader::new(file)));
    Some(swf::read(text, &ReadOptions::default()).unwrap())
}

#[test]
fn real_logs_have_the_right_counts() {
    for (name, expected, machine) in LOGS {
        let Some(trace) = read(name) else { return };
        let report = &trace.report;
        let found = [
            report.job_lines,
            report.kept,
            report.zero_length.count(),
            report.skipped(Skip::NoRunTime).count(),
            report.skipped(Skip::NoSize).count(),
            report.over_estimate.count(),
        ];
        assert_eq!(found, expected, "{name}");
        assert_eq!(report.submits_back.count(), 0, "{name}");
        assert_eq!(trace.header.machine_size(), Some(machine), "{name}");
        assert!(trace.records.iter().all(|record| u64::from(record.nodes) <= machine), "{name}");
    }
}

#[test]
fn real_logs_have_the_right_shape() {
    for (name, times, sizes, shares) in SHAPES {
        let Some(trace) = read(name) else { return };
        let summary = LogSummary::of(&trace, None);
        let close = |found: f64, expected: f64, tolerance: f64| {
            assert!((found - expected).abs() <= tolerance, "{name}: {found}, not {expected}");
        };
        let [span, gap, mean_run, median_run] = times;
        let [pow2, pow2_parallel, load] = shares;
        close(summary.span / 86_400.0, span, 0.051);
        close(summary.load.unwrap(), load, 0.001);
        if summary.job_lines - summary.kept > 20 {
            // The published numbers below also count jobs without a run time.
            continue;
        }
        close(summary.mean_interarrival.unwrap(), gap, 0.11);
        close(summary.runs.mean, mean_run, 0.4);
        close(summary.runs.p50, median_run, 0.0);
        close(summary.power_of_two, pow2, 0.000_51);
        close(summary.power_of_two_parallel.unwrap(), pow2_parallel, 0.000_51);
        let Spread { min, p25, p50, p75, p90, p99, max, .. } = summary.sizes;
        for (found, expected) in [min, p25, p50, p75, p90, p99, max].into_iter().zip(sizes) {
            close(found, expected, 0.0);
        }
    }
}
