//! Tests hostile values for the options of every command, and outputs that cannot be written. Each
//! attempt must end in time without a panic, with an allowed exit status and a short plain message.
//!
//! `cargo test -p pavior-cli --test it tries -- --nocapture` prints the counts by command. By
//! default, the test runs one attempt in eleven; `cargo xtask tries` runs all of them.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::words;

/// Values that are invalid for all or almost all options.
const VALUES: &str = "\
    0 -1 nan inf 1e400 1e-400 4294967296 18446744073709551616 1000000000000 \u{1b}[2J\u{7} \
    \u{202e}x \u{fffe} é , : = x:y=z ff,ff /dev/null /dev/zero /nowhere/x mesh:65536x1 \
    mesh:65535x65535 torus:0x4 uniform:0 bursts:0 exponential:1e300 \
    messages:18446744073709551615";

fn values() -> Vec<&'static str> {
    [&[""], &words(VALUES)[..]].concat()
}

/// Commands that run quickly, with their options.
const COMMANDS: &[(&str, &str)] = &[
    (
        "simulate --machine mesh:4x4 -s ff --jobs 20 --replications 2",
        "--machine --strategy --scheduler --load --sides --service --arrivals --replications \
         --precision --confidence --seed --warmup --metrics --mttf --mttr --failures \
         --fail-classes --spares --spare-switches --slice --trace --shape-rule --threads \
         --max-time --max-waiting --max-interruptions --migration --movable --slowdown-bound \
         --format --pattern --flits --buffer --jobs-csv --placements",
    ),
    ("allocate --machine mesh:4x4 --strategy ff", "--machine --strategy --seed"),
    (
        "explain --machine mesh:4x4 --busy /dev/null --shape 2x2",
        "--machine --strategy --busy --shape --svg --format",
    ),
    (
        "unblock --machine mesh:4x4 --busy /dev/null --shape 2x2",
        "--machine --busy --shape --nodes --max-jobs --weights --format",
    ),
    (
        "network --machine mesh:4x4",
        "--machine --flits --routing-delay --buffer --engine --release --lanes",
    ),
    (
        "trace generate lublin --nodes 16 --jobs 5",
        "--nodes --machine --jobs --seed --out --service --load",
    ),
    ("plot /dev/null", "--at --from --to --x --y --log --filter"),
    ("slurm", "--config"),
    (
        "bench --machine mesh:4x4 -s ff --attempts 50 --rounds 1",
        "--machine --strategy --attempts --rounds --warmup --fill --sides",
    ),
    ("sweep wanted /nowhere", "--most"),
    ("experiment /dev/null --out /nowhere/out", "--out --shard --threads --format"),
];

/// One invocation of each command, to be run with outputs that cannot be written.
const FAULTS: &[&str] = &[
    "help",
    "--version",
    "strategies",
    "schedulers",
    "patterns",
    "metrics",
    "simulate --machine mesh:4x4 -s ff --jobs 20",
    "simulate --strategy none",
    "allocate --machine mesh:4x4 --strategy ff",
    "allocate --machine none --strategy ff",
    "explain --machine mesh:4x4 --busy /dev/null --shape 2x2",
    "unblock --machine mesh:4x4 --busy /dev/null --shape 2x2",
    "unblock --machine mesh:4x4 --busy /nowhere --shape 2x2",
    "network --machine none",
    "trace generate lublin --nodes 16 --jobs 5",
    "trace inspect /nowhere",
    "plot /nowhere",
    "merge /nowhere --out /nowhere/out",
    "experiment /nowhere",
    "reproduce /nowhere",
    "slurm check",
    "kube queue",
    "kube why train",
    "kube manifests",
    "slurm --config /nowhere",
    "bench --machine none",
    "--nothing",
];

/// The outcome of an attempt.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) message: String,
}

pub(crate) fn run(command: Command) -> Result<Outcome, String> {
    run_until(command, Instant::now() + Duration::from_mins(10))
}

