//! Command-line tests that run the program.

#![allow(clippy::disallowed_methods, reason = "tests choose their own paths")]

mod advise;
mod allocate;
mod answers;
mod attacks;
mod bench;
mod convert;
mod dependencies;
mod docs;
mod evalys;
mod experiment;
mod explain;
mod failures;
mod features;
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

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// Splits a command line into arguments, none of which may contain white space.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A temporary folder for a test's files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with one file. Returns the folder and the file's path.
    fn with(name: &str, contents: impl AsRef<[u8]>) -> (Folder, String) {
        let folder = Folder::new();
        let path = folder.write(name, contents);
        (folder, path)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    /// Writes a file, in a new folder if necessary, and returns its path.
    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the JSON value on each line of a file.
    fn json_lines(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the sorted names of all files.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn gzipped(contents: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(contents).unwrap();
    encoder.finish().unwrap()
}

/// Runs `pavior` with standard input and with the arguments in a line, which [`words`] splits.
fn pavior(line: &str, input: impl AsRef<[u8]>) -> Output {
    pavior_with(&words(line), input)
}

/// Runs `pavior` like [`pavior`], with arguments that may contain white space.
fn pavior_with(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_pavior"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before reading its input closes the pipe, which is not an error here.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

/// Starts `pavior` and discards its output.
fn start(line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pavior"));
    command.args(words(line)).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs `pavior`, checks that it succeeds, and returns its standard output.
fn good(line: &str) -> String {
    good_input(line, "")
}

/// Runs `pavior` like [`good`], with text on standard input.
fn good_input(line: &str, input: &str) -> String {
    noted(line, input).0
}

/// Runs `pavior` like [`good_input`], and also returns its standard error.
fn noted(line: &str, input: impl AsRef<[u8]>) -> (String, String) {
    noted_with(&words(line), input)
}

/// Runs `pavior` like [`noted`], with arguments that may contain white space.
fn noted_with(arguments: &[&str], input: impl AsRef<[u8]>) -> (String, String) {
    let output = pavior_with(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

/// Runs `pavior` like [`good_input`], and returns the JSON that it prints.
fn json(line: &str, input: &str) -> Value {
    serde_json::from_str(&good_input(line, input)).unwrap()
}

/// Runs `pavior`, and checks that it exits with status 2, prints no results, and does not panic.
/// Returns its error message.
fn refused(line: &str) -> String {
    refused_input(line, "")
}

/// Runs `pavior` like [`refused`], with text on standard input.
fn refused_input(line: &str, input: &str) -> String {
    let output = pavior(line, input);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert_eq!(stdout(&output), "", "{line}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// Runs `pavior`, and checks that it rejects its arguments with a message containing `words`.
fn refused_for(line: &str, words: &str) {
    refused_input_for(line, "", words);
}

/// Runs `pavior` like [`refused_for`], with text on standard input.
fn refused_input_for(line: &str, input: &str, words: &str) {
    let message = refused_input(line, input);
    assert!(message.contains(words), "{line}: {message}");
}
