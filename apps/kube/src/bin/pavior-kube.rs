//! The daemon as a standalone program for tests; users run `pavior kube` instead.

use std::process::ExitCode;

use pavior_kube::Mode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, mode, page @ ..] = &arguments[..] else { return ExitCode::from(2) };
    let options = pavior_kube::Options {
        mode: match mode.as_str() {
            "always" => Mode::Always,
            "observe" => Mode::Observe { machine: None },
            _ => Mode::Elected,
        },
        name: name.clone(),
        page: page.first().cloned(),
        ..pavior_kube::Options::default()
    };
    match pavior_kube::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
