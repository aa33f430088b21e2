//! The direction of dependencies between the crates of the workspace.

use std::path::Path;

use toml::{Table, Value};

/// The allowed dependencies of each crate, in the order the crates are best read. Names omit
/// `pavior-`.
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
    (
        FACADE,
        "kernel mesh allocation workload network scheduling answers simulation draw experiments \
         files",
    ),
    ("studies", "pavior"),
    ("viewer", ""),
    ("board", "pavior viewer"),
    ("serve", "pavior viewer"),
    ("slurm", "pavior viewer board"),
    ("kube", "pavior viewer board"),
    ("python", "pavior viewer"),
    ("cli", "pavior viewer studies serve slurm kube"),
    ("browser", "pavior"),
    (TRIALS, ""),
    ("xtask", ""),
];

/// The crate that interfaces use. It lists each public item and re-exports no crate as a whole.
const FACADE: &str = "pavior";

/// A crate that the tests of every crate may use, and only tests. They may also depend on their own
/// crate, with more features.
const TRIALS: &str = "trials";

/// Returns every dependency that ARCHITECTURE.md does not list.
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
    for path in files(&root.join("crates/pavior/src")) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        problems.extend(whole_crates(&path.display().to_string(), &text));
    }
    if seen < ALLOWED.len() {
        problems
            .push(format!("{seen} crates found, {} listed in xtask/src/layers.rs", ALLOWED.len()));
    }
    problems.sort();
    problems
}

/// Returns the files in a folder, without those in subfolders.
fn files(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file())
}

/// Returns the lines in a file of the facade that re-export a whole crate or all its items.
fn whole_crates(path: &str, text: &str) -> Vec<String> {
    let whole = |line: &str| {
        let line = line.trim_start().strip_prefix("pub use pavior_")?;
        (!line.contains("::") || line.contains('*'))
            .then(|| format!("{path}: `pavior_{line}` re-exports a whole crate: list the items"))
    };
    text.lines().filter_map(whole).collect()
}

/// Returns the forbidden dependencies of one crate. Development dependencies may also only point
/// downwards.
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

    #[test]
    fn an_interface_uses_the_facade_alone() {
        for interface in ["cli", "python", "serve", "slurm", "kube", "board"] {
            let manifest = |other: &str| {
                let name = format!("[package]\nname = \"pavior-{interface}\"\n");
                of_manifest("m", &format!("{name}[dependencies]\n{other} = {{}}\n"))
            };
            assert!(manifest("pavior").is_empty() && manifest("pavior-viewer").is_empty());
            let inner = ALLOWED.iter().find(|(name, _)| *name == FACADE).unwrap().1;
            for inner in inner.split_whitespace() {
                assert_eq!(manifest(&format!("pavior-{inner}")).len(), 1, "{interface}: {inner}");
            }
        }
    }

    #[test]
    fn a_daemon_compiles_no_network_simulation_or_drawings() {
        for daemon in ["apps/serve", "apps/slurm", "apps/kube", "crates/board"] {
            let path = crate::root().join(daemon).join("Cargo.toml");
            let manifest: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
            let features = manifest["dependencies"][FACADE]["features"].as_array().unwrap();
            for feature in features.iter().map(|feature| feature.as_str().unwrap()) {
                assert!(["answers", "files", "json", "serde"].contains(&feature), "{daemon}");
            }
        }
    }

    #[test]
    fn the_facade_re_exports_no_whole_crate() {
        let text = "pub use pavior_mesh as mesh;\npub use pavior_kernel;\n\
                    pub use pavior_draw::*;\n\
                    pub use pavior_mesh::{\n    Grid,\n};\npub use pavior_mesh::Cuboid;\n";
        assert_eq!(whole_crates("m", text).len(), 3);
    }
}
