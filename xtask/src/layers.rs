//! The direction of dependencies between the crates of the workspace.

use std::path::Path;

use toml::{Table, Value};

/// The allowed dependencies of each crate, in the order in which the crates are best read. Names
/// are without `pavior-`.
const ALLOWED: &[(&str, &str)] = &[
    ("kernel", ""),
    ("mesh", "kernel"),
    ("files", "kernel"),
    ("allocation", "kernel mesh"),
    ("workload", "kernel mesh"),
    ("network", "kernel mesh"),
    ("scheduling", "kernel mesh allocation workload"),
    ("answers", "kernel mesh allocation workload scheduling"),
    ("simulation", "kernel mesh allocation workload network answers scheduling"),
    ("draw", "kernel mesh allocation network"),
    (
        "experiments",
        "kernel mesh allocation workload network scheduling answers simulation draw files",
    ),
    ("board", "kernel mesh allocation answers workload viewer"),
    ("slurm", "kernel mesh allocation answers workload scheduling board"),
    ("kube", "kernel mesh allocation answers workload scheduling files board"),
    ("pavior", "kernel mesh allocation answers workload network scheduling simulation experiments"),
    ("studies", "pavior"),
    (
        "cli",
        "kernel mesh allocation workload network scheduling simulation draw experiments \
         files studies answers kube slurm serve viewer",
    ),
    ("serve", "kernel mesh allocation answers workload scheduling viewer"),
    ("viewer", ""),
    (TRIALS, ""),
    ("xtask", "kernel mesh allocation"),
    (
        "python",
        "kernel mesh allocation answers workload network scheduling simulation draw \
         experiments files",
    ),
];

/// A crate that the tests of every crate may use, and only tests. They may also depend on their own
/// crate, with more features.
const TRIALS: &str = "trials";

/// Returns every edge that ARCHITECTURE.md does not list.
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

/// Returns the forbidden edges of one crate. Development dependencies may only point downwards,
/// too.
fn of_manifest(path: &str, text: &str) -> Vec<String> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let name = manifest.get("package").and_then(|package| package.get("name"));
    let Some(name) = name.and_then(Value::as_str) else {
        return vec![format!("{path}: no package name")];
    };
    let short = |name: &'_ str| name.strip_prefix("pavior-").unwrap_or(name).to_string();
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == short(name)) else {
        return vec![format!("{path}: {name} is not listed in xtask/src/layers.rs")];
    };
    let mut problems = Vec::new();
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(dependencies) = manifest.get(section).and_then(Value::as_table) else { continue };
        for dependency in dependencies.keys().filter(|key| key.starts_with("pavior")) {
            let other = short(dependency);
            let is_own = other == TRIALS || other == short(name);
            let for_tests = is_own && section == "dev-dependencies";
            if !for_tests && !allowed.split_whitespace().any(|allowed| allowed == other) {
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
