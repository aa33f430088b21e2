//! The steps of `cargo xtask check`: a single table, with the cheapest step first.

use std::fmt::Write as _;
use std::path::Path;

use crate::{
    blocks, browser, dependencies, kinds, layers, links, long, messages, openapi, packages,
};
use crate::{process, programs, python, release, sharing, tidy, viewer};

/// A step in the checks.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The time in seconds on two idle cores, reusing earlier builds.
    seconds: u32,
    pub(crate) uses: Uses,
    /// Names of steps that must finish before this one begins, separated by spaces.
    after: &'static str,
    pub(crate) does: &'static str,
    work: Work,
    /// True if the step tests packaging: it runs under `.ci/run`, or when named.
    pub(crate) packaging: bool,
}

/// The cores that a step uses.
#[derive(Clone, Copy)]
pub(crate) enum Uses {
    Both,
    One,
    /// The step waits far more than it computes, and runs while others compute.
    Wait,
}
use Uses::{Both, One, Wait};

#[derive(Clone, Copy)]
enum Work {
    /// Cargo commands, run one at a time.
    Cargo(&'static [&'static str]),
    /// The integration tests of the package in a folder, which wait far more than they compute.
    Waiting(&'static str),
    Own(fn(&Path) -> Vec<String>),
}
use Work::{Cargo, Own, Waiting};

const fn step(
    name: &'static str,
    seconds: u32,
    uses: Uses,
    after: &'static str,
    does: &'static str,
    work: Work,
) -> Step {
    Step { name, seconds, uses, after, does, work, packaging: false }
}

impl Step {
    const fn packaging(mut self) -> Step {
        self.packaging = true;
        self
    }

    /// Returns the names of the steps that must finish before this one begins.
    pub(crate) fn follows(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.after.split_whitespace()
    }
}

/// All steps. Cargo steps use all features, so that shared dependencies are built once.
#[rustfmt::skip]
pub(crate) const STEPS: &[Step] = &[
    step("tidy", 1, One, "", "check lengths, banned calls, comments and the line budget",
        Own(tidy::problems)),
    step("layers", 1, One, "", "check the direction of dependencies between crates",
        Own(layers::problems)),
    step("kinds", 1, One, "", "check that docs/README.md lists each page under one kind",
        Own(kinds::problems)),
    step("links", 1, One, "", "check the links and images of all pages", Own(links::problems)),
    step("messages", 1, One, "", "check that the messages in docs/troubleshooting.md exist",
        Own(messages::problems)),
    step("licenses", 1, One, "", "check the licenses and versions of dependencies",
        Own(dependencies::problems)),
    step("metadata", 1, One, "", "check the metadata of packages and the minimum Rust version",
        Own(packages::problems)),
    step("sharing", 4, One, "", "check that all builds use dependencies with the same features",
        Own(sharing::problems)),
    step("formatting", 5, One, "", "run rustfmt", Cargo(&["fmt --all --check"])),
    // These wait for downloads, or build programs that are then cached.
    step("environment", 1, Wait, "", "create the Python environment of the checks",
        Own(python::prepare)),
    step("slurms", 1, Wait, "", "install the Slurm releases", Own(long::prepare_slurm)),
    step("controllers", 1, Wait, "", "build the Kubernetes control plane",
        Own(long::prepare_kube)),
    step("clean", 1, Wait, "", "install a clean Debian 13", Own(release::prepare)),
    step("viewer", 30, One, "", "rebuild the web page's bundle by npm, and compare it",
        Own(viewer::problems)),
    step("build", 120, Both, "", "build all tests, the examples and the program",
        Own(programs::build)),
    step("serve", 200, Wait, "build viewer", "test the service, with a browser and PostgreSQL",
        Waiting("apps/serve")),
    step("slurm", 400, Wait, "build slurms viewer", "test the daemon on real Slurm clusters",
        Waiting("apps/slurm")),
    step("kube", 400, Wait, "build controllers viewer",
        "test the daemon on a real Kubernetes control plane", Waiting("apps/kube")),
    step("clippy", 60, Both, "", "run clippy on all targets", Cargo(&[
        "clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        // Measurements, which run only if selected by name.
        "clippy --workspace --all-features --test speed --quiet -- -D warnings",
    ])),
    step("tests", 300, Both, "build", "run all other tests", Own(programs::others)),
    step("doctests", 60, Both, "", "run the examples in doc comments", Cargo(&[
        "test --workspace --all-features --no-fail-fast --quiet --doc",
    ])),
    // The program and the facade have the same name, and therefore the same documentation folder.
    step("documentation", 60, Both, "", "run rustdoc without warnings", Cargo(&[
        "doc --package pavior-cli --all-features --no-deps --quiet",
        "doc --workspace --exclude pavior-cli --all-features --no-deps --quiet",
    ])),
    step("instructions", 120, Both, "", "compare instruction counts with the stored ones", Cargo(&[
        "bench --quiet -p pavior-allocation -p pavior-scheduling -p pavior-answers \
         --bench instructions --bench growth --bench refusal -- check",
        "bench --quiet --profile dev --workspace --all-features --bench event -- check",
    ])),
    step("memory", 20, One, "build", "run the tests of the unsafe call under valgrind",
        Own(programs::memory)),
    step("browser", 90, One, "build viewer",
        "build and test the page that runs the engine, in Chromium and Node",
        Own(browser::problems)),
    step("readme", 60, One, "build",
        "run the shell blocks of the README and the first pages in a fresh clone",
        Own(|root| blocks::problems(root, process::program))),
    step("python", 240, One, "build environment browser",
        "build and test the Python package, and build the site", Own(python::problems)),
    step("openapi", 120, One, "build environment",
        "test the OpenAPI document of the service with schemathesis and a generated client",
        Own(openapi::problems)),
    step("package", 100, Both, "", "pack all packages, and compile the packed sources",
        Own(packages::pack)).packaging(),
    step("release", 60, One, "build python clean",
        "make a release, and install and use it in a clean Debian 13", Own(release::check))
        .packaging(),
    // Last, because it replaces the program that tests run with one that has fewer features.
    step("features", 60, Both, "tests serve slurm kube readme openapi",
        "run clippy with fewer features, and test the help without them", Cargo(&[
        "clippy --package pavior --quiet -- -D warnings",
        "clippy --package pavior-cli --all-targets --quiet -- -D warnings",
        "clippy --package pavior-cli --features serve --all-targets --quiet -- -D warnings",
        "test --package pavior-cli --quiet --test it doors::",
    ])),
];

/// Runs one step and returns its problems.
pub(crate) fn run(root: &Path, name: &str) -> Vec<String> {
    let cargo = |words: &&str| process::run(&mut process::checked(root, words)).err();
    match named(name).map(|step| step.work) {
        Err(problem) => vec![problem],
        Ok(Own(work)) => work(root),
        Ok(Waiting(folder)) => programs::waiting(root, folder),
        Ok(Cargo(commands)) => commands.iter().filter_map(cargo).collect(),
    }
}

/// Returns a step, or an error with the list of all steps.
pub(crate) fn named(name: &str) -> Result<&'static Step, String> {
    let step = STEPS.iter().find(|step| step.name == name);
    step.ok_or_else(|| format!("there is no step `{name}`{}", list()))
}

/// Returns the list of all steps.
pub(crate) fn list() -> String {
    let mut text = "\n\nSteps, with their time in seconds:\n".to_string();
    for step in STEPS {
        let _ = write!(text, "\n  {:14}{:4}  {}", step.name, step.seconds, step.does);
    }
    text
}

/// Returns true if a package's integration tests are a separate step.
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
