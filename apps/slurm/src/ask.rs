//! Slurm's commands: how they are run, and what they may cost.
//!
//! A [`Call`] asks one of the [`Question`]s and cannot change anything, whatever its arguments are.
//! Changes need an [`Operator`], which the placing daemon and the removal have, and nothing else.
//!
//! A command has a time limit and prints no more than a bound; beyond either it is killed and the
//! cycle is skipped. What it printed counts only if it ended well: output that was cut short is no
//! answer. Variables that change what Slurm's commands print are taken out of the environment.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pavior::text::shown_bytes;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::SlurmError;

/// What a command may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest time. Slurm's own commands give up after some tens of seconds.
    pub(crate) time: Duration,
    /// The most that it may print, in bytes: some 400,000 jobs.
    pub(crate) output: u64,
}

/// The limits of every command.
pub(crate) const LIMITS: Limits = Limits { time: Duration::from_mins(1), output: 256 << 20 };

/// The most that is read of what a command says of its errors; the rest is thrown away.
const COMPLAINTS: u64 = 256 << 10;

/// Variables with which users change what Slurm's commands show, by their first letters.
const CHANGERS: &[&str] = &[
    "SQUEUE_",
    "SINFO_",
    "SACCT_",
    "SCONTROL_",
    "SBATCH_",
    "SLURM_CLUSTERS",
    "SLURM_JSON",
    "SLURM_YAML",
];

/// Variables of the service manager's, which are for this process alone.
const OWN: &[&str] = &["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

/// What can be asked. No arguments make a change of any of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// `sinfo`: the nodes.
    Nodes,
    /// `squeue`: the jobs.
    Jobs,
    /// `scontrol show`: anything else.
    Show,
    /// `sacctmgr show`: what slurmdbd keeps.
    Accounts,
    /// `sacct`: the jobs that have run.
    Past,
    /// `sbatch --test-only`: whether a job would be taken. Slurm queues nothing.
    Test,
}

impl Question {
    /// The program, and the word that makes it a question.
    fn command(self) -> (&'static str, Option<&'static str>) {
        match self {
            Question::Nodes => ("sinfo", None),
            Question::Jobs => ("squeue", None),
            Question::Show => ("scontrol", Some("show")),
            Question::Accounts => ("sacctmgr", Some("show")),
            Question::Past => ("sacct", None),
            Question::Test => ("sbatch", Some("--test-only")),
        }
    }
}

/// A question to Slurm.
pub(crate) struct Call<'a> {
    pub(crate) question: Question,
    pub(crate) arguments: &'a [&'a str],
    /// Set besides those that make times and lists readable.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

/// The right to change something in Slurm.
#[derive(Debug)]
pub(crate) struct Operator {
    limits: Limits,
}

impl Operator {
    /// Takes it: for the daemon that places jobs, and for its removal.
    pub(crate) fn new() -> Operator {
        Operator { limits: LIMITS }
    }

    /// Runs one `scontrol`, which is told on its standard input what to change; returns how it
    /// ended, since it may object to some of it.
    ///
    /// # Errors
    /// If it cannot be run, or gives no answer.
    pub(crate) fn change(&self, input: String) -> Result<Said, SlurmError> {
        let (program, arguments) = ("scontrol", &[]);
        Process { program, word: None, arguments, environment: &[], input }.run(self.limits)
    }

    /// Runs one `scontrol` with arguments, which may object.
    ///
    /// # Errors
    /// If it cannot be run, or gives no answer.
    pub(crate) fn try_scontrol(&self, arguments: &[&str]) -> Result<Said, SlurmError> {
        let (program, input) = ("scontrol", String::new());
        Process { program, word: None, arguments, environment: &[], input }.run(self.limits)
    }

    /// Runs one `scontrol` with arguments, which must succeed.
    ///
    /// # Errors
    /// If it cannot be run, gives no answer, or fails.
    pub(crate) fn scontrol(&self, arguments: &[&str]) -> Result<(), SlurmError> {
        let (program, input) = ("scontrol", String::new());
        let process = Process { program, word: None, arguments, environment: &[], input };
        process.answer(self.limits).map(drop)
    }
}

/// A command of Slurm's.
struct Process<'a> {
    program: &'static str,
    /// Before the arguments.
    word: Option<&'static str>,
    arguments: &'a [&'a str],
    environment: &'a [(&'a str, &'a str)],
    /// Its standard input.
    input: String,
}

/// What a command printed, and how it ended.
pub(crate) struct Said {
    pub(crate) output: Vec<u8>,
    pub(crate) complaints: Vec<u8>,
    pub(crate) status: ExitStatus,
}

/// Asks Slurm something that must succeed, and returns what it prints.
pub(crate) fn capture(question: Question, arguments: &[&str]) -> Result<String, SlurmError> {
    Call { question, arguments, environment: &[] }.answer(LIMITS)
}

