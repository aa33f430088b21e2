//! Tests hostile names in all kinds of input to all commands: the output cannot move the cursor,
//! reverse text or begin another line, and output for humans also has a bounded length.

mod corpora;

use std::process::Output;

use super::attacked;
use crate::{Folder, pavior_with, words};

/// A string that begins an output line only if a line break was printed unescaped.
const FORGED: &str = "FORGED";

/// Returns the hostile names, which are used for jobs, keys, profiles, strategies and files.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a\u{1b}[2J\u{1b}[31mb",
        "a\u{1b}]0;title\u{7}b",
        "a\u{9b}31mb\u{90}q\u{9c}",
        "a\u{202e}cba\u{2066}x",
        "a\nFORGED: all is well\rFORGED",
        "a\u{7f}\u{8}\u{0}\u{b}b",
        "a\u{200b}\u{feff}\u{e0041}\u{fffe}b",
        "=cmd|'/c calc'!A1",
    ]
    .map(String::from)
    .to_vec();
    names.push("long".repeat(250_000));
    names
}

/// Returns the fault in the output, if any. JSON and CSV may contain the names in full.
fn fault(output: &Output, is_table: bool) -> Option<String> {
    let shows = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(300).collect::<String>();
    for (what, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let Ok(text) = std::str::from_utf8(bytes) else { return Some(format!("{what}: no UTF-8")) };
        let raw = |c: char| {
            let mut letter = [0; 4];
            let letter: &str = c.encode_utf8(&mut letter);
            c != '\n' && !(' '..='~').contains(&c) && pavior::text::cell(letter) != letter
        };
        if let Some(at) = text.find(raw) {
            return Some(format!("{what}: {:?}", shows(&bytes[at.saturating_sub(40)..])));
        }
        if text.lines().any(|line| line.trim_start().starts_with(FORGED)) {
            return Some(format!("{what}: a forged line: {:?}", shows(bytes)));
        }
        if (is_table || what == "stderr") && text.len() > 40_000 {
            return Some(format!("{what}: {} bytes", text.len()));
        }
    }
    let code = output.status.code();
    let panicked = String::from_utf8_lossy(&output.stderr).contains("panicked");
    (panicked || !matches!(code, Some(0..=2)))
        .then(|| format!("{code:?}: {}", shows(&output.stderr)))
}

/// An attack attempt: its files by name, its arguments and its standard input. In arguments, `$`
/// stands for the folder.
struct Attempt {
    files: Vec<(String, Vec<u8>)>,
    arguments: Vec<String>,
    input: String,
}

/// Creates an attempt without standard input. No argument in `line` may contain white space.
fn attempt(files: &[(&str, String)], line: &str) -> Attempt {
    attempt_with(files, &words(line))
}

fn attempt_with(files: &[(&str, String)], arguments: &[&str]) -> Attempt {
    let files = files.iter().map(|(name, text)| ((*name).to_string(), text.clone().into_bytes()));
    let arguments = arguments.iter().map(|argument| (*argument).to_string()).collect();
    Attempt { files: files.collect(), arguments, input: String::new() }
}

fn run(one: &Attempt) -> Output {
    let folder = Folder::new();
    for (name, bytes) in &one.files {
        folder.write(name, bytes);
    }
    let place = |argument: &String| match argument.strip_prefix('$') {
        Some(name) => folder.path(name),
        None => argument.clone(),
    };
    let arguments: Vec<String> = one.arguments.iter().map(place).collect();
    pavior_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &one.input)
}

/// Runs the attempts for one kind of input. Only long test runs make every attempt.
fn attack(what: &str, tries: fn(&str) -> Vec<Attempt>) {
    let step = pavior_trials::size(101, 5, 1);
    let (mut tried, mut faults) = (0, Vec::new());
    let all = names().into_iter().flat_map(|name| tries(&name));
    for one in all.enumerate().filter(|(index, _)| index % step == 0).map(|(_, one)| one) {
        // An argument cannot contain a NUL.
        if one.arguments.iter().any(|argument| argument.contains('\0')) {
            continue;
        }
        tried += 1;
        let is_table = one.arguments.windows(2).any(|pair| pair == ["--format", "table"]);
        if let Some(fault) = fault(&run(&one), is_table) {
            let arguments: Vec<String> =
                one.arguments.iter().map(|argument| argument.chars().take(60).collect()).collect();
            faults.push(format!("{arguments:?}: {fault}"));
        }
    }
    attacked(what, tried, &faults);
}

#[test]
fn hostile_job_names_in_a_state_are_escaped() {
    attack("hostile job names in --busy and --weights", corpora::states);
}

#[test]
fn hostile_job_names_in_a_queue_are_escaped() {
    attack("hostile job names in --queue", corpora::queues);
}

#[test]
fn hostile_text_in_logs_is_escaped() {
    attack("hostile text in logs of every format", corpora::logs);
}

#[test]
fn hostile_text_in_lines_is_escaped() {
    attack("hostile text in failures, messages and lines to the allocator", corpora::lines);
}

#[test]
fn hostile_text_in_drawings_is_escaped() {
    attack("hostile text in drawn placements, jobs and results", corpora::plots);
}

#[test]
fn hostile_text_in_experiments_is_escaped() {
    attack("hostile text in experiments and spans", corpora::experiments);
}

#[test]
fn hostile_file_names_and_option_values_are_escaped() {
    attack("hostile file names and option values", corpora::paths);
}
