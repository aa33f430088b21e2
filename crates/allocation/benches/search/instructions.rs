//! Instructions of searches, counted by callgrind in a process of their own, which is handed the
//! record and replays it.

use std::io::{BufRead, Write};
use std::process::{Command, Stdio};

use pavior_allocation::Selection;
use pavior_mesh::{Cuboid, Grid};

use crate::record::{Record, Step, World};

/// The argument that makes this program replay what is on its standard input.
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

/// Instructions per search, over the first searches of a record; none if callgrind fails.
pub(crate) fn per_search(record: &Record, strategy: &str, first: usize) -> Option<f64> {
    let program = std::env::current_exe().ok()?;
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_search*")
        .arg(program)
        .args([CHILD, strategy])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    input.write_all(written(record, first).as_bytes()).ok()?;
    drop(input);
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count = collected.and_then(|count| count.trim().parse::<f64>().ok());
    if count.is_none() || !output.status.success() {
        eprintln!("note: callgrind failed for {strategy}:\n{text}");
        return None;
    }
    count.map(|count| count / first as f64)
}

/// The record as text, to the end of the first searches: the grid, then a line a step.
fn written(record: &Record, first: usize) -> String {
    let mut text = format!("{}\n", record.grid);
    let line = |word: &str, numbers: &[u16]| {
        let numbers: Vec<String> = numbers.iter().map(u16::to_string).collect();
        format!("{word} {}\n", numbers.join(" "))
    };
    let cuboid = |word: &str, part: &Cuboid| line(word, &[part.base, part.sides].concat());
    for part in &record.start {
        text += &cuboid("take", part);
    }
    let mut searches = 0;
    for step in &record.steps {
        match step {
            Step::Search(..) if searches == first => break,
            Step::Search(shape, found) => {
                searches += 1;
                text += &line(if *found { "found" } else { "nowhere" }, shape);
            }
            Step::Take(part) => text += &cuboid("take", part),
            Step::Give(part) => text += &cuboid("give", part),
        }
    }
    text
}

/// Replays a written record.
pub(crate) fn replay_from_input(strategy: &str) {
    let selection: Selection = strategy.parse().expect("the parent names a strategy");
    let mut lines =
        std::io::stdin().lock().lines().map(|line| line.expect("the parent writes text"));
    let grid: Grid = lines.next().and_then(|line| line.parse().ok()).expect("the grid comes first");
    let mut world = World::new(grid, &selection, &[]);
    for line in lines {
        let mut words = line.split(' ');
        let word = words.next().unwrap_or_default();
        let numbers: Vec<u16> = words.map(|word| word.parse().expect("numbers follow")).collect();
        let three = |from: usize| [numbers[from], numbers[from + 1], numbers[from + 2]];
        match word {
            "take" => world.change(&Step::Take(Cuboid::new(three(0), three(3)))),
            "give" => world.change(&Step::Give(Cuboid::new(three(0), three(3)))),
            word => assert_eq!(world.search(three(0)), word == "found", "{strategy}: {line}"),
        }
    }
}
