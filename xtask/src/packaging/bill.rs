//! The program's bill of materials (CycloneDX 1.6, JSON), and the licenses of its components.
//!
//! The parts are the npm packages in the page bundle, and the packages that `cargo tree` lists for
//! the program with all interfaces, excluding build tools.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::files::file_names;
use crate::process::{self, array, text};

/// A package included in the program.
pub(super) struct Part {
    /// The package as a CycloneDX component.
    component: Value,
    /// The package URLs of the package's dependencies.
    needs: BTreeSet<String>,
    /// The directory that contains the package's licenses.
    folder: PathBuf,
}

impl Part {
    fn text(&self, key: &str) -> &str {
        text(&self.component, key)
    }
}

/// Describes a package by its URL, such as `pkg:cargo/serde@1.0.0`, and its SPDX expression.
fn component(package: &Value, url: &str, license: &str) -> Value {
    json!({
        "type": "library",
        "bom-ref": url,
        "name": package["name"],
        "version": package["version"],
        "licenses": [{ "expression": license }],
        "purl": url,
    })
}

/// Returns the program's parts in alphabetical order.
pub(super) fn parts(root: &Path) -> Result<Vec<Part>, String> {
    let words = "tree --locked --package pavior-cli --all-features --edges normal \
                 --target x86_64-unknown-linux-gnu --prefix none --no-dedupe --format {p}";
    let tree = process::output(&mut process::cargo(root, words))?;
    // Each line has the form `serde v1.0.0 (/path)`.
    let used: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(" (").next()).collect();
    let metadata = process::metadata(root, "--all-features")?;
    let sums = sums(root)?;
    let is_used = |package: &&Value| {
        used.contains(&*format!("{} v{}", text(package, "name"), text(package, "version")))
    };
    let packages = array(&metadata["packages"]).iter().filter(is_used);
    let urls: BTreeMap<&str, String> =
        packages.clone().map(|package| (text(package, "id"), cargo_url(package))).collect();
    let nodes = array(&metadata["resolve"]["nodes"]).iter();
    let needs: BTreeMap<&str, &[Value]> =
        nodes.map(|node| (text(node, "id"), array(&node["dependencies"]))).collect();
    let part = |package: &Value| {
        let (id, url) = (text(package, "id"), cargo_url(package));
        // `/` is the former spelling of OR.
        let license = text(package, "license").replace('/', " OR ");
        let mut component = component(package, &url, &license);
        if let Some(sum) = sums.get(&url) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        let needs = needs.get(id).copied().unwrap_or_default().iter();
        Part {
            component,
            needs: needs.filter_map(|id| urls.get(id.as_str()?).cloned()).collect(),
            folder: Path::new(text(package, "manifest_path")).with_file_name(""),
        }
    };
    let mut parts: Vec<Part> = packages.map(part).collect();
    parts.extend(of_npm(root)?);
    parts.sort_by_cached_key(|part| ["name", "version"].map(|key| part.text(key).to_string()));
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

/// Returns the packages in the page bundle, from npm's lock file.
fn of_npm(root: &Path) -> Result<Vec<Part>, String> {
    let page = root.join("crates/viewer/page");
    let fault = |error: &dyn std::fmt::Display| format!("package-lock.json: {error}");
    let lock = fs::read(page.join("package-lock.json")).map_err(|error| fault(&error))?;
    let mut lock: Value = serde_json::from_slice(&lock).map_err(|error| fault(&error))?;
    let packages = lock["packages"].as_object_mut().into_iter().flatten();
    let parts = packages.filter_map(|(place, package)| {
        let name = place.strip_prefix("node_modules/")?;
        package["name"] = name.into();
        let url = format!("pkg:npm/{}@{}", name.replace('@', "%40"), text(package, "version"));
        (package["dev"] != true).then(|| Part {
            component: component(package, &url, text(package, "license")),
            needs: BTreeSet::new(),
            folder: page.clone(),
        })
    });
    Ok(parts.collect())
}

/// Returns the bill of materials as JSON.
pub(super) fn document(parts: &[Part]) -> Result<String, String> {
    let (program, others): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| part.text("name") == "pavior-cli");
    let [program] = program[..] else {
        return Err("cargo tree does not list pavior-cli".to_string());
    };
    let mut program = program.component.clone();
    program["type"] = "application".into();
    program["name"] = "pavior".into();
    let others: Vec<&Value> = others.iter().map(|part| &part.component).collect();
    let needs = |part: &Part| json!({ "ref": part.text("purl"), "dependsOn": part.needs });
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": program },
        "components": others,
        "dependencies": parts.iter().map(needs).collect::<Vec<Value>>(),
    });
    serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())
}

/// Lists the third-party parts with the names of their licenses, then each license text once.
pub(super) fn licenses(parts: &[Part]) -> Result<String, String> {
    let mut list = "pavior includes the following packages.\n\n".to_string();
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.text("name").starts_with("pavior")) {
        let license = text(&part.component["licenses"][0], "expression");
        let _ = writeln!(list, "{} {}: {license}", part.text("name"), part.text("version"));
        for name in file_names(&part.folder)?.iter().filter(|name| is_license(name)) {
            // Some packages have a directory with such a name.
            let Ok(bytes) = fs::read(part.folder.join(name)) else { continue };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            texts.entry(text).or_default().insert(part.text("name"));
        }
    }
    for (text, names) in texts {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = write!(list, "\n{}\n{}:\n\n{}\n", "=".repeat(80), names.join(", "), text.trim());
    }
    Ok(list)
}

fn is_license(name: &str) -> bool {
    let words = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"];
    words.iter().any(|word| name.to_uppercase().contains(word))
}

#[test]
fn the_bill_lists_the_parts_of_the_program_and_no_test_tools() {
    let parts = parts(&crate::root()).unwrap();
    let part = |name: &str| parts.iter().find(|part| part.text("name") == name);
    let serde = &part("serde").unwrap().component;
    assert_eq!(text(&serde["hashes"][0], "content").len(), 64);
    assert!(part("three").is_some_and(|three| three.text("purl").starts_with("pkg:npm/three@")));
    assert!(part("pavior-trials").is_none() && part("tempfile").is_some());
    let needs = &part("pavior-cli").unwrap().needs;
    assert!(needs.contains(part("pavior-viewer").unwrap().text("purl")));
    let license = |part: &Part| !text(&part.component["licenses"][0], "expression").is_empty();
    assert!(parts.iter().all(license));
    let licenses = licenses(&parts).unwrap();
    assert!(licenses.contains(&format!("serde {}: MIT OR Apache-2.0", text(serde, "version"))));
    assert!(licenses.contains("three.js authors"));
}
