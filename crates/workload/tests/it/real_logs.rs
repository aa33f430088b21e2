//! The real logs, where they are: a folder named by `PAVIOR_TRACES`, or `../shared/traces` beside
//! the repository. They are too large to ship.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;
use pavior_workload::traces::{ReadOptions, Skip, Trace, swf};

/// What a log holds: job lines, kept, zero-length, no run time, no size, over the estimate.
type Expected = (&'static str, [u64; 6], u64);

/// The counts follow from the archive's files; the last column is the machine in the header.
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

/// The folder with the logs, or none with a word about it.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("PAVIOR_TRACES").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    let folder = named.unwrap_or(beside);
    if !folder.is_dir() {
        eprintln!("no real logs in {}: not tested against them", folder.display());
        return None;
    }
    Some(folder)
}

fn read(folder: &std::path::Path, name: &str) -> Trace {
    let file = File::open(folder.join(format!("{name}.swf.gz"))).unwrap();
    let text = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(BufReader::new(file)));
    swf::read(text, &ReadOptions::default()).unwrap()
}

#[test]
fn real_logs_have_the_right_counts() {
    let Some(folder) = folder() else { return };
    for (name, expected, machine) in LOGS {
        let trace = read(&folder, name);
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
