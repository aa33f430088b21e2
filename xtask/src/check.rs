//! Everything that must hold before a change lands, in one command.

use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::Instant;

use crate::cargo::{program, report, run as cargo, run_with};
use crate::{
    blocks, dependencies, dist, docs, kinds, kube, layers, links, messages, notes, openapi,
    packages, python, sharing, slurm, tidy, viewer,
};

/// What a step is, and the cargo arguments.
type Step = (&'static str, &'static [&'static str]);

/// Steps before the tests.
const FIRST: &[Step] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    // All features in all steps, so that what several steps need is built once.
    (
        "lints",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    ),
];

/// The tests of all packages. Those of real Slurms wait far more than they compute: they run beside
/// the others.
const TESTS: &[&str] = &["test", "--workspace", "--all-features", "--no-fail-fast"];

/// Steps after the tests.
const STEPS: &[Step] = &[
    (
        "lints of what is measured by hand",
        &[
            "clippy",
            "--workspace",
            "--all-features",
            "--test",
            "speed",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "the library with its default features",
        &["clippy", "--package", "pavior", "--quiet", "--", "-D", "warnings"],
    ),
    (
        "instructions of fixed sets: questions to strategies, EASY, refusals",
        &[
            "bench",
            "--quiet",
            "--package",
            "pavior-allocation",
            "--package",
            "pavior-scheduling",
            "--package",
            "pavior-planning",
            "--bench",
            "instructions",
            "--bench",
            "growth",
            "--bench",
            "refusal",
            "--",
            "check",
        ],
    ),
    (
        "instructions of fixed sets: an event to watchers, as the tests are built",
        &[
            "bench",
            "--quiet",
            "--profile",
            "dev",
            "--workspace",
            "--all-features",
            "--bench",
            "event",
            "--",
            "check",
        ],
    ),
    (
        "the program with its default features: without doors to other programs",
        &["clippy", "--package", PROGRAM, "--all-targets", "--quiet", "--", "-D", "warnings"],
    ),
    (
        "what it says of the doors that it lacks",
        &["test", "--package", PROGRAM, "--quiet", "--test", "it", "doors::"],
    ),
    (
        "the service without PostgreSQL",
        &[
            "clippy",
            "--package",
            PROGRAM,
            "--features",
            "serve",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // The program and the facade have one name, and so one folder of pages: one after the other.
    (
        "documentation of the program",
        &["doc", "--package", "pavior-cli", "--all-features", "--no-deps", "--quiet"],
    ),
    (
        "documentation",
        &[
            "doc",
            "--workspace",
            "--exclude",
            "pavior-cli",
            "--all-features",
            "--no-deps",
            "--quiet",
        ],
    ),
];

/// The package of the command line.
const PROGRAM: &str = "pavior-cli";

/// Runs all checks, and returns what failed.
pub(crate) fn run(root: &Path) -> Vec<String> {
    notes::begin(root);
    let mut failed = Vec::new();
    let began = Instant::now();
    let announce = |step: &str| eprintln!("== {step} (after {} s)", began.elapsed().as_secs());
    // It waits for a package index, and nothing waits for it before the last step.
    let environment = beside(root, python::prepare);
    // Some of the releases are downloaded, which takes minutes.
    let releases = beside(root, slurm::prepare);
    // A control plane is built, which takes minutes where none was built before.
    let control_plane = beside(root, kube::prepare);
    // A Debian that the release is tried in is downloaded.
    let clean = beside(root, dist::prepare);
    let own = [
        ("tidy", tidy::problems(root)),
        ("layers", layers::problems(root)),
        ("pages of strategies", docs::problems(root)),
        ("kinds of the pages", kinds::problems(root)),
        ("links of the pages", links::problems(root)),
        ("messages that docs/troubleshooting.md quotes", messages::problems(root)),
        ("licences and versions of dependencies", dependencies::problems(root)),
        ("metadata of packages, minimum Rust version", packages::problems(root)),
        ("what doors share of what is compiled", sharing::problems(root)),
    ];
    for (name, problems) in own {
        announce(name);
        failed.extend(problems);
    }
    // Before the tests, which look at the page with what npm installs here.
    announce("the page's bundle, built anew by npm");
    failed.extend(viewer::problems(root));
    let step = |(name, arguments): &Step| {
        announce(&format!("{name}: cargo {}", arguments.join(" ")));
        let failed = || format!("failed: {name} (cargo {})", arguments.join(" "));
        (!cargo(root, arguments)).then(failed)
    };
    failed.extend(FIRST.iter().filter_map(step));
    end_of(control_plane);
    failed.extend(tests(root, &announce));
    failed.extend(STEPS.iter().filter_map(step));
    announce("the shell blocks of README and first pages, in a fresh clone");
    match program(root) {
        Ok(program) => failed.extend(blocks::problems(root, &program)),
        Err(problem) => failed.push(problem),
    }
    announce("packages: cargo package --workspace, and all compiled from what is packed");
    failed.extend(packages::pack(root));
    announce("the one unsafe call under Miri, or valgrind");
    failed.extend(memory(root));
    announce("Python package");
    end_of(environment);
    failed.extend(python::problems(root));
    announce("OpenAPI document of pavior serve");
    failed.extend(openapi::problems(root));
    announce("what a release has, installed and used in a clean Debian 13");
    end_of(clean);
    failed.extend(dist::check(root));
    end_of(releases);
    failed.extend(end(root, failed.is_empty(), &announce));
    failed
}

/// Does something in a thread of its own.
fn beside(root: &Path, work: fn(&Path)) -> JoinHandle<()> {
    let root = root.to_path_buf();
    std::thread::spawn(move || work(&root))
}

fn end_of(work: JoinHandle<()>) {
    work.join().expect("what prepares does not panic");
}

/// Says what was not tried; why that is a failure, where it is one.
fn end(root: &Path, passed: bool, announce: &dyn Fn(&str)) -> Option<String> {
    if !passed {
        return None;
    }
    let verdict = notes::verdict(&notes::skipped(root), notes::all_required());
    verdict.map(|end| announce(&end)).err()
}

/// Runs all tests, those of real Slurms beside the others.
fn tests(root: &Path, announce: &dyn Fn(&str)) -> Vec<String> {
    announce("tests and examples of the docs: what they need is built");
    let built = [TESTS, &["--no-run", "--quiet"]].concat();
    if !cargo(root, &built) {
        return vec!["failed: a test cannot be built".to_string()];
    }
    announce(&format!("tests and examples of the docs: cargo {}", TESTS.join(" ")));
    let slurm = {
        let root = root.to_path_buf();
        let arguments = [TESTS, &["--quiet", "--test", "it", "--"], slurm::TESTS].concat();
        std::thread::spawn(move || report(&root, &arguments, false))
    };
    let skipped = slurm::TESTS.iter().flat_map(|name| ["--skip", name]);
    let others: Vec<&str> = TESTS.iter().copied().chain(["--"]).chain(skipped).collect();
    let (said, passed) = report(root, &others, true);
    let of = format!("tests and examples of the docs (cargo {})", TESTS.join(" "));
    let mut failed = failures(&of, &said, passed);
    announce("tests of real Slurms, which ran beside these: the end is waited for");
    let (said, passed) = slurm.join().expect("a thread that runs a program does not panic");
    print!("{said}");
    failed.extend(failures("tests of real Slurms", &said, passed));
    failed
}

/// What failed of tests, with the first words of each, so that the end of a long run says why.
fn failures(of: &str, said: &str, passed: bool) -> Vec<String> {
    const WORDS: usize = 1200;
    if passed {
        return Vec::new();
    }
    let short = |told: &str| told.chars().take(WORDS).collect::<String>();
    let told = said.split("\n---- ").skip(1).map(|told| format!("---- {}", short(told)));
    told.chain([format!("failed: {of}")]).collect()
}

/// Runs the exhaustive conformance suite, of all strategies or of those named.
pub(crate) fn exhaustive(root: &Path, names: &[String]) -> Vec<String> {
    example(root, &["--release"], "exhaustive", names)
}

/// Runs the conformance suite of the strategies named, in the profile that tests are built in.
pub(crate) fn conformance(root: &Path, names: &[String]) -> Vec<String> {
    example(root, &[], "conformance", names)
}

fn example(root: &Path, profile: &[&str], name: &str, arguments: &[String]) -> Vec<String> {
    let arguments = arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = ["run", "--quiet", "--package", "pavior-allocation"]
        .into_iter()
        .chain(profile.iter().copied())
        .chain(["--example", name, "--"])
        .chain(arguments)
        .collect();
    if cargo(root, &arguments) { Vec::new() } else { vec!["a claim is broken".to_string()] }
}

/// Tries every hostile value of every option, and every fault of outputs; prints the counts by
/// area.
pub(crate) fn tries(root: &Path) -> Vec<String> {
    let tests = ["test", "--quiet", "--package", PROGRAM, "--all-features", "--test", "it"];
    let tries = ["tries", "--", "--nocapture", "--test-threads", "1"];
    if run_with(root, &[&tests[..], &tries].concat(), &[("PAVIOR_TRIES", "all")]) {
        Vec::new()
    } else {
        vec!["a try was not answered as it must be".to_string()]
    }
}

/// Attacks every promise at length, and prints what was tried.
pub(crate) fn attack(root: &Path) -> Vec<String> {
    notes::begin(root);
    let mut failed = Vec::new();
    for package in ["pavior-serve", "pavior-slurm", PROGRAM] {
        // Some attacks stand beside the code that they try.
        let all = "--all-features";
        let tests = ["test", "--quiet", "--package", package, all, "--tests", "attack"];
        let alone = ["--", "--test-threads", "1"];
        if !run_with(root, &[&tests[..], &alone].concat(), &[("PAVIOR_ATTACK", "long")]) {
            failed.push(format!("failed: attacks of {package}"));
        }
    }
    println!("{}", notes::attacks(root));
    for skipped in notes::skipped(root) {
        eprintln!("NOT tried here: {skipped}");
    }
    failed
}

/// Tries changed inputs on every parser for some minutes.
pub(crate) fn fuzz(root: &Path, minutes: Option<&str>) -> Vec<String> {
    let Ok(minutes) = minutes.unwrap_or("1").parse::<u64>() else {
        return vec!["cargo xtask fuzz MINUTES: a whole number".to_string()];
    };
    let tests = ["test", "--quiet", "--package", PROGRAM, "--all-features", "--test", "it"];
    let mutations = ["mutations", "--", "--nocapture"];
    let seconds = (60 * minutes).to_string();
    let variables = [("PAVIOR_FUZZ_SECONDS", seconds.as_str())];
    if run_with(root, &[&tests[..], &mutations].concat(), &variables) {
        Vec::new()
    } else {
        vec!["an input was not read as it must be".to_string()]
    }
}

/// The features that the call of `mesh/src/search/vectors.rs` asks the processor for. Miri answers
/// that question from the flags of the compiler.
const VECTORS: &str = "-C target-feature=+avx2,+bmi1,+bmi2,+lzcnt,+popcnt";

const VECTOR_TESTS: [&str; 6] =
    ["test", "--quiet", "--package", "pavior-mesh", "--lib", "search::vectors"];

/// Runs the tests of the vectors under Miri, where a nightly toolchain has it, or else under
/// valgrind.
fn memory(root: &Path) -> Vec<String> {
    let miri = |arguments: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).args(arguments);
        command.current_dir(root).env("RUSTFLAGS", VECTORS);
        command
    };
    let is_there = |mut command: Command| command.output().is_ok_and(|said| said.status.success());
    if is_there(miri(&["--version"])) {
        let passed = miri(&VECTOR_TESTS).status().is_ok_and(|status| status.success());
        return if passed { Vec::new() } else { vec!["failed: Miri".to_string()] };
    }
    let mut version = Command::new("valgrind");
    version.arg("--version");
    if !is_there(version) {
        let why = "neither a nightly toolchain with Miri nor valgrind";
        notes::skip(root, "the one unsafe call", why);
        return Vec::new();
    }
    let runner = format!("CARGO_TARGET_{}_RUNNER", host().to_uppercase().replace('-', "_"));
    let valgrind = "valgrind --quiet --error-exitcode=1";
    if run_with(root, &VECTOR_TESTS, &[(&runner, valgrind)]) {
        Vec::new()
    } else {
        vec!["failed: the vectors under valgrind".to_string()]
    }
}

/// The platform that the compiler builds for.
fn host() -> String {
    let version = Command::new("rustc").arg("-vV").output();
    let text = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_told_in_a_few_words() {
        let said =
            format!("\n---- a::b stdout ----\n{}\n\n---- c stdout ----\nwhy\n", "x".repeat(9999));
        let told = failures("tests", &said, false);
        assert_eq!(told.len(), 3);
        assert!(told[0].starts_with("---- a::b stdout ----\nxxx") && told[0].len() < 1300);
        assert_eq!((&*told[1], &*told[2]), ("---- c stdout ----\nwhy\n", "failed: tests"));
        assert_eq!(failures("tests", &said, true), Vec::<String>::new());
    }
}
