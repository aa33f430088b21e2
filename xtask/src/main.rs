//! Checks that the compiler does not perform, and the single command that runs all of them.

mod blocks;
mod browser;
mod budget;
mod cargo;
mod check;
mod commands;
mod dependencies;
mod dist;
mod docs;
mod growth;
mod kinds;
mod kube;
mod layers;
mod links;
mod messages;
mod notes;
mod openapi;
mod packages;
mod programs;
mod python;
mod results;
mod service;
mod sharing;
mod slurm;
mod steps;
mod strategy;
mod tidy;
mod tools;
mod trials;
mod viewer;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(&root(), lexopt::Parser::from_env()) {
        Ok(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            check::note_seconds();
            if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(commands::Refusal::Help(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(commands::Refusal::Error(text)) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
    }
}

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// Lists the files below a folder that end in `.rs`, in order of name, without build output.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    sources(folder, "rs")
}

/// Lists the files below a folder with an ending, without build output and installed packages.
fn sources(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target" && name != "node_modules") {
                files.extend(sources(&path, ending));
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files
}
