//! Requirements for publishing a package: metadata, a README, the licenses, and `cargo package`.
//!
//! `cargo package --workspace` packs all of them in dependency order. Its own verification builds
//! each package separately, which takes minutes; here all are unpacked side by side and compiled
//! together, using only the contents of the packages.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;

use toml::{Table, Value};

use crate::cargo::output as cargo_output;

const FIELDS: &[&str] = &[
    "description",
    "version",
    "edition",
    "rust-version",
    "license",
    "keywords",
    "categories",
    "readme",
];

/// Returns the parts that are missing from packages, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let mut folders = Vec::new();
    for parent in ["crates", "apps"] {
        let Ok(entries) = fs::read_dir(root.join(parent)) else { continue };
        folders.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    folders.sort();
    for folder in folders {
        let name = folder.strip_prefix(root).unwrap_or(&folder).display().to_string();
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        match text.parse::<Table>() {
            Ok(manifest) if is_published(&manifest) => {
                problems.extend(missing(&manifest).map(|field| format!("{name}: no `{field}`")));
                for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
                    if !folder.join(file).is_file() {
                        problems.push(format!("{name}: no {file}"));
                    }
                }
            }
            Ok(_) => {}
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    problems.extend(minimum_rust(root));
    problems
}

fn is_published(manifest: &Table) -> bool {
    let publish = manifest.get("package").and_then(|package| package.get("publish"));
    publish.and_then(Value::as_bool) != Some(false)
}

fn missing(manifest: &Table) -> impl Iterator<Item = &'static str> {
    let package = manifest.get("package").and_then(Value::as_table).cloned().unwrap_or_default();
    FIELDS.iter().copied().filter(move |field| !package.contains_key(*field))
}

/// Checks that the minimum Rust version is the toolchain used by all checks, so that it is tested.
fn minimum_rust(root: &Path) -> Option<String> {
    let read = |file: &str| fs::read_to_string(root.join(file)).ok()?.parse::<Table>().ok();
    let (workspace, toolchain) = (read("Cargo.toml")?, read("rust-toolchain.toml")?);
    let stated = workspace["workspace"]["package"]["rust-version"].as_str()?.to_string();
    let used = toolchain["toolchain"]["channel"].as_str()?.to_string();
    let same = used == stated || used.strip_suffix(".0") == Some(stated.as_str());
    (!same).then(|| {
        format!(
            "rust-version {stated} is stated, but the checks run with {used}: no check holds it"
        )
    })
}

/// Returns a hash of everything that determines whether packages compile as the workspace does:
/// manifests, names of files, and lines that read a file at compile time.
pub(crate) fn inputs(root: &Path) -> String {
    sum(root, |name, text, sum| {
        name.hash(sum);
        let reads = |line: &&str| line.contains("include") || line.contains("CARGO_MANIFEST_DIR");
        if name.ends_with("Cargo.toml") || name.ends_with("Cargo.lock") {
            text().hash(sum);
        } else if Path::new(name).extension().is_some_and(|extension| extension == "rs") {
            text().lines().filter(reads).for_each(|line| line.hash(sum));
        }
    })
}

/// Returns a hash of the data that `add` provides for each file that git tracks, given its name and
/// text.
pub(crate) fn sum(
    root: &Path,
    add: impl Fn(&str, &dyn Fn() -> String, &mut DefaultHasher),
) -> String {
    let listed = Command::new("git").arg("ls-files").current_dir(root).output();
    let listed = listed.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    let mut sum = DefaultHasher::new();
    for name in listed.unwrap_or_default().lines() {
        add(name, &|| fs::read_to_string(root.join(name)).unwrap_or_default(), &mut sum);
    }
    format!("{:016x}", sum.finish())
}

/// Packs every package, in dependency order, and compiles the contents of the packages.
pub(crate) fn pack(root: &Path) -> Vec<String> {
    let packed = cargo_output(root, &PACK).or_else(|_| {
        let online: Vec<&str> = PACK.into_iter().filter(|word| *word != "--offline").collect();
        cargo_output(root, &online)
    });
    match packed.and_then(|_| compile_packed(root)) {
        Ok(()) => Vec::new(),
        Err(problem) => vec![problem],
    }
}

const PACK: [&str; 9] = [
    "package",
    "--workspace",
    "--exclude=xtask",
    "--exclude=pavior-trials",
    "--exclude=pavior-browser",
    "--allow-dirty",
    "--no-verify",
    "--quiet",
    // The earlier steps have already downloaded everything.
    "--offline",
];

/// Unpacks the packed packages and compiles them as one workspace, in which they depend on each
/// other as on packages of a registry.
fn compile_packed(root: &Path) -> Result<(), String> {
    let workspace = root.join("target/packages");
    let packed = root.join("target/package");
    let _ = fs::remove_dir_all(&workspace);
    fs::create_dir_all(&workspace).map_err(|error| error.to_string())?;
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_string();
    for (name, version) in published(root)? {
        let folder = format!("{name}-{version}");
        // -m: cargo compares file times, and those in a package never change.
        let unpacked = Command::new("tar")
            .args(["-xzmf", &format!("{folder}.crate"), "-C"])
            .arg(&workspace)
            .current_dir(&packed)
            .status();
        if !unpacked.is_ok_and(|status| status.success()) {
            return Err(format!("target/package/{folder}.crate cannot be unpacked"));
        }
        manifest += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    fs::write(workspace.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    fs::copy(root.join("Cargo.lock"), workspace.join("Cargo.lock"))
        .map_err(|error| error.to_string())?;
    // Dependencies were already checked there.
    let target = root.join("target").display().to_string();
    let arguments =
        ["check", "--workspace", "--all-features", "--offline", "--quiet", "--target-dir", &target];
    cargo_output(&workspace, &arguments).map(drop)
}

/// Returns the names and versions of the packages that are published.
fn published(root: &Path) -> Result<Vec<(String, String)>, String> {
    let text = cargo_output(root, &["metadata", "--no-deps", "--format-version", "1", "--locked"])?;
    let metadata: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let name = |package: &serde_json::Value| {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_string();
        // `publish = false` is an empty list of registries.
        package["publish"].is_null().then(|| (text("name"), text("version")))
    };
    Ok(packages.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_fields_are_named() {
        let manifest: Table = "[package]\nname = \"a\"\nversion.workspace = true".parse().unwrap();
        let missing: Vec<&str> = missing(&manifest).collect();
        assert!(missing.contains(&"readme") && !missing.contains(&"version"));
        assert!(is_published(&manifest));
        let own: Table = "[package]\nname = \"a\"\npublish = false".parse().unwrap();
        assert!(!is_published(&own));
    }
}
