//! The direction of dependencies between the crates of the workspace.

use std::path::Path;

use toml::{Table, Value};

/// What each crate may depend on, in the order in which the crates are best read.
const ALLOWED: &[(&str, &[&str])] = &[
    ("pavior-kernel", &[]),
    ("pavior-mesh", &["pavior-kernel"]),
    ("pavior-files", &["pavior-kernel"]),
    ("pavior-allocation", &["pavior-kernel", "pavior-mesh"]),
    ("pavior-planning", &["pavior-kernel", "pavior-mesh", "pavior-allocation"]),
    ("pavior-workload", &["pavior-kernel", "pavior-mesh"]),
    ("pavior-network", &["pavior-kernel", "pavior-mesh"]),
    (
        "pavior-scheduling",
        &["pavior-kernel", "pavior-mesh", "pavior-allocation", "pavior-workload"],
    ),
    (
        "pavior-simulation",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-workload",
            "pavior-network",
            "pavior-planning",
            "pavior-scheduling",
        ],
    ),
    ("pavior-draw", &["pavior-kernel", "pavior-mesh", "pavior-allocation", "pavior-network"]),
    (
        "pavior-experiments",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-workload",
            "pavior-network",
            "pavior-scheduling",
            "pavior-simulation",
            "pavior-draw",
            "pavior-files",
        ],
    ),
    (
        "pavior-slurm",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-planning",
            "pavior-workload",
            "pavior-scheduling",
            "pavior-viewer",
        ],
    ),
    (
        "pavior",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-planning",
            "pavior-workload",
            "pavior-network",
            "pavior-scheduling",
            "pavior-simulation",
            "pavior-experiments",
        ],
    ),
    ("pavior-studies", &["pavior"]),
    (
        "pavior-cli",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-workload",
            "pavior-network",
            "pavior-scheduling",
            "pavior-simulation",
            "pavior-draw",
            "pavior-experiments",
            "pavior-files",
            "pavior-studies",
            "pavior-planning",
            "pavior-slurm",
            "pavior-serve",
            "pavior-viewer",
        ],
    ),
    (
        "pavior-serve",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-planning",
            "pavior-workload",
            "pavior-scheduling",
            "pavior-viewer",
        ],
    ),
    ("pavior-viewer", &[]),
    (TRIALS, &[]),
    ("xtask", &["pavior-mesh", "pavior-allocation"]),
    (
        "pavior-python",
        &[
            "pavior-kernel",
            "pavior-mesh",
            "pavior-allocation",
            "pavior-workload",
            "pavior-network",
            "pavior-scheduling",
            "pavior-simulation",
            "pavior-draw",
            "pavior-experiments",
            "pavior-files",
        ],
    ),
];

/// What the tests of every crate may use, and nothing but tests.
const TRIALS: &str = "pavior-trials";

/// Every edge that ARCHITECTURE.md does not list.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = 0;
    for folder in ["crates", "apps", "xtask", "."] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path().join("Cargo.toml"))) {
            if let Ok(text) = std::fs::read_to_string(&path) {
                seen += 1;
                problems.extend(of_manifest(&path.display().to_string(), &text));
            }
        }
    }
    if seen < ALLOWED.len() {
        problems
            .push(format!("{seen} crates found, {} listed in xtask/src/layers.rs", ALLOWED.len()));
    }
    problems.sort();
    problems
}

/// The forbidden edges of one crate. Development dependencies may look downwards only, too.
fn of_manifest(path: &str, text: &str) -> Vec<String> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let name = manifest.get("package").and_then(|package| package.get("name"));
    let Some(name) = name.and_then(Value::as_str) else {
        return vec![format!("{path}: no package name")];
    };
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{path}: {name} is not listed in xtask/src/layers.rs")];
    };
    let mut problems = Vec::new();
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(dependencies) = manifest.get(section).and_then(Value::as_table) else { continue };
        for dependency in dependencies.keys().filter(|key| key.starts_with("pavior")) {
            let for_tests = dependency == TRIALS && section == "dev-dependencies";
            if !for_tests && !allowed.contains(&dependency.as_str()) {
                problems.push(format!("{path}: {name} must not depend on {dependency}"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upward_edges_are_found() {
        let manifest =
            "[package]\nname = \"pavior-mesh\"\n[dependencies]\npavior-allocation = {}\n";
        assert!(of_manifest("m", manifest)[0].contains("must not depend on pavior-allocation"));
        let manifest =
            "[package]\nname = \"pavior-allocation\"\n[dependencies]\npavior-mesh = {}\n";
        assert!(of_manifest("m", manifest).is_empty());
        assert!(of_manifest("m", "[package]\nname = \"pavior-new\"\n")[0].contains("not listed"));
    }
}
