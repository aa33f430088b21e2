//! Long tests that are run manually: claims of strategies, attacks, hostile values, mutated inputs.

use std::path::Path;

use crate::cargo::{LONG, run_with};
use crate::notes;

/// The package of the command line.
const PROGRAM: &str = "pavior-cli";

/// Checks the claims of all strategies, or of the named ones, on all occupancies of small machines.
pub(crate) fn exhaustive(root: &Path, names: &[String]) -> Vec<String> {
    example(root, &["--release"], "exhaustive", names)
}

/// Checks the claims of the named strategies.
pub(crate) fn conformance(root: &Path, names: &[String]) -> Vec<String> {
    example(root, &[], "conformance", names)
}

fn example(root: &Path, profile: &[&str], name: &str, arguments: &[String]) -> Vec<String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = ["run", "--quiet", "--package", "pavior-allocation"];
    let call = [&run[..], profile, &["--example", name, "--"], &arguments].concat();
    // Not built as in the checks, because this way cargo recompiles less after a change.
    let passed = run_with(root, &call, &[]);
    problem(passed, "a claim is broken")
}

/// Tries every hostile value of every option, and every output fault; prints the counts by area.
pub(crate) fn tries(root: &Path) -> Vec<String> {
    let tests = ["test", "--quiet", "--package", PROGRAM, "--all-features", "--test", "it"];
    let tries = ["tries", "--", "--nocapture", "--test-threads", "1"];
    let passed = run_with(root, &[&tests[..], &tries].concat(), &[LONG]);
    problem(passed, "a try was not answered as it must be")
}

/// Attacks every promise with long tests and prints the attacks.
pub(crate) fn attack(root: &Path) -> Vec<String> {
    notes::begin(root);
    let mut failed = Vec::new();
    for package in ["pavior-serve", "pavior-slurm", PROGRAM] {
        // Some attacks are next to the code that they attack.
        let all = "--all-features";
        let tests = ["test", "--quiet", "--package", package, all, "--tests", "attack"];
        let alone = ["--", "--test-threads", "1"];
        let passed = run_with(root, &[&tests[..], &alone].concat(), &[LONG]);
        failed.extend(problem(passed, &format!("failed: attacks of {package}")));
    }
    println!("{}", notes::attacks(root));
    for skipped in notes::skipped(root) {
        eprintln!("NOT tried here: {skipped}");
    }
    failed
}

/// Feeds mutated inputs to every parser for some minutes.
pub(crate) fn fuzz(root: &Path, minutes: Option<&str>) -> Vec<String> {
    let Ok(minutes) = minutes.map_or(Ok(1), str::parse::<u64>) else {
        return vec!["cargo xtask fuzz MINUTES: a whole number".to_string()];
    };
    let tests = ["test", "--quiet", "--package", PROGRAM, "--all-features", "--test", "it"];
    let mutations = ["mutations", "--", "--nocapture"];
    let seconds = (60 * minutes).to_string();
    let variables = [("PAVIOR_FUZZ_SECONDS", seconds.as_str())];
    let passed = run_with(root, &[&tests[..], &mutations].concat(), &variables);
    problem(passed, "an input was not read as it must be")
}

fn problem(passed: bool, problem: &str) -> Vec<String> {
    if passed { Vec::new() } else { vec![problem.to_string()] }
}
