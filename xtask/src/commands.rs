//! The `cargo xtask` commands, in a single table used for argument checks and for help.

use std::path::Path;

use crate::{
    Problems, blocks, budget, check, kinds, links, long, measure, messages, process, python,
};
use crate::{packaging, steps, strategy, tools};

/// A `cargo xtask` command.
struct Command {
    name: &'static str,
    /// The arguments, in the notation used in the help: `[OPTIONAL]`, `REPEATED...`.
    usage: &'static str,
    does: &'static str,
    takes: &'static str,
    needs: &'static str,
    run: fn(&Path, &[String]) -> Problems,
}

const RUST: &str = "the Rust toolchain";

#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    Command { name: "check", usage: "[--only STEP]...",
        does: "Run all checks, or only the named steps and their dependencies",
        takes: "30 minutes on two idle cores, 60 minutes from scratch",
        needs: "24 GB of disk space. The packaging steps run only under `.ci/run` or when named \
            explicitly. Checks whose tools are missing are skipped and listed at the end; `cargo \
            xtask tools` installs the tools",
        run: check_steps },
    Command { name: "step", usage: "STEP",
        does: "Run one step of the checks without its prerequisites; also `cargo xtask STEP`",
        takes: "see the list below", needs: "depends on the step",
        run: |root, words| steps::run(root, &words[0]) },
    Command { name: "budget", usage: "",
        does: "Lower the limits in ARCHITECTURE.md to the current line counts",
        takes: "one second", needs: "git",
        run: |root, _| budget::lower(root).map(|()| Vec::new()) },
    Command { name: "conformance", usage: "NAME...",
        does: "Check strategies' claims on small machines",
        takes: "less than a minute after a change to a strategy, including the build", needs: RUST,
        run: |root, names| long::example(root, "conformance", "", names) },
    Command { name: "exhaustive", usage: "[NAME]...",
        does: "Check strategies' claims on every occupancy of grids with up to 12 nodes",
        takes: "one minute, plus a release build", needs: RUST,
        run: |root, names| long::example(root, "exhaustive", "--release", names) },
    Command { name: "strategy", usage: "NAME",
        does: "Create the file for a new contiguous strategy, and register it",
        takes: "one second", needs: RUST, run: |root, words| strategy::add(root, &words[0]) },
    Command { name: "docs", usage: "",
        does: "Check the kinds, links and quoted messages on all pages and, in a fresh clone, run \
               the shell blocks in the README and on selected pages",
        takes: "two minutes, plus a build of the program", needs: "git",
        run: |root, _| Ok([kinds::problems(root), links::problems(root),
            messages::problems(root)?, blocks::problems(root, process::program)?].concat()) },
    Command { name: "site", usage: "",
        does: "Build the documentation site, target/site/index.html",
        takes: "one minute, plus a build of the program",
        needs: "Python 3.11; access to a package index the first time",
        run: python::site },
    Command { name: "slurm", usage: "RELEASE [SEED]...",
        does: "Run the daemon on a real Slurm cluster (release 22.05, 24.11 or testing) with 200 \
               jobs per seed, and repeatedly kill the daemon and slurmctld. Default: seeds 1 to 5",
        takes: "20 minutes; longer the first time for each release",
        needs: "root, debootstrap, munge",
        run: long::slurm },
    Command { name: "kube", usage: "RELEASE [SEED]...",
        does: "Run the daemon on a real Kubernetes control plane (1.34 to 1.37) with 200 Jobs per \
               seed, and inject every kind of fault. Default: seeds 1 to 5. `kube older` runs the \
               regular tests on each older release; `kube speed` measures the time to start 4,096 \
               pods",
        takes: "20 minutes; 16 more the first time for each release, to build it",
        needs: "root, Go 1.26",
        run: long::kube },
    Command { name: "attack", usage: "",
        does: "Run long tests that attack every guarantee, and print a table of the attacks",
        takes: "ten minutes", needs: "the same tools as the checks",
        run: |root, _| Ok(long::attack(root)) },
    Command { name: "tries", usage: "",
        does: "Try hostile values for every option, and write to full or closed outputs",
        takes: "a few minutes", needs: RUST, run: long::tries },
    Command { name: "fuzz", usage: "[MINUTES]",
        does: "Run every parser on mutated inputs", takes: "one minute by default",
        needs: RUST, run: long::fuzz },
    Command { name: "service", usage: "",
        does: "Measure `pavior serve`: load, recovery, one day and one week of a real log, and \
               frame times",
        takes: "15 minutes on a quiet machine, plus a release build",
        needs: "a real log in ../shared/traces, Chromium",
        run: |root, _| Ok(measure::run(root, measure::SERVICE)) },
    Command { name: "growth", usage: "",
        does: "Measure the cost of large machines, long queues and many clients",
        takes: "at most 20 minutes on a quiet machine", needs: RUST,
        run: |root, _| Ok(measure::run(root, measure::GROWTH)) },
    Command { name: "dist", usage: "",
        does: "Build a release in dist/: archives, .deb, wheel, bill of materials",
        takes: "ten minutes", needs: "Linux on x86-64, Python 3.11, dpkg-deb, binutils",
        run: |root, _| packaging::dist(root).map(|()| Vec::new()) },
    Command { name: "installed", usage: "[VERSION]",
        does: "Install the release from dist/ on a clean Debian 12 or 13, and use it. Default: 13",
        takes: "one minute; longer the first time", needs: "root, debootstrap",
        run: |root, words| packaging::installed(root, words).map(|()| Vec::new()) },
    Command { name: "tools", usage: "",
        does: "Install the Debian packages that the checks use", takes: "two minutes",
        needs: "root, Debian", run: |root, _| tools::install(root) },
];

