//! The components of the program: a bill of materials (CycloneDX 1.6, JSON), and the licenses of
//! all parts.
//!
//! The parts are the packages that `cargo tree` lists for the program with all its interfaces,
//! except build tools, and the npm packages in the page's bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::process::{self, array, text};

/// A package that the program contains.
pub(super) struct Part {
    name: String,
    version: String,
    /// The package URL: `pkg:cargo/serde@1.0.0`.
    url: String,
    /// An SPDX expression.
    license: String,
    /// The SHA-256 checksum of the package in the registry.
    sum: Option<String>,
    /// The package URLs of the parts that it needs.
    needs: BTreeSet<String>,
    /// The folder that contains its licenses.
    folder: PathBuf,
    /// True if the part belongs to Pavior.
    is_own: bool,
}

/// Lists the parts of the program in alphabetical order.
pub(super) fn parts(root: &Path) -> Result<Vec<Part>, String> {
    let words = "tree --locked --package pavior-cli --all-features --edges normal \
                 --target x86_64-unknown-linux-gnu --prefix none --no-dedupe --format {p}";
    let tree = process::output(&mut process::cargo(root, words))?;
    // A line such as `serde v1.0.0 (/folder)`.
    let names = tree.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>());
    let used: BTreeSet<Vec<&str>> = names.collect();
    let metadata = process::metadata(root, "--all-features")?;
    let sums = sums(root)?;
    let is_used = |package: &&Value| {
        let version = format!("v{}", text(package, "version"));
        used.contains(&vec![text(package, "name"), &version])
    };
    let packages = array(&metadata["packages"]).iter().filter(is_used);
    let urls: BTreeMap<&str, String> =
        packages.clone().map(|package| (text(package, "id"), cargo_url(package))).collect();
    let nodes = array(&metadata["resolve"]["nodes"]).iter();
    let needs: BTreeMap<&str, &[Value]> =
        nodes.map(|node| (text(node, "id"), array(&node["dependencies"]))).collect();
    let mut parts: Vec<Part> = packages
        .map(|package| {
            let url = cargo_url(package);
            let needs = needs.get(text(package, "id")).copied().unwrap_or_default();
            let needs = needs.iter().filter_map(|id| urls.get(id.as_str()?).cloned());
            Part {
                name: text(package, "name").to_string(),
                version: text(package, "version").to_string(),
                // An old form of OR.
                license: text(package, "license").replace('/', " OR "),
                sum: sums.get(&url).cloned(),
                needs: needs.collect(),
                folder: Path::new(text(package, "manifest_path")).with_file_name(""),
                is_own: package["source"].is_null(),
                url,
            }
        })
        .collect();
    parts.extend(of_npm(root)?);
    parts.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(parts)
}

fn cargo_url(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version").replace('+', "%2B"))
}

/// Returns the checksums in Cargo.lock, by package URL.
fn sums(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| error.to_string())?;
    let lock: Value = toml::from_str(&lock).map_err(|error| format!("Cargo.lock: {error}"))?;
    let sum =
        |package: &Value| Some((cargo_url(package), package["checksum"].as_str()?.to_string()));
    Ok(array(&lock["package"]).iter().filter_map(sum).collect())
}

/// Lists the packages in the page's bundle, from npm's lock file.
fn of_npm(root: &Path) -> Result<Vec<Part>, String> {
    let page = root.join("crates/viewer/page");
    let lock = fs::read_to_string(page.join("package-lock.json"));
    let lock = lock.map_err(|error| format!("package-lock.json: {error}"))?;
    let lock: Value =
        serde_json::from_str(&lock).map_err(|error| format!("package-lock.json: {error}"))?;
    let packages = lock["packages"].as_object().into_iter().flatten();
    let parts = packages.filter_map(|(place, package)| {
        let name = place.strip_prefix("node_modules/")?;
        let version = text(package, "version");
        (package["dev"] != true).then(|| Part {
            name: name.to_string(),
            version: version.to_string(),
            url: format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
            license: text(package, "license").to_string(),
            sum: None,
            needs: BTreeSet::new(),
            folder: page.clone(),
            is_own: false,
        })
    });
    Ok(parts.collect())
}

/// Returns the bill of materials.
pub(super) fn text_of(parts: &[Part], version: &str) -> Result<String, String> {
    let component = |part: &Part, kind: &str, name: &str, version: &str| {
        let mut component = json!({
            "type": kind,
            "bom-ref": part.url,
            "name": name,
            "version": version,
            "licenses": [{ "expression": part.license }],
            "purl": part.url,
        });
        if let Some(sum) = &part.sum {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        component
    };
    let (program, others): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| part.name == "pavior-cli");
    let others = others.iter().map(|part| component(part, "library", &part.name, &part.version));
    let needs = |part: &Part| json!({ "ref": part.url, "dependsOn": part.needs });
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": component(program[0], "application", "pavior", version) },
        "components": others.collect::<Vec<Value>>(),
        "dependencies": parts.iter().map(needs).collect::<Vec<Value>>(),
    });
    serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())
}

/// Returns the licenses of all parts that do not belong to Pavior: the license of each part, and
/// each text once.
pub(super) fn licenses(parts: &[Part]) -> Result<String, String> {
    let mut list = "pavior contains the following packages.\n\n".to_string();
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.is_own) {
        let _ = writeln!(list, "{} {}: {}", part.name, part.version, part.license);
        for name in super::files(&part.folder)?.iter().filter(|name| is_license(name)) {
            if let Ok(text) = fs::read_to_string(part.folder.join(name)) {
                texts.entry(text).or_default().insert(&part.name);
            }
        }
    }
    for (text, names) in texts {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = write!(list, "\n{}\n{}:\n\n{}\n", "=".repeat(80), names.join(", "), text.trim());
    }
    Ok(list)
}

/// Returns true if a file has the name of a license.
fn is_license(name: &str) -> bool {
    let words = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"];
    words.iter().any(|word| name.to_uppercase().contains(word))
}

#[test]
fn the_bill_lists_the_parts_of_the_program_and_no_test_tools() {
    let parts = parts(&crate::root()).unwrap();
    let part = |name: &str| parts.iter().find(|part| part.name == name);
    let serde = part("serde").unwrap();
    assert_eq!(serde.sum.as_ref().map(String::len), Some(64));
    assert!(part("three").is_some_and(|three| three.url.starts_with("pkg:npm/three@")));
    assert!(part("pavior-trials").is_none() && part("tempfile").is_some());
    assert!(part("pavior-cli").unwrap().needs.contains(&part("pavior-viewer").unwrap().url));
    assert!(parts.iter().all(|part| !part.license.is_empty()));
    let licenses = licenses(&parts).unwrap();
    assert!(licenses.contains(&format!("serde {}: MIT OR Apache-2.0", serde.version)));
    assert!(licenses.contains("three.js authors"));
}
