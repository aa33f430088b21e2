//! Instructions of questions, counted by callgrind in a process of their own, which is handed the
//! record and replays it.

use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::process::{Command, Stdio};

use pavior_allocation::{Placement, Selection};
use pavior_mesh::{Cuboid, Grid, Request};

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

/// Instructions of a question; none if callgrind fails.
pub(crate) fn per_question(record: &Record, search: &Selection) -> Option<f64> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_find*")
        .arg(std::env::current_exe().ok()?)
        .args([CHILD, &search.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    input.write_all(written(record).as_bytes()).ok()?;
    drop(input);
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let count = collected.and_then(|count| count.trim().parse::<f64>().ok());
    if count.is_none() || !output.status.success() {
        eprintln!("note: callgrind failed for {search}:\n{text}");
        return None;
    }
    count.map(|count| count / record.questions as f64)
}

/// The record as text: the grid, then a line a step that is not left out.
fn written(record: &Record) -> String {
    let mut text = format!("{}\n", record.grid);
    let parts = |text: &mut String, word: &str, placement: &Placement| {
        text.push_str(word);
        for Cuboid { base: [x, y, z], sides: [a, b, c] } in placement.parts() {
            let _ = write!(text, " {x} {y} {z} {a} {b} {c}");
        }
        text.push('\n');
    };
    for step in &record.steps {
        match step {
            Step::Ask(request, true) => {
                let [a, b, c] = request.shape.unwrap_or([1; 3]);
                let _ = writeln!(text, "ask {a} {b} {c}");
            }
            Step::Ask(_, false) => {}
            Step::Take(placement) => parts(&mut text, "take", placement),
            Step::Give(placement) => parts(&mut text, "give", placement),
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
    let mut world = World::new(grid, &selection);
    for line in lines {
        let mut words = line.split(' ');
        let word = words.next().unwrap_or_default();
        let numbers: Vec<u16> = words.map(|word| word.parse().expect("numbers follow")).collect();
        let three = |numbers: &[u16]| [numbers[0], numbers[1], numbers[2]];
        let parts = || {
            let part = |part: &[u16]| Cuboid::new(three(part), three(&part[3..]));
            match numbers.chunks(6).map(part).collect::<Vec<_>>() {
                one if one.len() == 1 => Placement::Whole(one[0]),
                many => Placement::Parts(many),
            }
        };
        world.step(&match word {
            "take" => Step::Take(parts()),
            "give" => Step::Give(parts()),
            _ => Step::Ask(Request::shape(three(&numbers)), true),
        });
    }
}
