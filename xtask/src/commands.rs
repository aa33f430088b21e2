//! The commands of `cargo xtask`: one table, which is used to parse arguments and to print help.

use std::path::Path;

use lexopt::{Arg, ValueExt as _};

use crate::{budget, check, dependencies, dist, docs, growth, kube, layers, openapi, packages};
use crate::{python, service, sharing, slurm, steps, strategy, tidy, tools, trials, viewer};

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    /// Arguments, in the form in which help prints them and from which they are parsed.
    usage: &'static str,
    does: &'static str,
    takes: &'static str,
    needs: &'static str,
    run: fn(&Path, &Arguments) -> Vec<String>,
}

const fn command(
    name: &'static str,
    usage: &'static str,
    does: &'static str,
    takes: &'static str,
    needs: &'static str,
    run: fn(&Path, &Arguments) -> Vec<String>,
) -> Command {
    Command { name, usage, does, takes, needs, run }
}

const RUST: &str = "the Rust toolchain";
const PYTHON: &str = "Python 3.11, and a package index the first time";

#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    command("check", "[--only STEP]...", "Runs all checks, or some steps and those they follow",
        "30 minutes on two idle cores, 60 from nothing",
        "what it lacks it leaves out and names at the end; `cargo xtask tools` installs it",
        |root, given| check::run(root, &given.values("only"))),
    command("step", "STEP", "Runs one step of the checks, without those it follows",
        "as the checks print", "what the step needs",
        |root, given| steps::run(root, given.first().unwrap_or_default())),
    command("tidy", "[--lower]",
        "Checks lengths, banned calls, comments and the budget of lines, which --lower lowers",
        "seconds", RUST,
        |root, given| if given.has("lower") { budget::lower(root) } else { tidy::problems(root) }),
    command("layers", "", "Checks the direction of dependencies between crates", "seconds", RUST,
        |root, _| layers::problems(root)),
    command("deps", "", "Checks licenses, versions and features of dependencies", "seconds", RUST,
        |root, _| [dependencies::problems(root), sharing::problems(root)].concat()),
    command("conformance", "NAME...", "Checks what strategies claim on small machines",
        "less than a minute after a change of a strategy, build included", RUST,
        |root, given| trials::conformance(root, &given.words)),
    command("exhaustive", "[NAME]...",
        "Checks what strategies claim on every occupancy of grids of up to 12 nodes",
        "one minute, and a build for release", RUST,
        |root, given| trials::exhaustive(root, &given.words)),
    command("strategy", "NAME", "Writes the file of a new contiguous strategy, and lists it",
        "no time", RUST,
        |root, given| strategy::add(root, given.first().unwrap_or_default())),
    command("docs", "[PROGRAM]",
        "Follows all links, and runs the shell blocks of README and first pages in a fresh clone, \
         with a program that it builds or the one given",
        "two minutes, and the build of the program", "git",
        |root, given| docs::all(root, given.first())),
    command("package", "", "Packs every package, and compiles all from what is packed",
        "three minutes", RUST,
        |root, _| [packages::problems(root), packages::pack(root)].concat()),
    command("python", "",
        "Builds the Python package, installs it into target/python, tests it, builds the site",
        "five minutes, and the build of the program", PYTHON,
        |root, _| python::problems(root)),
    command("site", "", "Builds the documentation site, target/site/index.html",
        "one minute, and the build of the program", PYTHON,
        |root, _| python::site(root)),
    command("openapi", "", "Tries the OpenAPI document of `pavior serve` by two of its tools",
        "two minutes, and the build of the program", PYTHON,
        |root, _| openapi::problems(root)),
    command("viewer", "", "Builds the bundle of the page by npm, and compares it with the sources'",
        "half a minute", "Node and npm, and their registry the first time",
        |root, _| viewer::problems(root)),
    command("slurm", "RELEASE [SEED]...",
        "Runs the daemon against a real Slurm 22.05, 24.11 or testing: 200 jobs a seed, with kills \
         of the daemon and of slurmctld; seeds 1 to 5 if none is named",
        "20 minutes; the first time of a release some more", "root, debootstrap, munge",
        slurm::story),
    command("kube", "RELEASE [SEED]...",
        "Runs the daemon against a real control plane of Kubernetes 1.34 to 1.37: 200 Jobs a seed, \
         with all that disturbs a cluster; `older` runs the tests of the checks on each older \
         release, `speed` measures how long 4,096 pods take",
        "20 minutes; the first time of a release 16 more for its build", "root, Go 1.26",
        kube::storm),
    command("attack", "", "Attacks every promise at length, and prints a table of what was tried",
        "ten minutes", "as the checks", |root, _| trials::attack(root)),
    command("tries", "", "Tries hostile values of every option, and full or closed outputs",
        "some minutes", RUST, |root, _| trials::tries(root)),
    command("fuzz", "[MINUTES]", "Tries changed inputs on every parser",
        "one minute, or those given", RUST, |root, given| trials::fuzz(root, given.first())),
    command("service", "",
        "Measures `pavior serve`: load, recovery, a day and a week of a real log, frames",
        "15 minutes of a quiet machine, with a build for release",
        "a real log in ../shared/traces, Chromium", |root, _| service::measure(root)),
    command("growth", "[COMMIT]",
        "Measures what large machines, long queues and many clients cost, with those of a commit",
        "20 minutes of a quiet machine", RUST, |root, given| growth::measure(root, given.first())),
    command("dist", "", "Makes a release in dist/: archives, .deb, wheel, bill of materials",
        "ten minutes", "Linux on x86-64, Python 3.11, dpkg-deb, binutils",
        |root, _| dist::problems(root)),
    command("installed", "[VERSION]", "Uses the release in dist/ in a clean Debian 13, or 12",
        "one minute; the first time some more", "root, debootstrap",
        |root, given| dist::installed(root, given.first())),
    command("tools", "", "Installs the packages of Debian that the checks use",
        "two minutes", "root, Debian", |root, _| tools::install(root)),
];

