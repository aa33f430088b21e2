//! Runs Slurm commands, with limits on their time and output.
//!
//! A [`Call`] made from a [`Query`] cannot change anything, whatever its arguments. Changes require
//! an [`Operator`], which only `uninstall` and the daemon that places jobs have.
//!
//! A command that exceeds its time or output limit is killed, and the daemon skips the cycle. The
//! output of a failed command is never used, because it may be truncated. Environment variables
//! that would change the output of Slurm commands are removed.
#![allow(clippy::disallowed_methods, reason = "time limits for Slurm commands")]

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pavior::text::shown_bytes;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{CallFault, SlurmError};

/// Limits on a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The time limit.
    pub(crate) time: Duration,
    /// The maximum output in bytes.
    pub(crate) output: u64,
}

/// The generous default limits: Slurm commands time out on their own after tens of seconds, and 256
/// MiB is enough for about 400,000 jobs.
pub(crate) const CALL_BOUNDS: Bounds = Bounds { time: Duration::from_mins(1), output: 256 << 20 };

/// The maximum number of bytes kept from standard error.
const MAX_STDERR: u64 = 256 << 10;

/// Prefixes of environment variables that change the output of Slurm commands.
const OUTPUT_VARIABLES: &[&str] = &[
    "SQUEUE_",
    "SINFO_",
    "SACCT_",
    "SCONTROL_",
    "SBATCH_",
    "SLURM_CLUSTERS",
    "SLURM_JSON",
    "SLURM_YAML",
];

/// Environment variables that the service manager sets only for this process.
const MANAGER_VARIABLES: &[&str] = &["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

/// A command that is read-only regardless of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// `sinfo`, which lists nodes.
    Nodes,
    /// `squeue`, which lists jobs.
    Jobs,
    /// `scontrol show`, for everything else.
    Show,
    /// `sacctmgr show`, which shows the contents of slurmdbd.
    Accounts,
    /// `sbatch --test-only`, which tests whether Slurm would accept a job, without queuing the job.
    Test,
}

impl Query {
    /// Returns the program and, if needed, the argument that makes the command read-only.
    fn command(self) -> (&'static str, Option<&'static str>) {
        match self {
            Query::Nodes => ("sinfo", None),
            Query::Jobs => ("squeue", None),
            Query::Show => ("scontrol", Some("show")),
            Query::Accounts => ("sacctmgr", Some("show")),
            Query::Test => ("sbatch", Some("--test-only")),
        }
    }
}

/// Permission to change Slurm's state.
#[derive(Debug)]
pub(crate) struct Operator(());

#[expect(clippy::unused_self, reason = "an operator is the right to make these calls")]
impl Operator {
    /// Creates an operator. Only `uninstall` and the daemon that places jobs may call this.
    pub(crate) fn new() -> Operator {
        Operator(())
    }

    /// Feeds changes to `scontrol` on standard input. Slurm may reject some of the changes.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run or does not respond.
    pub(crate) fn change(&self, input: String) -> Result<Output, SlurmError> {
        Call { input, ..Call::of("scontrol", None, &[]) }.run()
    }

    /// Runs `scontrol` with the given arguments. Slurm may reject the change.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run or does not respond.
    pub(crate) fn try_scontrol(&self, arguments: &[&str]) -> Result<Output, SlurmError> {
        Call::of("scontrol", None, arguments).run()
    }

    /// Runs `scontrol` with the given arguments. The command must succeed.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run, does not respond, or fails.
    pub(crate) fn scontrol(&self, arguments: &[&str]) -> Result<(), SlurmError> {
        Call::of("scontrol", None, arguments).answer().map(drop)
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns true if `at` is less than `interval_s` seconds ago. Returns false if there is no such
/// time or the clock has been set back.
pub(crate) fn is_recent(at: Option<u64>, now: u64, interval_s: u64) -> bool {
    at.is_some_and(|at| (at..at.saturating_add(interval_s)).contains(&now))
}

/// An invocation of a Slurm command. Outside this module, only a [`Query`] can create one.
pub(crate) struct Call<'a> {
    program: &'static str,
    subcommand: Option<&'static str>,
    arguments: &'a [&'a str],
    environment: &'a [(&'a str, &'a str)],
    /// The standard input.
    input: String,
    bounds: Bounds,
}

pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

