//! The daemon as a separate program, for tests. Users run `pavior kube`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, lease, page @ ..] = &arguments[..] else { return ExitCode::from(2) };
    let options = pavior_kube::Options {
        name: name.clone(),
        always: lease == "always",
        observe: lease == "observe",
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
