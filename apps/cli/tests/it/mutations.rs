//! Tests every parser with mutated inputs. No parser may panic or hang, and each line sent over the
//! protocol must get a reply.
//!
//! The corpus is `fuzz/corpus`; any files added there are used automatically. By default, each run
//! applies the same mutations for two seconds. `cargo xtask fuzz MINUTES` runs longer, with a
//! different seed each time.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pavior::Grid;
use pavior::experiments::{Specification, Table};
use pavior::text::excerpt;
use pavior::workload::traces::{Format, ReadOptions};
use pavior::workload::{TimeUnit, read_failures};

/// A linear congruential generator, whose seed makes a test run reproducible.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most.max(1) as u64) as usize
    }
}

/// Pieces of text that tend to break parsers.
const PIECES: &str = "-1 0 1e999 4294967296 18446744073709551616 nan - \0 \u{1b}[2J \r \n \" { } \
                      [ ] , : x \u{202e} é \u{fffe} = ' 1e-300 ;";

fn mutated(draw: &mut Draw, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=draw.below(3) {
        let at = draw.below(bytes.len() + 1);
        let to = (at + draw.below(9)).min(bytes.len());
        match draw.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let copy = bytes[at..to].to_vec();
                let behind = draw.below(bytes.len() + 1);
                bytes.splice(behind..behind, copy);
            }
            3 => bytes.truncate(at),
            _ => {
                let pieces: Vec<&str> = PIECES.split(' ').collect();
                let piece = pieces[draw.below(pieces.len())];
                bytes.splice(
                    at..at + usize::from(draw.below(2) == 1 && at < bytes.len()),
                    piece.bytes(),
                );
            }
        }
    }
    bytes
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Passes an input to all parsers that accept files with this name.
fn parse(name: &str, bytes: &[u8]) {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let text = String::from_utf8_lossy(bytes);
    let _ = excerpt(bytes, bytes.len() / 2..bytes.len());
    if let Some(format) = Format::find(bytes, name) {
        for lenient in [false, true] {
            let options = ReadOptions { lenient, ..ReadOptions::default() };
            if let Err(error) = format.read(bytes, &options) {
                harmless(name, &error.to_string());
            }
        }
    } else if name.ends_with("toml") {
        if let Err(error) = Specification::parse(&text, "fuzz") {
            assert!(error.span.start <= error.span.end, "{name}");
        }
    } else if name.ends_with("csv") {
        let _ = Table::from_csv(bytes);
        let _ = Table::from_timings(bytes);
    } else if name.starts_with("failures") {
        if let Err(error) = read_failures(bytes, &grid, TimeUnit::SECOND) {
            harmless(name, &error.to_string());
        }
    } else {
        for line in text.lines() {
            let _ = line.parse::<Grid>();
            let _ = line.parse::<pavior::strategies::Selection>();
            let _ = line.parse::<pavior::scheduling::Selection>();
        }
    }
}

fn harmless(name: &str, message: &str) {
    let hidden = |c: char| c.is_control() && c != '\n';
    assert!(!message.contains(hidden) && message.chars().count() < 1000, "{name}: {message:?}");
}

/// Returns the duration of the test and the seed for the mutations.
fn plan() -> (Duration, u64) {
    match std::env::var("PAVIOR_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (Duration::from_secs(seconds), now.as_secs())
        }
        None => (Duration::from_secs(2), 1),
    }
}

#[test]
fn no_parser_panics_on_changed_inputs() {
    let (length, seed) = plan();
    let (began, corpus) = (Instant::now(), corpus());
    let (mut draw, mut tried) = (Draw(seed), 0u64);
    while tried < 500 || began.elapsed() < length {
        let (name, bytes) = &corpus[draw.below(corpus.len())];
        let bytes = mutated(&mut draw, bytes);
        let result = std::panic::catch_unwind(|| parse(name, &bytes));
        assert!(result.is_ok(), "{name}, seed {seed}, input {tried}: {}", bytes.escape_ascii());
        tried += 1;
    }
    println!("{tried} inputs, none failed (seed {seed})");
}

#[test]
fn every_mutated_protocol_line_gets_an_answer() {
    let (_, seed) = plan();
    let corpus = corpus();
    let (_, lines) = corpus.iter().find(|(name, _)| name == "protocol.jsonl").unwrap();
    let mut draw = Draw(seed);
    let mut input = String::new();
    let all: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
    for _ in 0..2000 {
        let chosen = draw.below(all.len());
        let line = mutated(&mut draw, all[chosen]);
        input += &String::from_utf8_lossy(&line).replace('\n', " ");
        input.push('\n');
    }
    input.pop();
    let answers = crate::allocate::answers("mesh:4x4", "ff", &[&input]);
    assert_eq!(answers.len(), 2000);
    for answer in answers {
        harmless("protocol", answer["error"].as_str().unwrap_or_default());
    }
}
