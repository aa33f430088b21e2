//! Tests of the command line that run the program.

#![allow(clippy::disallowed_methods, reason = "paths of tests are their own")]

mod advise;
mod allocate;
mod answers;
mod attacks;
mod bench;
mod dependencies;
mod docs;
mod doors;
mod evalys;
mod experiment;
mod explain;
mod failures;
mod files;
mod forecast;
mod inspect;
mod interrupted;
#[cfg(feature = "kube")]
mod kubernetes;
mod limits;
mod logs;
mod mistakes;
mod mutations;
mod plot;
mod real_logs;
mod refusals;
mod repeated_members;
#[cfg(feature = "serve")]
mod replay;
mod reproduce;
mod reservations;
mod schedules;
#[cfg(feature = "serve")]
mod serve;
mod simulate;
mod slots;
mod sweep;
mod tries;
mod unblock;
mod unsupported;
mod yardstick;

use std::process::{Command, Output, Stdio};

/// Runs `pavior` with arguments and with text on standard input.
fn pavior(arguments: &[&str], input: &str) -> Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before it reads its input closes the pipe. This is not an error here.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `pavior`, which must succeed. Returns its standard output.
fn good(arguments: &[&str]) -> String {
    let output = pavior(arguments, "");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs `pavior`, which must end with status 2, print no results, and not panic. Returns its error
/// message.
fn refused(arguments: &[&str]) -> String {
    let output = pavior(arguments, "");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// Runs `pavior`, which must reject its arguments with a message that contains the given words.
fn refused_for(arguments: &[&str], words: &str) {
    let message = refused(arguments);
    assert!(message.contains(words), "{arguments:?}: {message}");
}