/// Arguments of a command.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) words: Vec<String>,
    /// Options with their values; the value of a flag is empty.
    options: Vec<(String, String)>,
}

impl Arguments {
    /// Returns the values of an option.
    pub(crate) fn values(&self, option: &str) -> Vec<String> {
        let own = self.options.iter().filter(|(name, _)| name == option);
        own.map(|(_, value)| value.clone()).collect()
    }

    /// Returns the first word.
    pub(crate) fn first(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Returns the words after the first, which are seeds, separated by spaces, or the first five
    /// seeds if there are none.
    pub(crate) fn seeds(&self) -> Result<String, String> {
        let seeds = &self.words[1..];
        match seeds.iter().find(|seed| seed.parse::<u64>().is_err()) {
            Some(other) => Err(format!("a seed is a whole number, not `{other}`")),
            None if seeds.is_empty() => Ok("1 2 3 4 5".to_string()),
            None => Ok(seeds.join(" ")),
        }
    }

    /// Returns true if an option was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }
}

/// The result of reading a command line.
#[derive(Debug, PartialEq)]
enum Read {
    Run(Arguments),
    Help,
}

/// The arguments that the usage of a command accepts.
struct Accepted {
    least: usize,
    most: usize,
    /// Options, and true for those with a value.
    options: Vec<(&'static str, bool)>,
}

impl Accepted {
    fn of(usage: &'static str) -> Accepted {
        let mut accepted = Accepted { least: 0, most: 0, options: Vec::new() };
        let mut items = usage.split(' ').filter(|item| !item.is_empty()).peekable();
        while let Some(item) = items.next() {
            let bare = item.trim_end_matches("...").trim_matches(['[', ']']);
            if let Some(option) = bare.strip_prefix("--") {
                let with_value = !item.contains(']');
                accepted.options.push((option, with_value));
                with_value.then(|| items.next());
                continue;
            }
            accepted.least += usize::from(!item.starts_with('['));
            accepted.most = if item.ends_with("...") { usize::MAX } else { accepted.most + 1 };
        }
        accepted
    }

    /// Reads the arguments that follow the name of a command.
    fn read(&self, parser: &mut lexopt::Parser) -> Result<Read, lexopt::Error> {
        let mut given = Arguments::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("help") | Arg::Short('h') => return Ok(Read::Help),
                Arg::Long(name) => {
                    let known = self.options.iter().find(|(known, _)| *known == name);
                    let &(name, with_value) = known.ok_or(Arg::Long(name).unexpected())?;
                    let value = if with_value { parser.value()?.string()? } else { String::new() };
                    given.options.push((name.to_string(), value));
                }
                Arg::Value(word) if given.words.len() < self.most => {
                    given.words.push(word.string()?);
                }
                other => return Err(other.unexpected()),
            }
        }
        if given.words.len() < self.least {
            return Err("an argument is missing".into());
        }
        Ok(Read::Run(given))
    }
}

