//! Tests that the memory needed to read a log never exceeds the log's decompressed length times the
//! factor in docs/limits.md.

use std::io::Write as _;
use std::path::Path;

use super::{attacked, within};
use crate::tries::Outcome;
use crate::words;

/// The address space that the program itself needs, in mebibytes.
const OWN: u64 = 160;

/// Returns the factor in a row of the table in docs/limits.md.
fn factor(row: &str, column: usize) -> u64 {
    let page = include_str!("../../../../../docs/limits.md");
    let row = page.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap();
    row.split('|').nth(column).unwrap().trim().parse().unwrap()
}

/// Writes a compressed document: `head`, many copies of `piece` separated by `between`, and `tail`.
fn document(path: &Path, size: usize, [head, piece, between, tail]: [&str; 4]) {
    let file = std::fs::File::create(path).unwrap();
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(head.as_bytes()).unwrap();
    let count = size / (piece.len() + between.len());
    let block = format!("{piece}{between}").repeat(1000);
    for _ in 0..count / 1000 {
        out.write_all(block.as_bytes()).unwrap();
    }
    out.write_all(piece.as_bytes()).unwrap();
    out.write_all(tail.as_bytes()).unwrap();
    out.finish().unwrap();
}

const TAIL: &str = "],\"profiles\":{\"a\":{\"type\":\"delay\",\"delay\":1}}}";
const JOB: &str = "{\"id\":1,\"subtime\":0,\"res\":1,\"profile\":\"a\"";

/// Returns the documents that need the most memory for their length, as tuples of name, row in
/// docs/limits.md, and pieces.
fn documents() -> Vec<(&'static str, &'static str, [String; 4])> {
    let of = |name, row, pieces: [&str; 4]| (name, row, pieces.map(String::from));
    let open = format!("{{\"jobs\":[{JOB},\"extra_data\":[");
    let shape = format!("{{\"jobs\":[{JOB},\"extra_data\":{{\"shape\":[");
    let shape_tail = format!("]}}}}{TAIL}");
    let data_tail = format!("]}}{TAIL}");
    let jobs = "{\"jobs\":[";
    let one = format!("{JOB}}}");
    let id = "{\"jobs\":[{\"id\":[";
    let id_tail = format!("],\"subtime\":0,\"res\":1,\"profile\":\"a\"}}{TAIL}");
    let profiles = format!("{{\"jobs\":[{one}],\"profiles\":{{\"a\":{{\"delay\":1}},");
    vec![
        of("log.swf", "SWF", ["", "1 1 0 1 1 0 0 1 1 0 1 1 1 1 1 1 1 1", "\n", "\n"]),
        of("log.sim", "`.sim`", ["", "0 1 1 1 1", "\n", "\n"]),
        of("log.json", "Batsim", [jobs, &one, ",", TAIL]),
        of("log.json", "Batsim", [jobs, "1", ",", TAIL]),
        of("log.json", "Batsim", [jobs, "{}", ",", TAIL]),
        of("log.json", "Batsim", [&open, "1", ",", &data_tail]),
        of("log.json", "Batsim", [&open, "[]", ",", &data_tail]),
        of("log.json", "Batsim", [&shape, "1", ",", &shape_tail]),
        of("log.json", "Batsim", [id, "1", ",", &id_tail]),
        of("log.json", "Batsim", [&profiles, "\"b\":{}", ",", "}}"]),
    ]
}

#[test]
fn logs_use_the_documented_memory() {
    let mebibytes = pavior_trials::size(1, 8, 64);
    let folder = tempfile::tempdir().unwrap();
    let (mut tried, mut faults) = (0, Vec::new());
    for (name, row, pieces) in documents() {
        let log = folder.path().join(format!("{name}.gz"));
        let [head, piece, between, tail] = &pieces;
        document(&log, mebibytes << 20, [head, piece, between, tail]);
        let log = log.to_str().unwrap();
        let mut commands = vec![(2, format!("trace inspect {log}"))];
        if name != "log.json" {
            let run = "simulate --machine mesh:16x16 -s ff --no-timing --threads 1";
            commands.push((3, format!("{run} --trace {log}")));
        }
        for (column, line) in commands {
            tried += 1;
            let most = OWN + factor(row, column) * mebibytes as u64;
            match within(most, &words(&line)) {
                // An invalid log must be rejected because of its contents, not for lack of memory.
                Ok(Outcome { code: Some(0), .. }) => {}
                Ok(Outcome { code: Some(2), message }) if message.contains("error: ") => {}
                Ok(outcome) => {
                    faults.push(format!("{piece} {:?} {}", outcome.code, outcome.message));
                }
                Err(reason) => faults.push(format!("{piece}: {reason}")),
            }
        }
    }
    attacked("logs that expand to the most memory", tried, &faults);
}

#[test]
fn inspection_does_not_hold_all_jobs_in_memory() {
    let lines = pavior_trials::size(200_000, 600_000, 10_000_000_u64);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.swf");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&log).unwrap());
    for number in 1..=lines {
        let (run, user) = (1 + number * 7919 % 86_400, number % 500);
        let submit = number * 9;
        let line = format!("{number} {submit} 60 {run} 4 -1 -1 4 90000 -1 1 {user}");
        writeln!(out, "{line} 1 -1 1 1 -1 -1").unwrap();
    }
    drop(out);
    // A record for each job would need another 144 bytes per line.
    let mebibytes = OWN + 16 + ((lines * 20) >> 20);
    let log = log.to_str().unwrap();
    let outcome = within(mebibytes, &["trace", "inspect", "--max-input", "2000000000", log]);
    let Outcome { code, message } = outcome.unwrap();
    assert_eq!(code, Some(0), "{message}");
}
