//! Runs the conformance suite for the strategies given as arguments, either for all variants of a
//! strategy or for one variant (`NAME:OPTION`). `cargo xtask conformance NAME` runs this program.
//! Exits with status 1 if a claim is broken.

use std::process::ExitCode;

use pavior_allocation::{Selection, conformance};

fn main() -> ExitCode {
    let mut broken = 0;
    for text in std::env::args().skip(1) {
        let named: Selection = match text.parse() {
            Ok(selection) => selection,
            Err(bad) => {
                eprintln!("strategy `{text}`: {bad}");
                return ExitCode::from(2);
            }
        };
        let selections = if text.contains(':') {
            vec![named]
        } else {
            Selection::variants(&named.entry).collect()
        };
        for selection in selections {
            match conformance::suite(&selection) {
                Ok(answers) => {
                    println!("{selection}: {answers} answers checked, no claims violated");
                }
                Err(failure) => {
                    eprintln!("{failure}");
                    broken += 1;
                }
            }
        }
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
