//! The steps in `cargo xtask check`, in a single table, cheapest steps first.

use std::fmt::Write as _;
use std::path::Path;

use crate::{
    Problems, blocks, browser, dependencies, kinds, layers, links, long, messages, openapi,
};
use crate::{packaging, process, programs, python, sharing, tidy, viewer};

pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The typical duration in seconds on two idle cores when earlier builds are reused.
    seconds: u32,
    /// The number of cores that the step occupies while it runs.
    pub(crate) cores: usize,
    /// The names of prerequisite steps, separated by spaces.
    after: &'static str,
    pub(crate) does: &'static str,
    work: Work,
}

/// The number of cores shared by computing steps.
pub(crate) const BOTH: usize = 2;
const ONE: usize = 1;
/// The value of [`Step::cores`] for a step that mostly waits and can run alongside computing steps.
pub(crate) const WAIT: usize = 0;

/// The packaging steps, which run only in `.ci/run` or when they are named explicitly.
pub(crate) const PACKAGING: [&str; 2] = ["package", "release"];

#[derive(Clone, Copy)]
enum Work {
    /// Cargo commands, run in order.
    Cargo(&'static [&'static str]),
    /// Integration tests, which mostly wait, of the package in this directory.
    Waiting(&'static str),
    Own(fn(&Path) -> Problems),
    /// Preparations for later steps, which report what is missing.
    Prepare(fn(&Path)),
}
use Work::{Cargo, Own, Prepare, Waiting};

impl Step {
    pub(crate) fn follows(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.after.split_whitespace()
    }
}