/// Runs the command given by a command line. Returns the problems, or the text of help or of an
/// error.
pub(crate) fn run(root: &Path, mut parser: lexopt::Parser) -> Result<Vec<String>, Refusal> {
    let name = match parser.next() {
        Ok(Some(Arg::Value(name))) => name.to_string_lossy().into_owned(),
        Ok(Some(Arg::Long("help") | Arg::Short('h'))) => return Err(Refusal::Help(overview())),
        Ok(None) => return Err(Refusal::Error(overview())),
        Ok(Some(other)) => return Err(Refusal::Error(other.unexpected().to_string())),
        Err(error) => return Err(Refusal::Error(error.to_string())),
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Refusal::Error(format!("there is no command `{name}`\n\n{}", overview())));
    };
    match Accepted::of(command.usage).read(&mut parser) {
        Ok(Read::Run(given)) => Ok((command.run)(root, &given)),
        Ok(Read::Help) => Err(Refusal::Help(command.help())),
        Err(error) => Err(Refusal::Error(format!("{error}\n\n{}", command.help()))),
    }
}

/// A command line that runs nothing.
pub(crate) enum Refusal {
    /// Help was requested.
    Help(String),
    /// The command line is wrong.
    Error(String),
}

impl Command {
    fn help(&self) -> String {
        format!(
            "cargo xtask {} {}\n\n{}.\n\ntakes: {}\nneeds: {}",
            self.name, self.usage, self.does, self.takes, self.needs
        )
    }
}

/// Returns the list of all commands.
fn overview() -> String {
    let mut text = "usage: cargo xtask COMMAND [--help]\n".to_string();
    for command in COMMANDS {
        let call = format!("{} {}", command.name, command.usage);
        text += &format!("\n  {call:27} {} ({})", command.does, command.takes);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(usage: &'static str, words: &[&str]) -> Result<Read, String> {
        let mut parser = lexopt::Parser::from_args(words);
        Accepted::of(usage).read(&mut parser).map_err(|error| error.to_string())
    }

    #[test]
    fn a_usage_says_what_is_accepted() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let Ok(Read::Run(given)) = read("RELEASE [SEED]...", &["1.37", "1", "2"]) else { panic!() };
        assert_eq!(given.words, words(&["1.37", "1", "2"]));
        let Ok(Read::Run(given)) = read("[--only STEP]...", &["--only", "a", "--only=b"]) else {
            panic!()
        };
        assert_eq!(given.values("only"), words(&["a", "b"]));
        let Ok(Read::Run(given)) = read("[--lower]", &["--lower"]) else { panic!() };
        assert!(given.has("lower") && !given.has("only"));
        assert_eq!(read("", &["--help"]), Ok(Read::Help));
        assert_eq!(read("NAME", &["a", "--help"]), Ok(Read::Help));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for (usage, words) in [
            ("", &["word"][..]),
            ("", &["--only", "x"]),
            ("[--only STEP]...", &["--only"]),
            ("[--lower]", &["--lower=x"]),
            ("NAME", &[]),
            ("NAME", &["a", "b"]),
            ("[MINUTES]", &["1", "2"]),
            ("[MINUTES]", &["-x"]),
        ] {
            assert!(read(usage, words).is_err(), "{usage}: {words:?}");
        }
    }

    /// Checks that the workflows for forges only run commands that exist here.
    #[test]
    fn workflows_run_commands_of_this_program() {
        let folder = crate::root().join(".github/workflows");
        let mut commands = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(text.starts_with("# Not yet tried on a forge."), "{text}");
            for run in text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
                let command = run.strip_prefix("cargo xtask ").unwrap().split(' ').next().unwrap();
                assert!(COMMANDS.iter().any(|known| known.name == command), "{run}");
                commands += 1;
            }
        }
        assert!(commands >= 6, "{commands}");
    }
}
