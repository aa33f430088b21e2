//! The direction of dependencies between the crates of the workspace.

use std::path::Path;

use serde_json::Value;

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
    ("cluster", "pavior viewer"),
    ("serve", "pavior viewer"),
    ("slurm", "pavior viewer cluster"),
    ("kube", "pavior viewer cluster"),
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

/// Interfaces that do not compile the network, the simulation and drawings, and the features of the
/// facade that they may use.
const DAEMONS: [&str; 4] = ["serve", "slurm", "kube", "board"];
const FEATURES: [&str; 4] = ["answers", "files", "json", "serde"];

/// Returns every dependency that ARCHITECTURE.md does not list.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    let metadata = match process::metadata(root, "--no-deps") {
        Ok(metadata) => metadata,
        Err(problem) => return vec![problem],
    };
    let packages = array(&metadata["packages"]).iter();
    let mut problems: Vec<String> = packages.flat_map(|one| of_package(one, &page)).collect();
    let facade = root.join("crates/pavior/src");
    for entry in std::fs::read_dir(facade).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        problems.extend(whole_crates(&entry.path().display().to_string(), &text));
    }
    problems
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

/// Returns the crates that a crate may use, from the table on a page.
fn allowed<'a>(page: &'a str, own: &str) -> Option<Vec<&'a str>> {
    let words = |cell: &'a str| cell.split([',', ' ']).filter(|word| !word.is_empty());
    let rows = page.lines().skip_while(|line| *line != HEAD).take_while(|line| line.contains('|'));
    rows.filter_map(|row| row.trim_matches('|').split_once('|'))
        .find(|(crates, _)| words(crates).any(|name| name == own))
        .map(|(_, uses)| words(uses).collect())
}

/// Returns the forbidden dependencies of a package in `cargo metadata`. Development dependencies
/// may also only point downwards.
fn of_package(package: &Value, page: &str) -> Vec<String> {
    let short = |name: &str| name.strip_prefix("pavior-").unwrap_or(name).to_string();
    let own = short(text(package, "name"));
    let Some(allowed) = allowed(page, &own) else {
        return vec![format!("{own}: this crate is not listed in {PAGE}")];
    };
    let mut problems = Vec::new();
    let dependencies = array(&package["dependencies"]).iter();
    for dependency in dependencies.filter(|one| text(one, "name").starts_with("pavior")) {
        let other = short(text(dependency, "name"));
        let for_tests = dependency["kind"] == "dev" && (other == TRIALS || other == own);
        if !for_tests && !allowed.contains(&other.as_str()) {
            problems.push(format!("{own}: must not depend on {other}"));
        }
        if other == FACADE && DAEMONS.contains(&own.as_str()) && dependency["kind"].is_null() {
            let features = array(&dependency["features"]).iter().filter_map(Value::as_str);
            let more = features.filter(|feature| !FEATURES.contains(feature));
            problems.extend(more.map(|more| format!("{own}: must not use {FACADE}'s `{more}`")));
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
        for interface in ["cli", "python", "serve", "slurm", "kube", "cluster"] {
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
        for daemon in ["apps/serve", "apps/slurm", "apps/kube", "crates/cluster"] {
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
