//! The steps of `cargo xtask check`: a single table that begins with the cheapest steps.

use std::fmt::Write as _;
use std::path::Path;

use crate::{blocks, browser, dependencies, kinds, layers, links, long, messages, openapi};
use crate::{packaging, process, programs, python, sharing, tidy, viewer};

pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The time, in seconds, on two idle cores with reused builds.
    seconds: u32,
    /// The number of cores that other computing steps cannot use.
    pub(crate) cores: usize,
    /// The names of prerequisite steps, separated by spaces.
    after: &'static str,
    pub(crate) does: &'static str,
    work: Work,
}

/// The number of cores shared by computing steps.
pub(crate) const BOTH: usize = 2;
const ONE: usize = 1;
/// The value of [`Step::cores`] for a step that mostly waits, and runs alongside computing ones.
pub(crate) const WAIT: usize = 0;

/// The packaging steps. They run only in `.ci/run`, or if they are named.
pub(crate) const PACKAGING: [&str; 2] = ["package", "release"];

#[derive(Clone, Copy)]
enum Work {
    /// Cargo commands, run in order.
    Cargo(&'static [&'static str]),
    /// The integration tests of the package in this folder, which mostly wait.
    Waiting(&'static str),
    Own(fn(&Path) -> Vec<String>),
}
use Work::{Cargo, Own, Waiting};

const fn step(
    name: &'static str,
    seconds: u32,
    cores: usize,
    after: &'static str,
    does: &'static str,
    work: Work,
) -> Step {
    Step { name, seconds, cores, after, does, work }
}

impl Step {
    pub(crate) fn follows(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.after.split_whitespace()
    }
}