impl<'a> Call<'a> {
    fn process(self) -> Process<'a> {
        let Call { question, arguments, environment } = self;
        let (program, word) = question.command();
        Process { program, word, arguments, environment, input: String::new() }
    }

    /// Runs it; it must succeed. Bytes of its answer that are no UTF-8 are replaced.
    pub(crate) fn answer(self, limits: Limits) -> Result<String, SlurmError> {
        self.process().answer(limits)
    }

    /// Runs it, however it ends.
    pub(crate) fn run(self, limits: Limits) -> Result<Said, SlurmError> {
        self.process().run(limits)
    }
}

impl Process<'_> {
    /// Runs it; it must succeed. Bytes of its answer that are no UTF-8 are replaced.
    fn answer(self, limits: Limits) -> Result<String, SlurmError> {
        let command = self.program;
        let said = self.run(limits)?;
        if said.status.success() {
            return Ok(String::from_utf8(said.output)
                .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()));
        }
        let message = shown_bytes(said.complaints.trim_ascii());
        Err(SlurmError::Failed { command, message })
    }

    /// Runs it, however it ends.
    fn run(self, limits: Limits) -> Result<Said, SlurmError> {
        let command = self.program;
        let until = Instant::now() + limits.time;
        let error = |error| SlurmError::Command { command, error };
        let mut child = self.command().spawn().map_err(error)?;
        let text = self.input;
        if let Some(mut input) = child.stdin.take() {
            // It reads while it prints: neither pipe may fill up.
            std::thread::spawn(move || input.write_all(text.as_bytes()));
        }
        let output = child.stdout.take().map(|output| read(output, limits.output + 1, false));
        let complaints = child.stderr.take().map(|output| read(output, COMPLAINTS, true));
        let outcome = (|| {
            let output = whole(output, until).ok_or(Fault::Late)?;
            if output.len() as u64 > limits.output {
                return Err(Fault::Long);
            }
            let complaints = whole(complaints, until).ok_or(Fault::Late)?;
            let status = ended(&mut child, until).ok_or(Fault::Late)?;
            Ok(Said { output, complaints, status })
        })();
        outcome.map_err(|fault| {
            kill(&mut child);
            match fault {
                Fault::Late => SlurmError::Hung { command, seconds: limits.time.as_secs() },
                Fault::Long => SlurmError::TooLong { command, mebibytes: limits.output >> 20 },
            }
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            let others = || CHANGERS.iter().chain(OWN);
            let changes = |text: &str| others().any(|start| text.starts_with(start));
            if name.to_str().is_some_and(changes) {
                command.env_remove(name);
            }
        }
        command
            .args(self.word)
            .args(self.arguments)
            .env("SLURM_TIME_FORMAT", "%s")
            .env("SLURM_BITSTR_LEN", "0")
            .envs(self.environment.iter().copied())
            // Of its own group, so that what it starts can be ended with it.
            .process_group(0)
            .stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

enum Fault {
    Late,
    Long,
}

/// Reads so many bytes in a thread of its own, and perhaps the rest to throw it away.
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

fn whole(from: Option<Receiver<Vec<u8>>>, until: Instant) -> Option<Vec<u8>> {
    let left = until.saturating_duration_since(Instant::now());
    from.map_or(Some(Vec::new()), |from| from.recv_timeout(left).ok())
}

/// Waits until a process has ended whose output has ended already.
fn ended(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

/// Ends a process and all that it started.
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
        let arguments = ["-c", line];
        let (environment, input) = (&[("MARK", "m")], "in\n".to_string());
        let (program, word, arguments) = ("sh", None, &arguments);
        let process = Process { program, word, arguments, environment, input };
        process.answer(Limits { time: Duration::from_millis(millis), output })
    }

    #[test]
    fn a_command_is_fed_and_read() {
        assert_eq!(shell("cat; echo $MARK $SLURM_BITSTR_LEN", 100, 60_000).unwrap(), "in\nm 0\n");
    }

    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let line = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let hung = shell(&line, 100, 500).unwrap_err();
        assert!(matches!(hung, SlurmError::Hung { command: "sh", .. }), "{hung}");
        let pid = std::fs::read_to_string(file).unwrap();
        let status = format!("/proc/{}/stat", pid.trim());
        // Gone, or a zombie until its new parent looks.
        while std::fs::read_to_string(&status).is_ok_and(|text| !text.contains(") Z ")) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn output_without_an_end_is_no_answer() {
        let long = shell("yes", 1 << 20, 60_000).unwrap_err();
        assert!(matches!(long, SlurmError::TooLong { mebibytes: 1, .. }), "{long}");
        // Complaints may be long: they stop nothing.
        assert_eq!(shell("head -c 1000000 /dev/zero >&2; echo ok", 100, 60_000).unwrap(), "ok\n");
    }

    #[test]
    fn what_was_cut_short_is_no_answer() {
        let killed = shell("echo begun; kill -9 $$", 100, 60_000).unwrap_err();
        assert!(matches!(killed, SlurmError::Failed { .. }), "{killed}");
        let failed = shell("printf 'a\\033[31m\\n' >&2; exit 1", 100, 60_000).unwrap_err();
        assert_eq!(failed.to_string(), "sh failed: a\\u{1b}[31m");
    }
}
