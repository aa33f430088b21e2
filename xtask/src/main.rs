//! Project tasks: checks that the compiler does not perform, measurements, and releases.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod blocks;
mod browser;
mod budget;
mod check;
mod commands;
mod dependencies;
mod kinds;
mod layers;
mod links;
mod long;
mod measure;
mod messages;
mod notes;
mod openapi;
mod packaging;
mod process;
mod programs;
mod python;
mod sharing;
mod steps;
mod strategy;
mod tidy;
mod tools;
mod viewer;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The problems that a step or command found, or the reason that it could not look for them.
type Problems = Result<Vec<String>, String>;

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let end = commands::run(&root(), &words);
    check::note_seconds();
    match end {
        Ok(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

/// Returns the workspace's root directory.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask is in the workspace").to_path_buf()
}

/// Lists the files in a directory tree that have the extension `ending`, sorted by path. Skips
/// build output and installed packages.
fn sources(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if !["target", "node_modules", ".venv"].iter().any(|name| path.ends_with(name)) {
                files.extend(sources(&path, ending));
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files
}
