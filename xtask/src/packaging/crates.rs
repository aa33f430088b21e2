//! Requirements for publishing the crates: metadata, a README, licenses, and `cargo package`.
//!
//! The verification in `cargo package --workspace` builds each package separately, which takes
//! minutes. Here, all packages are unpacked side by side and compiled together.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Problems;
use crate::process::{self, array, text};

/// Fields that each published package must have in `cargo metadata`.
const FIELDS: [&str; 6] =
    ["description", "license", "rust_version", "readme", "keywords", "categories"];

/// Returns the requirements that are not met, one per line.
pub(crate) fn problems(root: &Path) -> Problems {
    let toolchain = fs::read_to_string(root.join("rust-toolchain.toml")).unwrap_or_default();
    Ok(published(root)?.iter().flat_map(|one| of_package(one, &toolchain)).collect())
}

/// Returns the packages to publish, in the format of `cargo metadata`.
fn published(root: &Path) -> Result<Vec<Value>, String> {
    let metadata = process::metadata(root, "--no-deps")?;
    // In the metadata, `publish = false` is an empty list of registries.
    let is_published = |package: &&Value| package["publish"].is_null();
    Ok(array(&metadata["packages"]).iter().filter(is_published).cloned().collect())
}

fn of_package(package: &Value, toolchain: &str) -> Vec<String> {
    let (name, folder) = (text(package, "name"), Path::new(text(package, "manifest_path")));
    let is_empty =
        |field: &str| text(package, field).is_empty() && array(&package[field]).is_empty();
    let no_field = FIELDS.iter().filter(|field| is_empty(field));
    let files = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];
    let no_file = files.iter().filter(|file| !folder.with_file_name(file).is_file());
    let missing = no_field.chain(no_file);
    let mut problems: Vec<String> = missing.map(|part| format!("{name}: no {part}")).collect();
    // The toolchain is the minimum supported Rust version, so that version is always tested.
    let rust = text(package, "rust_version");
    if !toolchain.contains(&format!("channel = \"{rust}")) {
        problems.push(format!("{name}: rust-version {rust} differs from rust-toolchain.toml"));
    }
    problems
}

/// Packs all packages and compiles their contents.
pub(crate) fn pack(root: &Path) -> Problems {
    let words = "package --workspace --exclude=xtask --exclude=pavior-trials \
                 --exclude=pavior-browser --allow-dirty --no-verify --quiet";
    // Usually, earlier steps have already downloaded everything.
    process::output(process::cargo(root, words).arg("--offline"))
        .or_else(|_| process::output(&mut process::cargo(root, words)))?;
    compile_packed(root).map(|()| Vec::new())
}

/// Unpacks the packages and compiles them as one workspace that replaces registry dependencies.
fn compile_packed(root: &Path) -> Result<(), String> {
    let workspace = root.join("target/packages");
    let packed = root.join("target/package");
    let _ = fs::remove_dir_all(&workspace);
    fs::create_dir_all(&workspace).map_err(|error| error.to_string())?;
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_string();
    for package in published(root)? {
        let name = text(&package, "name");
        let folder = format!("{name}-{}", text(&package, "version"));
        // Cargo compares modification times, but packages store a fixed one. `-m` uses the current.
        let mut unpack = Command::new("tar");
        unpack.arg("-xzmf").arg(packed.join(format!("{folder}.crate"))).arg("-C").arg(&workspace);
        process::output(&mut unpack)?;
        manifest += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    fs::write(workspace.join("Cargo.toml"), manifest)
        .and_then(|()| fs::copy(root.join("Cargo.lock"), workspace.join("Cargo.lock")))
        .map_err(|error| error.to_string())?;
    let words = "check --workspace --all-features --offline --quiet --target-dir";
    // Earlier steps have already checked the dependencies in this target directory.
    process::output(process::cargo(&workspace, words).arg(root.join("target"))).map(drop)
}

#[test]
fn missing_parts_are_found() {
    let mut package = serde_json::json!({
        "name": "a", "manifest_path": crate::root().join("crates/mesh/Cargo.toml"),
        "description": "text", "license": "MIT", "rust_version": "1.95", "readme": "README.md",
        "keywords": ["a"], "categories": ["a"],
    });
    let toolchain = "[toolchain]\nchannel = \"1.95.0\"\n";
    assert_eq!(of_package(&package, toolchain), Vec::<String>::new());
    package["readme"] = Value::Null;
    package["keywords"] = serde_json::json!([]);
    package["rust_version"] = "1.94".into();
    let found = of_package(&package, toolchain).join("\n");
    assert!(found.contains("no readme") && found.contains("no keywords"), "{found}");
    assert!(found.contains("1.94") && found.lines().count() == 3, "{found}");
}