/// Runs the steps that follow `--only`, or all steps.
fn check_steps(root: &Path, words: &[String]) -> Problems {
    if words.last().is_some_and(|last| last == "--only") {
        return Err("--only requires the name of a step".to_string());
    }
    let names = words.iter().filter(|word| *word != "--only");
    let names: Vec<&str> = names.map(|word| word.strip_prefix("--only=").unwrap_or(word)).collect();
    check::run(root, &names)
}

/// Runs a command line or prints help. Returns the problems found, or an error if the command line
/// is invalid.
pub(crate) fn run(root: &Path, words: &[String]) -> Problems {
    let is_help = |word: &String| word == "--help" || word == "-h";
    let (name, arguments) = words.split_first().ok_or_else(overview)?;
    let command = COMMANDS.iter().find(|command| command.name == name);
    if is_help(name) {
        println!("{}", overview());
        return Ok(Vec::new());
    }
    if command.is_none() && steps::named(name).is_ok() {
        return run(root, &[&["step".to_string()], words].concat());
    }
    let command = command.ok_or_else(|| format!("no such command: `{name}`\n\n{}", overview()))?;
    if arguments.iter().any(is_help) {
        println!("{}", command.help());
        return Ok(Vec::new());
    }
    command.accepts(arguments)?;
    Ok((command.run)(root, arguments).unwrap_or_else(|problem| vec![problem]))
}

impl Command {
    /// Checks the number of arguments, and rejects unknown options.
    fn accepts(&self, arguments: &[String]) -> Result<(), String> {
        let words = self.usage.split_whitespace();
        let least = words.clone().filter(|word| !word.contains(['[', ']'])).count();
        let most = if self.usage.ends_with("...") { usize::MAX } else { words.count() };
        let is_known = |word: &str| {
            let option = word.split('=').next().unwrap_or_default();
            self.usage.split(['[', ' ']).any(|known| known == option)
        };
        let mut options = arguments.iter().filter(|word| word.starts_with('-'));
        let problem = match options.find(|option| !is_known(option)) {
            Some(option) => format!("no such option: `{option}`"),
            None if arguments.len() < least => "an argument is missing".to_string(),
            None if arguments.len() > most => "too many arguments".to_string(),
            None => return Ok(()),
        };
        Err(format!("{problem}\n\n{}", self.help()))
    }

    fn help(&self) -> String {
        let steps = if self.usage.contains("STEP") { steps::list() } else { String::new() };
        format!(
            "cargo xtask {} {}\n\n{}.\n\nTime: {}.\nNeeds: {}.{steps}",
            self.name, self.usage, self.does, self.takes, self.needs
        )
    }
}

/// Lists all commands, each with the first part of its description.
fn overview() -> String {
    let mut text = "usage: cargo xtask COMMAND [--help]\n".to_string();
    for command in COMMANDS {
        let call = format!("{} {}", command.name, command.usage);
        let end = command.does.find(": ").unwrap_or(command.does.len());
        let does = command.does[..end].trim_end_matches(". Default");
        text += &format!("\n  {call:23} {does}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Command =
        Command { name: "", usage: "", does: "", takes: "", needs: "", run: |_, _| Ok(Vec::new()) };

    #[test]
    fn a_usage_determines_the_number_of_arguments() {
        let accepts = |usage, arguments: &str| {
            let words: Vec<String> = arguments.split_whitespace().map(str::to_string).collect();
            Command { usage, ..EMPTY }.accepts(&words).is_ok()
        };
        for (usage, accepted, rejected) in [
            ("", &[""][..], &["x", "--only"][..]),
            ("NAME", &["x"], &["", "x y", "--x"]),
            ("[MINUTES]", &["", "1"], &["1 2", "-1"]),
            ("RELEASE [SEED]...", &["1.37", "1.37 1 2"], &["", "1.37 --seed"]),
            ("[--only STEP]...", &["", "x", "--only x", "--only=x --only y"], &["--x", "--onl x"]),
        ] {
            assert!(accepted.iter().all(|words| accepts(usage, words)), "{usage}");
            assert!(!rejected.iter().any(|words| accepts(usage, words)), "{usage}");
        }
    }

    #[test]
    fn an_option_without_a_step_does_not_run_all_checks() {
        for words in [&["--only"][..], &["--only="], &["--only=x"], &["tidy", "--only", "x"]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_string()).collect();
            assert!(check_steps(Path::new("/nowhere"), &words).is_err(), "{words:?}");
        }
    }

    /// Forge workflows must run only commands that exist.
    #[test]
    fn workflows_run_commands_of_this_program() {
        let folder = crate::root().join(".github/workflows");
        let mut commands = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for run in text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
                let command = run.strip_prefix("cargo xtask ").unwrap().split(' ').next().unwrap();
                assert!(COMMANDS.iter().any(|known| known.name == command), "{run}");
                commands += 1;
            }
        }
        assert!(commands >= 6, "{commands}");
    }
}
