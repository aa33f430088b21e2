//! The steps of `cargo xtask check`: one table, with the cheapest step first.

use std::fmt::Write as _;
use std::path::Path;

use crate::{blocks, browser, dependencies, dist, kinds, kube, layers, links, messages, openapi};
use crate::{cargo, packages, programs, python, sharing, slurm, tidy, viewer};

/// A step of the checks.
pub(crate) struct Step {
    /// The name with which `--only` selects it.
    pub(crate) name: &'static str,
    /// The time in seconds on two idle cores, reusing earlier builds.
    pub(crate) seconds: u32,
    pub(crate) uses: Uses,
    /// Names of steps that must finish before it begins, separated by spaces.
    pub(crate) after: &'static str,
    pub(crate) does: &'static str,
    work: Work,
    /// A hash of all its inputs. A step that passed is skipped as long as the hash is unchanged.
    pub(crate) inputs: Option<fn(&Path) -> String>,
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
    Own(fn(&Path) -> Vec<String>),
}
use Work::{Cargo, Own};

const fn step(
    name: &'static str,
    seconds: u32,
    uses: Uses,
    after: &'static str,
    does: &'static str,
    work: Work,
) -> Step {
    Step { name, seconds, uses, after, does, work, inputs: None }
}

impl Step {
    const fn where_changed(mut self, inputs: fn(&Path) -> String) -> Step {
        self.inputs = Some(inputs);
        self
    }

    /// Returns true if the step begins after another has ended.
    pub(crate) fn follows(&self, name: &str) -> bool {
        self.after.split_whitespace().any(|after| after == name)
    }
}

/// All steps. Cargo steps use all features, so that shared dependencies are built once.
#[rustfmt::skip]
pub(crate) const STEPS: &[Step] = &[
    step("tidy", 1, One, "", "lengths, banned calls, comments, lines", Own(tidy::problems)),
    step("layers", 1, One, "", "directions of dependencies", Own(layers::problems)),
    step("kinds", 1, One, "", "kinds of pages in docs/", Own(kinds::problems)),
    step("links", 1, One, "", "links of all pages", Own(links::problems)),
    step("messages", 1, One, "", "messages that docs/troubleshooting.md quotes",
        Own(messages::problems)),
    step("licenses", 1, One, "", "licenses and versions of dependencies",
        Own(dependencies::problems)),
    step("metadata", 1, One, "", "metadata of packages, minimum Rust version",
        Own(packages::problems)),
    step("sharing", 4, One, "", "equal features of dependencies in all builds",
        Own(sharing::problems)),
    step("formatting", 5, One, "", "rustfmt", Cargo(&["fmt --all --check"])),
    // These wait for downloads, or build programs that are then cached.
    step("environment", 1, Wait, "", "a Python with what the checks use", Own(python::prepare)),
    step("slurms", 1, Wait, "", "releases of Slurm", Own(slurm::prepare)),
    step("controllers", 1, Wait, "", "programs of Kubernetes", Own(kube::prepare)),
    step("clean", 1, Wait, "", "a clean Debian 13", Own(dist::prepare)),
    step("viewer", 30, One, "", "the page's bundle, built again by npm", Own(viewer::problems)),
    step("build", 120, Both, "", "tests, examples and the program, built", Own(programs::build)),
    step("serve", 200, Wait, "build viewer", "tests of the service, with browser and PostgreSQL",
        Own(programs::serve)),
    step("slurm", 400, Wait, "build slurms viewer", "tests of the daemon with real Slurms",
        Own(programs::slurm)),
    step("kube", 400, Wait, "build controllers viewer", "tests of the daemon with a control plane",
        Own(programs::kube)),
    step("clippy", 60, Both, "", "lints of all targets", Cargo(&[
        "clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        // Measurements, which only run if selected by name.
        "clippy --workspace --all-features --test speed --quiet -- -D warnings",
    ])),
    step("tests", 300, Both, "build", "all other tests", Own(programs::others)),
    step("doctests", 60, Both, "", "examples of items", Cargo(&[
        "test --workspace --all-features --no-fail-fast --quiet --doc",
    ])),
    // The program and the facade have the same name, and therefore the same documentation folder.
    step("documentation", 60, Both, "", "rustdoc without a warning", Cargo(&[
        "doc --package pavior-cli --all-features --no-deps --quiet",
        "doc --workspace --exclude pavior-cli --all-features --no-deps --quiet",
    ])),
    step("instructions", 120, Both, "", "instructions of fixed sets", Cargo(&[
        "bench --quiet -p pavior-allocation -p pavior-scheduling -p pavior-answers \
         --bench instructions --bench growth --bench refusal -- check",
        "bench --quiet --profile dev --workspace --all-features --bench event -- check",
    ])),
    step("memory", 20, One, "build", "the unsafe call under Miri, or valgrind",
        Own(programs::memory)),
    step("browser", 90, One, "build viewer", "the page that runs the engine, in browser and Node",
        Own(browser::problems)),
    step("readme", 60, One, "build", "shell blocks of README and first pages, in a fresh clone",
        Own(blocks::with_tested)),
    step("python", 240, One, "build environment browser", "the Python package and the site",
        Own(python::problems)),
    step("openapi", 120, One, "build environment", "the OpenAPI document of the service",
        Own(openapi::problems)),
    step("package", 100, Both, "", "packages, compiled from what is packed", Own(packages::pack))
        .where_changed(packages::inputs),
    step("release", 60, One, "build python clean", "a release in a clean Debian 13",
        Own(dist::check)).where_changed(dist::inputs),
    // Last, because it replaces the program that tests run with one that has fewer features.
    step("features", 60, Both, "tests serve slurm kube readme openapi",
        "lints with fewer features, and help without the others", Cargo(&[
        "clippy --package pavior --quiet -- -D warnings",
        "clippy --package pavior-cli --all-targets --quiet -- -D warnings",
        "clippy --package pavior-cli --features serve --all-targets --quiet -- -D warnings",
        "test --package pavior-cli --quiet --test it doors::",
    ])),
];

/// Runs one step and returns its problems.
pub(crate) fn run(root: &Path, name: &str) -> Vec<String> {
    match named(name).map(|step| step.work) {
        Err(problem) => vec![problem],
        Ok(Own(work)) => work(root),
        Ok(Cargo(commands)) => {
            let fails = |command: &&&str| {
                let words: Vec<&str> = command.split_whitespace().collect();
                !cargo::run(root, &words)
            };
            let failed = commands.iter().filter(fails);
            failed.map(|command| format!("failed: cargo {command}")).collect()
        }
    }
}

/// Returns a step or the list of all steps.
pub(crate) fn named(name: &str) -> Result<&'static Step, String> {
    STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
        let mut text = format!("there is no step `{name}`; the steps are:\n");
        for step in STEPS {
            let _ = write!(text, "\n  {:14}{:4} s  {}", step.name, step.seconds, step.does);
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_earlier_ones() {
        for (index, step) in STEPS.iter().enumerate() {
            let is_earlier = |name: &str| STEPS[..index].iter().any(|step| step.name == name);
            assert!(step.after.split_whitespace().all(is_earlier), "{}", step.name);
            assert!(!is_earlier(step.name), "{} stands there twice", step.name);
        }
    }

    #[test]
    fn unknown_steps_are_answered_with_the_list() {
        let list = named("x").err().unwrap();
        assert!(STEPS.iter().all(|step| list.contains(step.does)), "{list}");
    }
}