/// All steps. Most cargo steps use all features, so that dependencies have to be built only once.
#[rustfmt::skip]
pub(crate) const STEPS: &[Step] = &[
    Step { name: "tidy", seconds: 1, cores: ONE, after: "",
        does: "check line lengths, banned calls, comments and the line budget",
        work: Own(tidy::problems) },
    Step { name: "layers", seconds: 1, cores: ONE, after: "",
        does: "check the direction of dependencies between crates",
        work: Own(layers::problems) },
    Step { name: "kinds", seconds: 1, cores: ONE, after: "",
        does: "check that docs/README.md lists each page under one kind",
        work: Own(|root| Ok(kinds::problems(root))) },
    Step { name: "links", seconds: 1, cores: ONE, after: "",
        does: "check the links and images on all pages",
        work: Own(|root| Ok(links::problems(root))) },
    Step { name: "messages", seconds: 1, cores: ONE, after: "",
        does: "check that the program has the messages in docs/troubleshooting.md",
        work: Own(messages::problems) },
    Step { name: "licenses", seconds: 1, cores: ONE, after: "",
        does: "check the licenses and versions of dependencies",
        work: Own(dependencies::problems) },
    Step { name: "metadata", seconds: 1, cores: ONE, after: "",
        does: "check package metadata and the minimum Rust version",
        work: Own(packaging::crates::problems) },
    Step { name: "sharing", seconds: 4, cores: ONE, after: "",
        does: "check that all builds use the same dependency features",
        work: Own(sharing::problems) },
    Step { name: "formatting", seconds: 5, cores: ONE, after: "",
        does: "run rustfmt", work: Cargo(&["fmt --all --check"]) },
    // These steps wait for downloads, or build programs that later runs reuse.
    Step { name: "environment", seconds: 1, cores: WAIT, after: "",
        does: "create the Python environment for the checks",
        work: Prepare(python::prepare) },
    Step { name: "slurms", seconds: 1, cores: WAIT, after: "",
        does: "install the Slurm releases", work: Prepare(long::prepare_slurm) },
    Step { name: "controllers", seconds: 1, cores: WAIT, after: "",
        does: "build the Kubernetes control plane",
        work: Prepare(long::prepare_kube) },
    Step { name: "clean", seconds: 1, cores: WAIT, after: "",
        does: "install a clean Debian 13", work: Prepare(packaging::prepare) },
    Step { name: "viewer", seconds: 30, cores: ONE, after: "",
        does: "check that npm rebuilds the same page bundle",
        work: Own(viewer::problems) },
    Step { name: "build", seconds: 120, cores: BOTH, after: "",
        does: "build all tests, the examples and the program",
        work: Own(programs::build) },
    Step { name: "serve", seconds: 200, cores: WAIT, after: "build viewer",
        does: "test the service, with a browser and PostgreSQL",
        work: Waiting("apps/serve") },
    Step { name: "slurm", seconds: 400, cores: WAIT, after: "build slurms viewer",
        does: "test the daemon on real Slurm clusters",
        work: Waiting("apps/slurm") },
    Step { name: "kube", seconds: 400, cores: WAIT, after: "build controllers viewer",
        does: "test the daemon on a real Kubernetes control plane", work: Waiting("apps/kube") },
    Step { name: "clippy", seconds: 60, cores: BOTH, after: "",
        does: "run clippy on all targets", work: Cargo(&[
        "clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        // These measurements run only when selected by name.
        "clippy --workspace --all-features --test speed --quiet -- -D warnings",
    ]) },
    Step { name: "tests", seconds: 300, cores: BOTH, after: "build",
        does: "run all other tests", work: Own(programs::others) },
    Step { name: "doctests", seconds: 60, cores: BOTH, after: "",
        does: "run the examples in doc comments", work: Cargo(&[
        "test --workspace --all-features --no-fail-fast --quiet --doc",
    ]) },
    // The program and the facade are both named pavior, so their documentation would conflict.
    Step { name: "documentation", seconds: 60, cores: BOTH, after: "",
        does: "check for rustdoc warnings", work: Cargo(&[
        "doc --package pavior-cli --all-features --no-deps --quiet",
        "doc --workspace --exclude pavior-cli --all-features --no-deps --quiet",
    ]) },
    Step { name: "instructions", seconds: 120, cores: BOTH, after: "",
        does: "compare instruction counts with the stored counts", work: Cargo(&[
        "bench --quiet -p pavior-allocation -p pavior-scheduling -p pavior-answers \
         --bench instructions --bench growth --bench refusal -- check",
        "bench --quiet --profile dev --workspace --all-features --bench event -- check",
    ]) },
    Step { name: "memory", seconds: 20, cores: ONE, after: "build",
        does: "test the unsafe call under valgrind",
        work: Own(programs::memory) },
    Step { name: "browser", seconds: 90, cores: ONE, after: "build viewer",
        does: "build the page that runs the engine, and test it in Chromium and Node",
        work: Own(browser::problems) },
    Step { name: "readme", seconds: 60, cores: ONE, after: "build",
        does: "run, in a fresh clone, the shell blocks in the README and on selected pages",
        work: Own(|root| blocks::problems(root, process::program_of_tests)) },
    Step { name: "python", seconds: 240, cores: ONE, after: "build environment browser",
        does: "build and test the Python package, and build the site",
        work: Own(python::problems) },
    Step { name: "openapi", seconds: 120, cores: ONE, after: "build environment",
        does: "test the service's OpenAPI document with schemathesis and a generated client",
        work: Own(openapi::problems) },
    Step { name: "package", seconds: 100, cores: BOTH, after: "",
        does: "package all crates, and compile the packages",
        work: Own(packaging::crates::pack) },
    Step { name: "release", seconds: 60, cores: ONE, after: "build python clean",
        does: "build a release, and install and use it on a clean Debian 13",
        work: Own(packaging::check) },
    // This step is last because it replaces the tested program with one that has fewer features.
    Step { name: "features", seconds: 60, cores: BOTH, after: "tests serve slurm kube readme \
         openapi",
        does: "run clippy and test the help with fewer features enabled", work: Cargo(&[
        "clippy --package pavior --quiet -- -D warnings",
        "clippy --package pavior-cli --all-targets --quiet -- -D warnings",
        "clippy --package pavior-cli --features serve --all-targets --quiet -- -D warnings",
        "test --package pavior-cli --quiet --test it features::",
    ]) },
];

pub(crate) fn run(root: &Path, name: &str) -> Problems {
    let cargo = |words: &&str| process::run(&mut process::checked(root, words)).err();
    match named(name)?.work {
        Own(work) => work(root),
        Prepare(prepare) => {
            prepare(root);
            Ok(Vec::new())
        }
        Waiting(folder) => programs::waiting(root, folder),
        Cargo(commands) => Ok(commands.iter().filter_map(cargo).collect()),
    }
}

/// Returns the step with a given name, or an error that lists all steps.
pub(crate) fn named(name: &str) -> Result<&'static Step, String> {
    let step = STEPS.iter().find(|step| step.name == name);
    step.ok_or_else(|| format!("no such step: `{name}`{}", list()))
}

pub(crate) fn list() -> String {
    let mut text = "\n\nSteps and their times in seconds:\n".to_string();
    for step in STEPS {
        let _ = write!(text, "\n  {:14}{:4}  {}", step.name, step.seconds, step.does);
    }
    text
}

/// Returns true if the integration tests of the package in the given directory are a separate step.
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