/// Runs a command, and kills it if it is still running at the deadline.
pub(crate) fn run_until(mut command: Command, deadline: Instant) -> Result<Outcome, String> {
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(errors) = &mut errors {
            let _ = errors.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err("the command does not end".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let message = reader.join().map_err(|_| "its messages cannot be read")?;
    Ok(Outcome { code: status.code(), message })
}

/// Runs a command, and describes the fault in its outcome, or returns `None` if there is no fault.
fn fault_of(command: Command) -> Option<String> {
    run(command).map_or_else(Some, |outcome| fault(&outcome))
}

/// Describes the fault in an outcome, or returns `None` if there is no fault.
pub(crate) fn fault(outcome: &Outcome) -> Option<String> {
    let Outcome { code, message } = outcome;
    let raw = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{fffe}".contains(c);
    if !matches!(code, Some(0..=2)) {
        return Some(format!("exit status {code:?}: {message}"));
    }
    let long = message.chars().count() > 4000;
    (message.contains("panicked") || message.contains(raw) || long).then(|| format!("{message:?}"))
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command_of(env!("CARGO_BIN_EXE_pavior"), folder);
    command.args(arguments);
    command
}

fn command_of(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Returns the step n: only every n-th attempt is run.
fn step() -> usize {
    pavior_trials::size(41, 11, 1)
}

#[test]
fn hostile_option_values_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    let mut faults = Vec::new();
    for (base, options) in COMMANDS {
        let (mut tried, mut failed) = (0, 0);
        for option in words(options) {
            for value in values() {
                number += 1;
                if number % step() != 0 {
                    continue;
                }
                tried += 1;
                let arguments = with_option(base, option, value);
                if let Some(bad) = fault_of(command(folder.path(), &arguments)) {
                    failed += 1;
                    faults.push(format!("{arguments:?}: {bad}"));
                }
            }
        }
        println!("{}: {tried} tried, {failed} failed", words(base)[0]);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns a command's arguments with the option's value replaced, or with the option appended if
/// absent. If the command already contains the option's short form, either the last value wins or
/// the command is rejected.
pub(crate) fn with_option<'a>(command: &'a str, option: &'a str, value: &'a str) -> Vec<&'a str> {
    let mut arguments = words(command);
    match arguments.iter().position(|given| *given == option) {
        Some(at) => arguments[at + 1] = value,
        None => arguments.extend([option, value]),
    }
    arguments
}

#[test]
fn output_faults_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    if !Path::new("/dev/full").exists() {
        return;
    }
    let (mut tried, mut faults) = (0, Vec::new());
    for arguments in FAULTS.iter().step_by(pavior_trials::size(3, 1, 1)) {
        // Full outputs and closed ones, in the shell's notation.
        for place in [">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", "2>&-", ">&- 2>&-"] {
            tried += 1;
            let mut command = command_of("sh", folder.path());
            let shell = format!("exec \"$@\" {place}");
            command.args(["-c", &shell, "sh", env!("CARGO_BIN_EXE_pavior")]);
            command.args(words(arguments));
            let bad = fault_of(command);
            faults.extend(bad.map(|bad| format!("{arguments:?} {place}: {bad}")));
        }
    }
    println!("outputs: {tried} tried, {} failed", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Settings that make a quick run of the MFA paper even shorter.
const QUICK: &str = r#"
replications = 2
[[sweep]]
machine = "mesh:8x8"
busy = "1,2:4x3 5,5:2x2"
request = "3x2"
strategy = ["ff", "mfa"]
"#;

/// Returns the file with one line removed, or with a different value in that line.
fn changed(lines: &[&str], at: usize, value: Option<&str>) -> String {
    let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match (value, lines[at].split_once('=')) {
        (Some(value), Some((key, _))) => lines[at] = format!("{key}= {value}"),
        _ => drop(lines.remove(at)),
    }
    lines.join("\n")
}

#[test]
fn changed_paper_folders_do_not_panic() {
    let paper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/mfa");
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    let (mut number, mut tried, mut faults) = (0, 0, Vec::new());
    for name in ["paper.toml", "experiment.toml", "quick.toml", "statements.toml"] {
        for entry in std::fs::read_dir(&paper).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        let text = std::fs::read_to_string(paper.join(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        if name != "quick.toml" {
            std::fs::write(folder.path().join("quick.toml"), QUICK).unwrap();
        }
        for index in 0..lines.len() {
            let hostile = values()[(number / 3) % values().len()];
            let quoted = serde_json::to_string(hostile).unwrap();
            for value in [None, Some(hostile), Some(quoted.as_str())] {
                number += 1;
                if number % (3 * step() - 2) != 0 {
                    continue;
                }
                tried += 1;
                std::fs::write(folder.path().join(name), changed(&lines, index, value)).unwrap();
                let bad = fault_of(command(folder.path(), &["reproduce", at, "--quick"]));
                faults.extend(bad.map(|bad| format!("{name}:{}, {value:?}: {bad}", index + 1)));
            }
        }
    }
    println!("reproduce FOLDER: {tried} tried, {} failed", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
