//! Checks that the compiler does not make, and the one command that makes all of them.

mod blocks;
mod budget;
mod cargo;
mod check;
mod dependencies;
mod dist;
mod docs;
mod growth;
mod kinds;
mod kube;
mod layers;
mod links;
mod messages;
mod notes;
mod openapi;
mod packages;
mod python;
mod results;
mod service;
mod sharing;
mod slurm;
mod strategy;
mod tidy;
mod tools;
mod viewer;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  check       everything below but exhaustive, with formatting, lints, tests and docs
  tidy        lengths of lines and functions, banned calls, lines of each part against the budget
  tidy --lower       lowers the budget in ARCHITECTURE.md to the present numbers of lines
  layers      the direction of dependencies between crates
  deps        licences and duplicate versions of dependencies, and what doors share of them
  package     packs every package, and compiles all from what is packed
  docs [PROGRAM]     writes docs/strategies/ from the headers of the strategies' files, follows
                     every link, and runs the shell blocks of README and first pages in a fresh
                     clone, with a program that it builds or the one given
  exhaustive [NAME]  every claim on every occupancy of all grids of up to 12 nodes (a minute), or
                     one strategy's
  conformance NAME   one strategy's claim (seconds)
  strategy NAME      the file of a new contiguous strategy, and its lines in the lists
  slurm RELEASE [SEED ...]  the daemon against a real Slurm 22.05, 24.11 or testing: 200 jobs a
                     seed, with kills of daemon and slurmctld (seeds 1 to 5: about 20 minutes)
  kube RELEASE [SEED ...]   the daemon against a real control plane of Kubernetes 1.34 to 1.37: 200
                     Jobs a seed, with all that disturbs a cluster (seeds 1 to 5: about 20 minutes)
  kube older  the same daemon against each of the older releases, as the checks try the newest
  kube speed  how long 4,096 pods take with boxes and without (some minutes; quiet machine)
  python      the Python package: built, installed into target/python, and tried there; and the site
  site        the documentation site, target/site/index.html
  dist        a release in dist/: archives, .deb, wheel, checksums, bill of materials (10 minutes)
  installed [VERSION]  the release in dist/, installed and used in a clean Debian 13, or 12
  tools       installs Debian's packages of what the checks try the doors with, as root
  openapi     the OpenAPI document of `pavior serve`, tried by schemathesis
  viewer      the page's bundle, built anew by npm and compared
  service            the speed of `pavior serve`, measured (release build and some minutes; quiet
                     machine)
  growth [COMMIT]    what large machines, long queues and many clients cost, beside a commit in one
                     run (20 minutes; quiet machine)
  attack             every promise attacked at length, with a table of what was tried (some minutes)
  tries              hostile values of every option, and full or closed outputs (some minutes)
  fuzz [MINUTES]     changed inputs for every parser (default 1)";

fn main() -> ExitCode {
    let root = root();
    let command = std::env::args().nth(1);
    let rest: Vec<String> = std::env::args().skip(2).collect();
    let problems = match command.as_deref() {
        Some("check") => check::run(&root),
        Some("tidy") if rest.first().is_some_and(|word| word == "--lower") => budget::lower(&root),
        Some("tidy") => tidy::problems(&root),
        Some("layers") => layers::problems(&root),
        Some("deps") => {
            let mut problems = dependencies::problems(&root);
            problems.extend(sharing::problems(&root));
            problems
        }
        Some("package") => {
            let mut problems = packages::problems(&root);
            problems.extend(packages::pack(&root));
            problems
        }
        Some("docs") => pages(&root, rest.first()),
        Some("exhaustive") => check::exhaustive(&root, &rest),
        Some("conformance") if !rest.is_empty() => check::conformance(&root, &rest),
        Some("strategy") if rest.len() == 1 => strategy::add(&root, &rest[0]),
        Some("slurm") => slurm::story(&root, &rest),
        Some("kube") => kube::storm(&root, &rest),
        Some("python") => python::problems(&root),
        Some("site") => python::site(&root),
        Some("openapi") => openapi::problems(&root),
        Some("viewer") => viewer::problems(&root),
        Some("service") => service::measure(&root),
        Some("growth") => growth::measure(&root, rest.first().map(String::as_str)),
        Some("attack") => check::attack(&root),
        Some("tries") => check::tries(&root),
        Some("tools") => tools::install(&root),
        Some("dist") => dist::problems(&root),
        Some("installed") => dist::installed(&root, rest.first().map(String::as_str)),
        Some("fuzz") => check::fuzz(&root, rest.first().map(String::as_str)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes the pages that are made, and tries what all pages say.
fn pages(root: &Path, program: Option<&String>) -> Vec<String> {
    let mut problems = docs::write(root);
    problems.extend(kinds::problems(root));
    problems.extend(links::problems(root));
    problems.extend(messages::problems(root));
    let program = program.map_or_else(|| cargo::every_door(root), |path| Ok(PathBuf::from(path)));
    match program {
        Ok(program) => problems.extend(blocks::problems(root, &program)),
        Err(problem) => problems.push(problem),
    }
    problems
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// The files below a folder that end in `.rs`, in order of name; build output is left out.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    sources(folder, "rs")
}

/// The files below a folder whose names end so, but for what is built or installed.
fn sources(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target" && name != "node_modules") {
                files.extend(sources(&path, ending));
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each command of the workflows for a forge is one that is run here, too.
    #[test]
    fn workflows_run_commands_of_this_program() {
        let folder = root().join(".github/workflows");
        let mut commands = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(text.starts_with("# Not yet tried on a forge."), "{text}");
            for run in text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
                let command = run.strip_prefix("cargo xtask ").unwrap().split(' ').next().unwrap();
                assert!(USAGE.contains(&format!("\n  {command} ")), "{run}");
                commands += 1;
            }
        }
        assert!(commands >= 6, "{commands}");
    }
}
