//! Digests the sources that results depend on, so that those of two builds are never mixed.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates below this one, and this one. Outside the workspace they are pinned by their
/// versions.
const CRATES: [&str; 8] = [
    "kernel",
    "mesh",
    "allocation",
    "workload",
    "network",
    "scheduling",
    "simulation",
    "experiments",
];

fn main() -> io::Result<()> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        let sources = crates.join(name).join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
            collect(&sources, &mut files)?;
        }
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        digest.update(std::fs::read(file)?);
        digest.update([0]);
    }
    let words: Vec<String> = digest.finalize()[..8].iter().map(|b| format!("{b:02x}")).collect();
    println!("cargo::rustc-env=PAVIOR_SOURCES={}", words.concat());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

/// The files of a folder and those below it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