/// All steps. Cargo steps use all features, to build dependencies only once.
#[rustfmt::skip]
pub(crate) const STEPS: &[Step] = &[
    step("tidy", 1, ONE, "", "check line lengths, banned calls, comments and the line budget",
        Own(tidy::problems)),
    step("layers", 1, ONE, "", "check the direction of dependencies between crates",
        Own(layers::problems)),
    step("kinds", 1, ONE, "", "check that docs/README.md lists each page under one kind",
        Own(kinds::problems)),
    step("links", 1, ONE, "", "check the links and images of all pages", Own(links::problems)),
    step("messages", 1, ONE, "", "check that the messages in docs/troubleshooting.md exist",
        Own(messages::problems)),
    step("licenses", 1, ONE, "", "check the licenses and versions of dependencies",
        Own(dependencies::problems)),
    step("metadata", 1, ONE, "", "check the metadata of packages and the minimum Rust version",
        Own(packaging::crates::problems)),
    step("sharing", 4, ONE, "", "check that all builds use the same dependency features",
        Own(sharing::problems)),
    step("formatting", 5, ONE, "", "run rustfmt", Cargo(&["fmt --all --check"])),
    // These steps wait for downloads, or build programs that later runs reuse.
    step("environment", 1, WAIT, "", "create the Python environment of the checks",
        Own(python::prepare)),
    step("slurms", 1, WAIT, "", "install the Slurm releases", Own(long::prepare_slurm)),
    step("controllers", 1, WAIT, "", "build the Kubernetes control plane",
        Own(long::prepare_kube)),
    step("clean", 1, WAIT, "", "install a clean Debian 13", Own(packaging::prepare)),
    step("viewer", 30, ONE, "", "rebuild the page bundle with npm, and compare it",
        Own(viewer::problems)),
    step("build", 120, BOTH, "", "build all tests, the examples and the program",
        Own(programs::build)),
    step("serve", 200, WAIT, "build viewer", "test the service, with a browser and PostgreSQL",
        Waiting("apps/serve")),
    step("slurm", 400, WAIT, "build slurms viewer", "test the daemon on real Slurm clusters",
        Waiting("apps/slurm")),
    step("kube", 400, WAIT, "build controllers viewer",
        "test the daemon on a real Kubernetes control plane", Waiting("apps/kube")),
    step("clippy", 60, BOTH, "", "run clippy on all targets", Cargo(&[
        "clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        // These measurements run only if they are selected by name.
        "clippy --workspace --all-features --test speed --quiet -- -D warnings",
    ])),
    step("tests", 300, BOTH, "build", "run all other tests", Own(programs::others)),
    step("doctests", 60, BOTH, "", "run the examples in doc comments", Cargo(&[
        "test --workspace --all-features --no-fail-fast --quiet --doc",
    ])),
    // The program and the facade are both named pavior, so their documentation would collide.
    step("documentation", 60, BOTH, "", "run rustdoc without warnings", Cargo(&[
        "doc --package pavior-cli --all-features --no-deps --quiet",
        "doc --workspace --exclude pavior-cli --all-features --no-deps --quiet",
    ])),
    step("instructions", 120, BOTH, "", "compare instruction counts with stored ones", Cargo(&[
        "bench --quiet -p pavior-allocation -p pavior-scheduling -p pavior-answers \
         --bench instructions --bench growth --bench refusal -- check",
        "bench --quiet --profile dev --workspace --all-features --bench event -- check",
    ])),
    step("memory", 20, ONE, "build", "run tests of the unsafe call under valgrind",
        Own(programs::memory)),
    step("browser", 90, ONE, "build viewer",
        "build and test the page that runs the engine, in Chromium and Node",
        Own(browser::problems)),
    step("readme", 60, ONE, "build",
        "run the shell blocks in the README and on the first pages in a fresh clone",
        Own(|root| blocks::problems(root, process::program))),
    step("python", 240, ONE, "build environment browser",
        "build and test the Python package, and build the site", Own(python::problems)),
    step("openapi", 120, ONE, "build environment",
        "test the service's OpenAPI document with schemathesis and a generated client",
        Own(openapi::problems)),
    step("package", 100, BOTH, "", "pack all packages, and compile the packed sources",
        Own(packaging::crates::pack)),
    step("release", 60, ONE, "build python clean",
        "make a release, and install and use it in a clean Debian 13", Own(packaging::check)),
    // This step is last, because it replaces the tested program with one that has fewer features.
    step("features", 60, BOTH, "tests serve slurm kube readme openapi",
        "run clippy with fewer features, and test the help without them", Cargo(&[
        "clippy --package pavior --quiet -- -D warnings",
        "clippy --package pavior-cli --all-targets --quiet -- -D warnings",
        "clippy --package pavior-cli --features serve --all-targets --quiet -- -D warnings",
        "test --package pavior-cli --quiet --test it doors::",
    ])),
];

pub(crate) fn run(root: &Path, name: &str) -> Vec<String> {
    let cargo = |words: &&str| process::run(&mut process::checked(root, words)).err();
    match named(name).map(|step| step.work) {
        Err(problem) => vec![problem],
        Ok(Own(work)) => work(root),
        Ok(Waiting(folder)) => programs::waiting(root, folder),
        Ok(Cargo(commands)) => commands.iter().filter_map(cargo).collect(),
    }
}

/// Returns a step, or an error that lists all steps.
pub(crate) fn named(name: &str) -> Result<&'static Step, String> {
    let step = STEPS.iter().find(|step| step.name == name);
    step.ok_or_else(|| format!("there is no step `{name}`{}", list()))
}

pub(crate) fn list() -> String {
    let mut text = "\n\nSteps, with their time in seconds:\n".to_string();
    for step in STEPS {
        let _ = write!(text, "\n  {:14}{:4}  {}", step.name, step.seconds, step.does);
    }
    text
}

/// Returns true if the integration tests of the package in a folder are a separate step.
pub(crate) fn waits(folder: &str) -> bool {
    STEPS.iter().any(|step| matches!(step.work, Waiting(own) if own == folder))
}

#[test]
fn steps_follow_earlier_ones() {
    for (index, step) in STEPS.iter().enumerate() {
        let is_earlier = |name: &str| STEPS[..index].iter().any(|step| step.name == name);
        assert!(step.follows().all(is_earlier), "{}", step.name);
        assert!(!is_earlier(step.name), "{} appears twice", step.name);
    }
}
