//! Tests with arbitrary comments and arbitrary `squeue` output.

use pavior_trials::{attacked, size};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::string::string_regex;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

use super::tests::{MARK, NAME, line, parse, waiting};
use super::*;

/// The jobs in the records.
const NAMES: [&str; 4] = ["7", "8_1", "9", "10"];

/// Generates arbitrary bytes, lines in the format of records, and text that almost contains the
/// mark.
fn comments() -> impl Strategy<Value = Vec<u8>> {
    let record = "\n(M)?(9|7_3|x)\\|(R|PD|CG)\\|None\\|1\\|4\\|n\\[0-2\\]\\|\\|17\\|1:00\\|1\\|";
    let nearly = format!("[\n\r|M]?({}|9|PD|None|n0|1:00){{0,14}}\n?", &MARK[..31]);
    let text = |pattern: &str| string_regex(pattern).unwrap().prop_map(String::into_bytes);
    prop_oneof![vec(any::<u8>(), 0..200), text(&format!("({record}){{0,3}}.*")), text(&nearly),]
}

fn without_comment(mut job: SlurmJob) -> SlurmJob {
    job.comment = Ok(String::new());
    job
}

fn check_other_fields(comments: &[Vec<u8>]) -> TestCaseResult {
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for (name, comment) in NAMES.iter().zip(comments) {
        // Slurm prints raw bytes, which may be invalid UTF-8.
        let empty = line(&waiting(&[('i', name)]), "");
        let (before, behind) = empty.split_at(empty.len() - MARK.len() - 1);
        bytes.extend([before.as_bytes(), comment, behind.as_bytes()].concat());
        expected.push(parse(&empty).0.remove(0));
    }
    let (jobs, unreadable) = read(&String::from_utf8_lossy(&bytes), &Mark::of(MARK)).unwrap();
    let jobs: Vec<SlurmJob> = jobs.into_iter().map(without_comment).collect();
    prop_assert_eq!(jobs, expected);
    prop_assert!(unreadable.iter().all(|record| record.fault == CONTROL_CHARACTERS));
    Ok(())
}

/// Checks that corrupted output yields no job other than the original one.
fn check_corrupted(noise: &[u8], at: usize) -> TestCaseResult {
    let noise = String::from_utf8_lossy(noise).into_owned();
    let whole = line(&waiting(&[]), &noise);
    let place = whole.match_indices(MARK).nth(at % (FIELD_COUNT + 1)).map_or(0, |(place, _)| place);
    let broken = whole[..place].to_string() + &noise + &whole[place + MARK.len()..];
    for text in [noise.clone() + &whole, broken, noise] {
        if let Ok((jobs, _)) = read(&text, &Mark::of(MARK)) {
            prop_assert!(jobs.iter().all(|job| job.name.to_string() == NAME));
        }
    }
    Ok(())
}

/// Tests a property with many random values and reports the result as an attack.
fn run_attack<S: Strategy>(attack: &str, any: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    let tried = size(1000, 1000, 100_000);
    let config = Config { failure_persistence: None, ..Config::with_cases(tried as u32) };
    let outcome = TestRunner::new(config).run(any, property);
    if let Err(fault) = &outcome {
        println!("{fault}");
    }
    attacked("slurm", attack, tried, usize::from(outcome.is_err()));
}

#[test]
fn comments_do_not_change_other_fields() {
    let attack = "arbitrary comments change other fields or jobs";
    run_attack(attack, &vec(comments(), 1..5), |comments| check_other_fields(&comments));
}

#[test]
fn corrupted_output_adds_no_job() {
    let attack = "squeue output corrupted at any point";
    let any = (vec(any::<u8>(), 0..200), 0..FIELD_COUNT + 1);
    run_attack(attack, &any, |(noise, at)| check_corrupted(&noise, at));
}
