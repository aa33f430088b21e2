//! Checks the direction of dependencies between the crates in the workspace.

use std::path::Path;

use serde_json::Value;

use crate::process::{self, array, text};
use crate::{Problems, sources};

const PAGE: &str = "ARCHITECTURE.md";

/// The first line of the table of allowed dependencies. Its crate names omit `pavior-`.
const HEAD: &str = "| crate | may use |";

/// The crate that interfaces use. It re-exports individual items, never a whole crate.
const FACADE: &str = "pavior";

/// A crate that only tests may use. Tests may also depend on their own crate for more features.
const TRIALS: &str = "trials";

/// Interfaces that must not compile the network, simulation or drawing crates, and the facade
/// features that they are allowed to enable.
const DAEMONS: [&str; 3] = ["serve", "slurm", "kube"];
const FEATURES: [&str; 4] = ["answers", "files", "json", "serde"];

/// Returns all dependencies that the table in ARCHITECTURE.md does not allow.
pub(crate) fn problems(root: &Path) -> Problems {
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    let metadata = process::metadata(root, "--no-deps")?;
    let packages = array(&metadata["packages"]).iter();
    let mut problems: Vec<String> = packages.flat_map(|one| of_package(one, &page)).collect();
    for file in sources(&root.join("crates/pavior/src"), "rs") {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        problems.extend(whole_crates(&file.display().to_string(), &text));
    }
    Ok(problems)
}

/// Returns the lines in a facade file that re-export a whole crate or everything in it.
fn whole_crates(path: &str, text: &str) -> Vec<String> {
    let whole = |line: &str| {
        let line = line.trim_start().strip_prefix("pub use pavior_")?;
        (!line.contains("::") || line.contains('*'))
            .then(|| format!("{path}: `pavior_{line}` re-exports a whole crate; list the items"))
    };
    text.lines().filter_map(whole).collect()
}

/// Returns the crates that a given crate may use, according to the table.
fn allowed<'a>(page: &'a str, own: &str) -> Option<Vec<&'a str>> {
    let words = |cell: &'a str| cell.split([',', ' ']).filter(|word| !word.is_empty());
    let rows = page.lines().skip_while(|line| *line != HEAD).take_while(|line| line.contains('|'));
    // Crates in a row with more than two cells are treated as missing from the table.
    rows.filter_map(|row| row.trim_matches('|').split_once('|'))
        .find(|(crates, uses)| !uses.contains('|') && words(crates).any(|name| name == own))
        .map(|(_, uses)| words(uses).collect())
}

/// Returns a package's forbidden dependencies, including development dependencies.
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
    fn upward_edges_and_features_are_found() {
        let page = "text\n| crate | may use |\n|---|---|\n| mesh, files | no other crate |\n\
                    | allocation | mesh, files |\n| slurm, kube | pavior |\n";
        for (name, other, kind, features, problem) in [
            ("pavior-allocation", "pavior-mesh", None, "", None),
            ("pavior-mesh", "pavior-allocation", None, "", Some("not depend on allocation")),
            ("pavior-mesh", "pavior-allocation", Some("dev"), "", Some("not depend on allocation")),
            ("pavior-mesh", "pavior-trials", Some("dev"), "", None),
            ("pavior-mesh", "pavior-trials", None, "", Some("not depend on trials")),
            ("pavior-kube", "pavior-mesh", None, "", Some("not depend on mesh")),
            ("pavior-kube", "pavior", None, "answers", None),
            ("pavior-kube", "pavior", None, "simulation", Some("use pavior's `simulation`")),
            ("pavior-new", "pavior", None, "", Some("not listed")),
        ] {
            let package = serde_json::json!({"name": name, "dependencies": [
                {"name": other, "kind": kind, "features": [features]},
            ]});
            let found = of_package(&package, page).join("");
            match problem {
                Some(problem) => assert!(found.contains(problem), "{name} {other}: {found}"),
                None => assert_eq!(found, "", "{name} {other}"),
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
