//! Build script that computes a digest of the sources that affect results, so that results from
//! different builds are never mixed.

#[path = "build/sources.rs"]
mod sources;

use std::io;
use std::path::Path;

use sources::Sources;

fn main() -> io::Result<()> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = Sources::of(manifest)?;
    for folder in sources.crates.values() {
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        println!("cargo::rerun-if-changed={}", folder.join("Cargo.toml").display());
    }
    // List only existing files. If a listed file is missing, Cargo reruns this script every time.
    for file in ["../../Cargo.toml", "../../Cargo.lock"].map(|file| manifest.join(file)) {
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/sources.rs");
    println!("cargo::rustc-env=PAVIOR_SOURCES={}", sources.digest()?);
    Ok(())
}
