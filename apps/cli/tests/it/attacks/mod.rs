//! Attacks on the command line: names with control sequences, huge numbers, and SIGKILL.

mod counts;
mod failure_rates;
mod kills;
mod memory;
mod names;

use std::process::{Command, Stdio};

use crate::tries::{Outcome, run};

/// Runs `pavior` with a limit on its address space, in mebibytes.
fn within(mebibytes: u64, arguments: &[&str]) -> Result<Outcome, String> {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {} && exec \"$@\"", mebibytes << 10), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_pavior")).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // On a busy machine, glibc reserves another 128 MiB of address space for a second thread.
    command.env("MALLOC_ARENA_MAX", "1");
    run(command)
}

/// Prints the faults found by an attack, and records the number of attempts.
fn attacked(attack: &str, tried: usize, faults: &[String]) {
    for fault in faults {
        eprintln!("{fault}");
    }
    pavior_trials::attacked("cli", attack, tried, faults.len());
}
