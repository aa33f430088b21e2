//! `pavior allocate`: a live allocator over standard input and output.

use std::io::{self, Write};

use pavior::files::{LONGEST_LINE, Lines, NextLine};
use pavior::strategies::Selection;
use pavior::text::message;
use pavior::workload::ShapeRule;
use pavior_serve::core::MachineSpec;
use pavior_serve::lines::LineSession;
use serde_json::json;

use crate::args::AllocateArgs;
use crate::failure::Failure;
use crate::{harmless, input};

pub(crate) fn run(args: &AllocateArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let strategy: Selection = input::name("--strategy", &args.strategy)?;
    strategy.supports(&grid).map_err(Failure::usage)?;
    let rule: pavior::workload::Selection<ShapeRule> =
        input::name("--shape-rule", &args.shape_rule)?;
    let machine = MachineSpec {
        name: "default".to_string(),
        machine: grid.to_string(),
        strategy: strategy.to_string(),
        scheduler: None,
        shape_rule: rule.to_string(),
    };
    let mut session = LineSession::new(&machine, args.seed).map_err(Failure::usage)?;
    let mut input = Lines::new(io::stdin().lock(), LONGEST_LINE);
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        let answer = match input.next_line(&mut line)? {
            NextLine::End => break,
            NextLine::Whole => session.answer(&line),
            NextLine::TooLong => Err(format!("the line is longer than {LONGEST_LINE} bytes")),
        };
        let number = input.number();
        let answer =
            answer.unwrap_or_else(|reason| json!({ "error": message(&reason), "line": number }));
        let text = answer.to_string() + "\n";
        output.write_all(harmless::json(&text).as_bytes())?;
        output.flush()?;
    }
    Ok(())
}
