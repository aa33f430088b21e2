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
use toml::Table;

use crate::cargo::output as cargo_output;

/// A package that the program contains.
pub(super) struct Part {
    name: String,
    version: String,
    /// The package URL: `pkg:cargo/serde@1.0.0`.
    url: String,
    /// An SPDX expression.
    licence: String,
    /// The SHA-256 of the package in the registry.
    sum: Option<String>,
    /// The package URLs of the parts that it needs.
    needs: BTreeSet<String>,
    /// The folder that contains its licenses.
    folder: PathBuf,
    /// True if it belongs to Pavior.
    is_own: bool,
}

const TREE: [&str; 14] = [
    "tree",
    "--locked",
    "--package",
    "pavior-cli",
    "--all-features",
    "--edges",
    "normal",
    "--target",
    "x86_64-unknown-linux-gnu",
    "--prefix",
    "none",
    "--no-dedupe",
    "--format",
    "{p}",
];

/// Lists the parts of the program in alphabetical order.
pub(super) fn parts(root: &Path) -> Result<Vec<Part>, String> {
    let tree = cargo_output(root, &TREE)?;
    let used: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let metadata = ["metadata", "--locked", "--all-features", "--format-version", "1"];
    let metadata: Value = read_json(&cargo_output(root, &metadata)?, "cargo metadata")?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| error.to_string())?;
    let lock: Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let is_used = |package: &&Value| {
        used.contains(&(text(package, "name").as_str(), text(package, "version").as_str()))
    };
    let packages = array(&metadata["packages"]).iter().filter(is_used);
    let urls: BTreeMap<String, String> =
        packages.clone().map(|package| (text(package, "id"), cargo_url(package))).collect();
    let nodes = array(&metadata["resolve"]["nodes"]);
    let mut parts: Vec<Part> = packages
        .map(|package| {
            let id = text(package, "id");
            let node = nodes.iter().find(|node| text(node, "id") == id);
            let needs = node.map_or(&[][..], |node| array(&node["dependencies"]));
            let needs = needs.iter().filter_map(|id| urls.get(id.as_str()?).cloned());
            of_cargo(package, needs.collect(), &lock)
        })
        .collect();
    parts.extend(of_npm(root)?);
    parts.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(parts)
}

/// Parses the name and the version of a package from a line such as `serde v1.0.0 (/folder)`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

fn of_cargo(package: &Value, needs: BTreeSet<String>, lock: &Table) -> Part {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let locked = lock["package"].as_array().map_or(&[][..], Vec::as_slice);
    let is_it = |entry: &&toml::Value| {
        entry["name"].as_str() == Some(&name) && entry["version"].as_str() == Some(&version)
    };
    let sum = locked.iter().find(is_it).and_then(|entry| entry.get("checksum")?.as_str());
    let manifest = PathBuf::from(text(package, "manifest_path"));
    Part {
        url: cargo_url(package),
        // An old form of OR.
        licence: text(package, "license").replace('/', " OR "),
        sum: sum.map(String::from),
        needs,
        folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
        is_own: package["source"].is_null(),
        name,
        version,
    }
}

/// Lists the packages in the page's bundle, from npm's lock file.
fn of_npm(root: &Path) -> Result<Vec<Part>, String> {
    let page = root.join("crates/viewer/page");
    let file = page.join("package-lock.json");
    let lock = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lock: Value = read_json(&lock, "package-lock.json")?;
    let packages = lock["packages"].as_object().into_iter().flatten();
    let parts = packages.filter_map(|(place, package)| {
        let name = place.strip_prefix("node_modules/")?;
        if package["dev"] == true {
            return None;
        }
        let version = text(package, "version");
        Some(Part {
            name: name.to_string(),
            url: format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
            version,
            licence: text(package, "license"),
            sum: None,
            needs: BTreeSet::new(),
            folder: page.clone(),
            is_own: false,
        })
    });
    Ok(parts.collect())
}

/// Writes the bill of materials.
pub(super) fn text_of(parts: &[Part], version: &str) -> Result<Vec<u8>, String> {
    let licences = |part: &Part| json!([{ "expression": part.licence }]);
    let component = |part: &Part| {
        let mut component = json!({
            "type": "library",
            "bom-ref": part.url,
            "name": part.name,
            "version": part.version,
            "licenses": licences(part),
            "purl": part.url,
        });
        if let Some(sum) = &part.sum {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        component
    };
    let is_program = |part: &&Part| part.name == "pavior-cli";
    let program = parts.iter().find(is_program).ok_or("the program is not one of its parts")?;
    let needs = |part: &Part| json!({ "ref": part.url, "dependsOn": part.needs });
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": program.url,
            "name": "pavior",
            "version": version,
            "licenses": licences(program),
            "purl": program.url,
        } },
        "components": parts.iter().filter(|part| !is_program(part)).map(component)
            .collect::<Vec<Value>>(),
        "dependencies": parts.iter().map(needs).collect::<Vec<Value>>(),
    });
    serde_json::to_vec_pretty(&bill).map_err(|error| error.to_string())
}

/// Writes the licenses of all parts that do not belong to Pavior: the license of each part, and
/// each text once.
pub(super) fn licences(parts: &[Part]) -> Result<String, String> {
    let mut list = "pavior contains the following packages.\n\n".to_string();
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.is_own) {
        let _ = writeln!(list, "{} {}: {}", part.name, part.version, part.licence);
        for text in licence_files(part)? {
            texts.entry(text).or_default().insert(&part.name);
        }
    }
    for (text, names) in texts {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = write!(list, "\n{}\n{}:\n\n{}\n", "=".repeat(80), names.join(", "), text.trim());
    }
    Ok(list)
}

/// Returns the texts of those files in a package that have the name of a license file.
fn licence_files(part: &Part) -> Result<Vec<String>, String> {
    let folder = &part.folder;
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let words = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"];
        path.is_file() && words.iter().any(|word| name.contains(word))
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_licence);
    Ok(files.filter_map(|path| fs::read_to_string(path).ok()).collect())
}

fn cargo_url(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version").replace('+', "%2B"))
}

fn read_json(text: &str, what: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{what}: {error}"))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_string()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_its_parts_and_no_tool_of_the_tests() {
        let parts = parts(&crate::root()).unwrap();
        let part = |name: &str| parts.iter().find(|part| part.name == name);
        let serde = part("serde").unwrap();
        assert_eq!(serde.sum.as_ref().map(String::len), Some(64));
        assert!(part("three").is_some_and(|three| three.url.starts_with("pkg:npm/three@")));
        assert!(part("pavior-trials").is_none() && part("tempfile").is_some());
        assert!(part("pavior-cli").unwrap().needs.contains(&part("pavior-viewer").unwrap().url));
        assert!(parts.iter().all(|part| !part.licence.is_empty()));
        let licences = licences(&parts).unwrap();
        assert!(licences.contains(&format!("serde {}: MIT OR Apache-2.0", serde.version)));
        assert!(licences.contains("three.js authors"));
    }
}
