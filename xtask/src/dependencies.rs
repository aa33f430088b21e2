//! Checks for licenses and duplicate versions of the dependencies, from `cargo metadata`, as by
//! cargo-deny but without online advisories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::process::{self, array, text};

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

/// Packages that may have other licenses, because they are used only on other platforms.
const NOT_BUILT: &[(&str, &str)] =
    &[("tiny-keccak", "of WebAssembly: the hashes of arrow-array draw their seed with it")];

/// Packages that are needed in several versions, each with the packages that need them.
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

/// Returns the problems with the dependencies, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    match process::metadata(root, "") {
        Ok(metadata) => of_packages(array(&metadata["packages"])),
        Err(problem) => vec![problem],
    }
}

fn of_packages(packages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let license = text(package, "license");
        versions.entry(name).or_default().insert(version);
        let is_built = !NOT_BUILT.iter().any(|(known, _)| *known == name);
        if is_built && !is_permissive(license) {
            let permissive = LICENCES.join(", ");
            problems.push(format!("{name} {version}: `{license}` is not one of {permissive}"));
        }
    }
    for (name, found) in versions {
        let found: Vec<&str> = found.into_iter().collect();
        match (found.len() > 1, SEVERAL.iter().any(|(known, _)| *known == name)) {
            (true, false) => problems.push(format!(
                "{name}: versions {}; use a single version, or list the package with the reason \
                 in xtask/src/dependencies.rs",
                found.join(" and ")
            )),
            (false, true) => problems
                .push(format!("{name} has one version; remove it from xtask/src/dependencies.rs")),
            _ => {}
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

#[test]
fn other_licenses_and_duplicate_versions_are_found() {
    let packages = [
        ("a", "1.0.0", "MIT/Apache-2.0"),
        ("a", "2.0.0", "MIT OR GPL-3.0"),
        ("b", "1.0.0", ""),
        ("c", "1.0.0", "MIT AND GPL-3.0"),
        ("d", "1.0.0", "(MIT OR Apache-2.0) AND Unicode-3.0"),
        ("syn", "2.0.0", "MIT"),
    ];
    let package = |(name, version, license)| {
        serde_json::json!({
            "name": name, "version": version, "license": license,
        })
    };
    let found = of_packages(&packages.map(package)).join("\n");
    assert_eq!(found.lines().count(), 4, "{found}");
    assert!(found.contains("syn has one version"), "{found}");
    assert!(found.contains("a: versions 1.0.0 and 2.0.0"), "{found}");
    assert!(found.contains("b 1.0.0: `` is not") && found.contains("c 1.0.0: `MIT AND"), "{found}");
}
