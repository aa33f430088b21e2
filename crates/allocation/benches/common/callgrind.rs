//! Instructions counted by callgrind, in a process of its own that replays what it reads from its
//! standard input.

use std::io::{BufRead, Write};
use std::process::{Command, Stdio};

/// The argument that makes a program replay what is on its standard input; a name follows.
pub(crate) const CHILD: &str = "--replay-from-input";

/// Whether there is a callgrind to count with.
pub(crate) fn possible() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    let there = version.is_ok_and(|status| status.success());
    if !there {
        eprintln!("note: there is no valgrind, so instructions are not counted");
    }
    there
}

/// The instructions that this program takes within a function, when it replays a text for a
/// strategy; none if callgrind fails.
pub(crate) fn count(function: &str, strategy: &str, text: &str) -> Option<f64> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(std::env::current_exe().ok()?)
        .args([CHILD, strategy])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    input.write_all(text.as_bytes()).ok()?;
    drop(input);
    let output = child.wait_with_output().ok()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let collected = told.lines().find_map(|line| line.split("Collected :").nth(1));
    let count = collected.and_then(|count| count.trim().parse::<f64>().ok());
    if count.is_none() || !output.status.success() {
        eprintln!("note: callgrind failed for {strategy}:\n{told}");
        return None;
    }
    count
}

/// A line: a word and numbers.
pub(crate) fn line(word: &str, numbers: impl IntoIterator<Item = u16>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    format!("{word} {}\n", numbers.join(" "))
}

/// The lines of the standard input, each as its word and its numbers.
pub(crate) fn lines() -> impl Iterator<Item = (String, Vec<u16>)> {
    std::io::stdin().lock().lines().map(|line| {
        let line = line.expect("the parent writes text");
        let mut words = line.split(' ');
        let word = words.next().unwrap_or_default().to_string();
        (word, words.map(|word| word.parse().expect("numbers follow")).collect())
    })
}

/// Three of the numbers.
pub(crate) fn three(numbers: &[u16]) -> [u16; 3] {
    [numbers[0], numbers[1], numbers[2]]
}
