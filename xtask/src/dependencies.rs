//! Checks the licenses of dependencies and finds duplicate versions. This is like cargo-deny, but
//! without online advisories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::Problems;
use crate::process::{self, array, text};

/// Permissive licenses that a dependency may have.
const LICENSES: &[&str] = &[
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

/// Packages built only for other platforms, so that their licenses are not restricted.
const NOT_BUILT: &[(&str, &str)] =
    &[("tiny-keccak", "WebAssembly only: seeds arrow-array's hashing")];

/// Packages that are needed in several versions, and the packages that require each version.
const SEVERAL: &[(&str, &str)] = &[
    ("base64", "rcgen (tests only) requires 0.23, postgres 0.22"),
    ("num-bigint", "in no binary: an unused part of rcgen requires 0.4, arrow 0.5"),
    ("getrandom", "ring requires 0.2, all others 0.4"),
    ("hashbrown", "kube requires 0.16, indexmap 0.17"),
    ("r-efi", "other platforms only: arrow-array's hashing requires 5, all others 6"),
    ("shlex", "trycmd (tests only) requires 1, cc 2"),
    ("syn", "some derive macros still require 2, others 3"),
    ("wasi", "other platforms only: mio and ring require 0.11, wasite 0.14"),
    ("windows-sys", "other platforms only: ring requires 0.52, all others 0.61"),
];

pub(crate) fn problems(root: &Path) -> Problems {
    Ok(of_packages(array(&process::metadata(root, "")?["packages"])))
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
            let permissive = LICENSES.join(", ");
            problems.push(format!("{name} {version}: `{license}` is not one of {permissive}"));
        }
    }
    for (name, found) in versions {
        let found: Vec<&str> = found.into_iter().collect();
        match (found.len() > 1, SEVERAL.iter().any(|(known, _)| *known == name)) {
            (true, false) => problems.push(format!(
                "{name}: versions {}; use a single version, or list the package and the reason in \
                 xtask/src/dependencies.rs",
                found.join(" and ")
            )),
            (false, true) => problems.push(format!(
                "only one version of {name} is in use; remove it from xtask/src/dependencies.rs"
            )),
            _ => {}
        }
    }
    problems
}

/// Returns true if permissive licenses alone satisfy an SPDX expression. `/` is accepted as the
/// former spelling of `OR`.
fn is_permissive(expression: &str) -> bool {
    let is_met = |license: &spdx::LicenseReq| LICENSES.contains(&license.to_string().as_str());
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
    assert!(found.contains("only one version of syn is in use"), "{found}");
    assert!(found.contains("a: versions 1.0.0 and 2.0.0"), "{found}");
    assert!(found.contains("b 1.0.0: `` is not") && found.contains("c 1.0.0: `MIT AND"), "{found}");
}