impl<'a> Call<'a> {
    /// Creates a read-only call with the default limits.
    pub(crate) fn new(query: Query, arguments: &'a [&'a str]) -> Call<'a> {
        let (program, subcommand) = query.command();
        Call::of(program, subcommand, arguments)
    }

    fn of(
        program: &'static str,
        subcommand: Option<&'static str>,
        arguments: &'a [&'a str],
    ) -> Call<'a> {
        let (input, bounds) = (String::new(), CALL_BOUNDS);
        Call { program, subcommand, arguments, environment: &[], input, bounds }
    }

    /// Sets environment variables, in addition to those that make times and lists easy to parse.
    pub(crate) fn environment(self, environment: &'a [(&'a str, &'a str)]) -> Call<'a> {
        Call { environment, ..self }
    }

    /// Replaces the default limits.
    pub(crate) fn bounds(self, bounds: Bounds) -> Call<'a> {
        Call { bounds, ..self }
    }

    /// Runs the command, which must succeed. Replaces any invalid UTF-8 in its output.
    pub(crate) fn answer(self) -> Result<String, SlurmError> {
        let command = self.program;
        let output = self.run()?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()));
        }
        let fault = CallFault::Failed(shown_bytes(output.stderr.trim_ascii()));
        Err(SlurmError::Call { command, fault })
    }

    /// Runs the command and returns its output, regardless of its exit status.
    pub(crate) fn run(self) -> Result<Output, SlurmError> {
        let (command, bounds) = (self.program, self.bounds);
        let error = |fault| SlurmError::Call { command, fault };
        let deadline = Instant::now() + bounds.time;
        let mut child =
            self.command().spawn().map_err(|found| error(CallFault::NotStarted(found)))?;
        let text = self.input;
        if let Some(mut input) = child.stdin.take() {
            // A thread writes the input, because the command may print before reading all of it.
            std::thread::spawn(move || input.write_all(text.as_bytes()));
        }
        collect(&mut child, bounds, deadline).map_err(|fault| {
            kill(&mut child);
            error(fault)
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            let others = || OUTPUT_VARIABLES.iter().chain(MANAGER_VARIABLES);
            let changes = |text: &str| others().any(|start| text.starts_with(start));
            if name.to_str().is_some_and(changes) {
                command.env_remove(name);
            }
        }
        command
            .args(self.subcommand)
            .args(self.arguments)
            .env("SLURM_TIME_FORMAT", "%s")
            .env("SLURM_BITSTR_LEN", "0")
            .envs(self.environment.iter().copied())
            // The process group allows the command to be killed together with its children.
            .process_group(0)
            .stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Collects a process's output until the process exits.
fn collect(child: &mut Child, bounds: Bounds, deadline: Instant) -> Result<Output, CallFault> {
    let timeout = || CallFault::Timeout { seconds: bounds.time.as_secs() };
    let stdout = child.stdout.take().map(|output| read(output, bounds.output + 1, false));
    let stderr = child.stderr.take().map(|output| read(output, MAX_STDERR, true));
    let stdout = receive_all(stdout, deadline).ok_or_else(timeout)?;
    if stdout.len() as u64 > bounds.output {
        return Err(CallFault::TooMuchOutput { mebibytes: bounds.output >> 20 });
    }
    let stderr = receive_all(stderr, deadline).ok_or_else(timeout)?;
    let status = wait_exit(child, deadline).ok_or_else(timeout)?;
    Ok(Output { stdout, stderr, status })
}

/// Reads up to `most` bytes on a separate thread. If `to_the_end` is true, discards the rest.
fn read(mut from: impl Read + Send + 'static, most: u64, to_the_end: bool) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(most).read_to_end(&mut bytes);
        if to_the_end {
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn receive_all(output: Option<Receiver<Vec<u8>>>, deadline: Instant) -> Option<Vec<u8>> {
    let left = deadline.saturating_duration_since(Instant::now());
    output.map_or(Some(Vec::new()), |output| output.recv_timeout(left).ok())
}

/// Waits for a process to exit. The process must have closed its output.
fn wait_exit(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

/// Kills a process and its children.
fn kill(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, output: u64, millis: u64) -> Result<String, SlurmError> {
        let bounds = Bounds { time: Duration::from_millis(millis), output };
        let arguments = ["-c", line];
        let call = Call { input: "in\n".into(), ..Call::of("sh", None, &arguments) };
        call.environment(&[("MARK", "m")]).bounds(bounds).answer()
    }

    #[test]
    fn a_time_is_recent_until_the_interval_ends_or_the_clock_is_set_back() {
        assert!(is_recent(Some(0), 0, 30) && is_recent(Some(100), 129, 30));
        for (at, now) in [(None, 0), (Some(100), 130), (Some(100), 99)] {
            assert!(!is_recent(at, now, 30), "{at:?} {now}");
        }
    }

    #[test]
    fn a_command_reads_its_input_and_environment() {
        assert_eq!(shell("cat; echo $MARK $SLURM_BITSTR_LEN", 100, 60_000).unwrap(), "in\nm 0\n");
    }

    #[test]
    fn a_command_is_killed_with_its_children_after_the_time_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let line = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let hung = shell(&line, 100, 500).unwrap_err();
        assert_eq!(hung.to_string(), "sh did not respond within 0 s and was killed");
        let pid = std::fs::read_to_string(file).unwrap();
        let status = format!("/proc/{}/stat", pid.trim());
        // Wait until the process has disappeared or is a zombie that its new parent will reap.
        while std::fs::read_to_string(&status).is_ok_and(|text| !text.contains(") Z ")) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_command_that_exceeds_the_output_limit_is_killed() {
        let long = shell("yes", 1 << 20, 60_000).unwrap_err();
        assert_eq!(long.to_string(), "sh printed more than 1 MiB and was killed");
        // A long error message must not block the command.
        assert_eq!(shell("head -c 1000000 /dev/zero >&2; echo ok", 100, 60_000).unwrap(), "ok\n");
    }

    #[test]
    fn output_of_a_failed_command_is_not_used() {
        let killed = shell("echo begun; kill -9 $$", 100, 60_000).unwrap_err();
        assert!(killed.to_string().starts_with("sh failed: "), "{killed}");
        let failed = shell("printf 'a\\033[31m\\n' >&2; exit 1", 100, 60_000).unwrap_err();
        assert_eq!(failed.to_string(), "sh failed: a\\u{1b}[31m");
    }
}
