//! Long tests that are run manually: checks of strategies' claims, attacks, hostile values, mutated
//! inputs, and the daemons on real Slurm clusters and Kubernetes control planes.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{self, LONG};
use crate::{Problems, notes};

/// Runs an example program that checks the claims of the named strategies, or of all strategies.
pub(crate) fn example(root: &Path, name: &str, profile: &str, names: &[String]) -> Problems {
    let words = format!("run --quiet --package pavior-allocation {profile} --example {name} --");
    // Unlike the checks, this allows incremental builds.
    process::run(process::cargo(root, &words).args(names)).map(|()| Vec::new())
}

/// Runs tests with the long test size and the given environment variables.
fn tests(root: &Path, words: &str, variables: &[(&str, &str)]) -> Problems {
    let words = format!("test --all-features {words}");
    let mut tests = process::cargo(root, &words);
    process::run(tests.envs([LONG]).envs(variables.iter().copied())).map(|()| Vec::new())
}

/// Tests every option with hostile values, and every kind of output failure. Prints counts by area.
pub(crate) fn tries(root: &Path, _: &[String]) -> Problems {
    let words = "--quiet --package pavior-cli --test it tries -- --nocapture --test-threads 1";
    tests(root, words, &[])
}

/// Runs long tests that try to break documented promises, then prints a table of the attacks.
pub(crate) fn attack(root: &Path) -> Vec<String> {
    notes::begin(root);
    let notes = notes::path(root);
    let failed = ["pavior-serve", "pavior-slurm", "pavior-cli"].into_iter().filter_map(|package| {
        // Some attacks are unit tests.
        let words = format!("--quiet --package {package} --tests attack -- --test-threads 1");
        tests(root, &words, &[(pavior_trials::NOTES, &notes.to_string_lossy())]).err()
    });
    let failed = failed.collect();
    print!("{}", notes::attacks(root));
    for skipped in notes::skipped(root) {
        eprintln!("NOT run here: {skipped}");
    }
    failed
}

/// Runs every parser on mutated inputs, for one minute by default.
pub(crate) fn fuzz(root: &Path, given: &[String]) -> Problems {
    let minutes = given.first().map_or(Ok(1), |minutes| minutes.parse::<u64>());
    let minutes = minutes.map_err(|_| "MINUTES must be a whole number")?;
    let seconds = minutes.saturating_mul(60).to_string();
    let words = "--quiet --package pavior-cli --test it mutations -- --nocapture";
    tests(root, words, &[("PAVIOR_FUZZ_SECONDS", &seconds)])
}

/// Slurm releases, as named by `examples/slurm/release.sh`.
const SLURM: [&str; 3] = ["22.05", "24.11", "testing"];

/// Kubernetes releases, as named by `examples/kubernetes/control-plane.sh`. The checks use the last
/// one in the list.
const KUBERNETES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// Installs the Slurm releases before the tests need them, and prints their versions. Tests skip
/// releases that are not installed.
pub(crate) fn prepare_slurm(root: &Path) {
    for release in SLURM {
        for accounting in ["", "1"] {
            let mut script = Command::new(root.join("examples/slurm/release.sh"));
            let script = script.args(["version", release]).env("ACCOUNTING", accounting);
            let version = process::output(script).unwrap_or_else(|problem| problem);
            let with = if accounting.is_empty() { "" } else { " with accounting" };
            eprintln!("Slurm {release}{with}: {}", version.trim());
        }
    }
}

/// Builds the control plane, Kueue and JobSet before the tests need them. Tests skip programs that
/// are missing. Removes several gigabytes of Go downloads and build output afterward.
pub(crate) fn prepare_kube(root: &Path) {
    let newest = KUBERNETES[KUBERNETES.len() - 1];
    let caches = root.join("target/go");
    for (script, arguments) in
        [("control-plane.sh", &["make", newest][..]), ("controllers.sh", &["make"])]
    {
        let mut command = Command::new(root.join("examples/kubernetes").join(script));
        command.env("GOMODCACHE", caches.join("modules")).env("GOCACHE", caches.join("built"));
        let made = process::output(command.args(arguments)).unwrap_or_else(|problem| problem);
        eprintln!("Kubernetes: {}", made.trim());
    }
    // Go makes module directories read-only.
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(&caches).stderr(Stdio::null()).status();
    let _ = std::fs::remove_dir_all(caches);
}

/// Runs the complete `pavior slurm` scenario on the given release with the given seeds.
pub(crate) fn slurm(root: &Path, given: &[String]) -> Problems {
    let (release, seeds) = (given[0].as_str(), given[1..].join(" "));
    if !SLURM.contains(&release) {
        return unknown(release, &SLURM);
    }
    let test = format!("a_cluster_of_64_nodes::slurm_{}", release.replace('.', "_"));
    let words = format!("-p pavior-slurm --test it {test} -- --nocapture");
    let required = ("PAVIOR_REQUIRE_SLURM", "1");
    tests(root, &words, &[required, ("PAVIOR_SEEDS", &seeds)])
}

/// Injects all faults on a release, with the given seeds. If `older` is given instead of a release,
/// runs the regular tests on each older release. If `speed` is given, measures performance.
pub(crate) fn kube(root: &Path, given: &[String]) -> Problems {
    let (release, seeds) = (given[0].as_str(), given[1..].join(" "));
    let run = |test: &str, release: &str, more: &[(&str, &str)]| {
        let words = format!("test -p pavior-kube --test {test} -- --nocapture");
        let mut tests = process::cargo(root, &words);
        tests.env("PAVIOR_REQUIRE_KUBERNETES", "1").env("PAVIOR_KUBE_RELEASE", release);
        let run = process::run(tests.envs(more.iter().copied()));
        run.map(|()| Vec::new()).map_err(|problem| format!("{problem} (Kubernetes {release})"))
    };
    let older = &KUBERNETES[..KUBERNETES.len() - 1];
    match release {
        "older" => Ok(older.iter().filter_map(|release| run("it", release, &[]).err()).collect()),
        "speed" => run("speed", KUBERNETES[KUBERNETES.len() - 1], &[]),
        _ if KUBERNETES.contains(&release) => run("it", release, &[LONG, ("PAVIOR_SEEDS", &seeds)]),
        _ => unknown(release, &KUBERNETES),
    }
}

fn unknown(release: &str, known: &[&str]) -> Problems {
    Err(format!("no such release: `{release}`; choose one of {}", known.join(", ")))
}
