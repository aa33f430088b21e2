//! Licenses and duplicate versions of the dependencies, from `cargo metadata`: the checks of
//! cargo-deny without its online advisories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::cargo::output as cargo_output;

/// Permissive licenses that a dependency may have.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
];

/// Packages with other licenses that are not in any program, since they are only used on platforms
/// for which Pavior is not built.
const NOT_BUILT: &[(&str, &str)] =
    &[("tiny-keccak", "of WebAssembly: the hashes of arrow-array draw their seed with it")];

/// Packages that are needed in several versions, and the packages that need them.
const SEVERAL: &[(&str, &str)] = &[
    ("base64", "rcgen, which tests only, asks for 0.23, postgres for 0.22"),
    ("num-bigint", "in no program: a part of rcgen that is left out asks for 0.4, arrow for 0.5"),
    ("getrandom", "ring asks for 0.2, all others for 0.4"),
    ("hashbrown", "kube asks for 0.16, indexmap for 0.17"),
    ("r-efi", "of other platforms: the hashes of arrow-array ask for 5, all others for 6"),
    ("shlex", "trycmd, which tests only, asks for 1, cc for 2"),
    ("syn", "derive macros move from 2 to 3 one by one"),
    ("wasi", "of other platforms: mio and ring ask for 0.11, wasite for 0.14"),
    ("windows-sys", "of other platforms: ring asks for 0.52, all others for 0.61"),
];

/// Returns the problems of the dependencies, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let metadata = match cargo_output(root, &arguments) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    match serde_json::from_str::<Value>(&metadata) {
        Ok(metadata) => of_metadata(&metadata),
        Err(error) => vec![format!("cargo metadata: {error}")],
    }
}

fn of_metadata(metadata: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    if packages.is_empty() {
        problems.push("cargo metadata lists no packages".to_string());
    }
    for package in packages {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        versions.entry(name).or_default().insert(version);
        let is_built = !NOT_BUILT.iter().any(|(known, _)| *known == name);
        if is_built && !is_permissive(text("license")) {
            problems.push(format!(
                "{name} {version}: license `{}` is not one of {}",
                text("license"),
                LICENCES.join(", ")
            ));
        }
    }
    for (name, found) in &versions {
        if found.len() > 1 && !SEVERAL.iter().any(|(known, _)| known == name) {
            let found: Vec<&str> = found.iter().copied().collect();
            problems.push(format!(
                "{name}: versions {}; agree on one, or list it with the reason in \
                 xtask/src/dependencies.rs",
                found.join(" and ")
            ));
        }
    }
    for (name, _) in SEVERAL {
        if versions.get(name).is_some_and(|found| found.len() < 2) {
            problems.push(format!("{name} has one version; take it off xtask/src/dependencies.rs"));
        }
    }
    problems
}

/// Returns true if an SPDX expression can be satisfied with permissive licenses; `/` is an old OR.
fn is_permissive(expression: &str) -> bool {
    let is_met = |license: &spdx::LicenseReq| LICENCES.contains(&license.to_string().as_str());
    let parsed = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX);
    parsed.is_ok_and(|expression| expression.evaluate(is_met))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_or_not() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "Unlicense OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
        ] {
            assert!(is_permissive(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT MIT", "Apache-2.0 WITH", "OR"] {
            assert!(!is_permissive(bad), "{bad}");
        }
    }

    #[test]
    fn duplicates_and_licences_are_named() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "version": "1.0.0", "license": "MIT"},
            {"name": "a", "version": "2.0.0", "license": "MIT"},
            {"name": "b", "version": "1.0.0", "license": null},
        ]});
        let found = of_metadata(&metadata).join("\n");
        assert!(found.contains("a: versions 1.0.0 and 2.0.0"), "{found}");
        assert!(found.contains("b 1.0.0: license ``"), "{found}");
    }
}
