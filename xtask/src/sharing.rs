//! Checks that the interfaces share compiled packages: each must request the same features of the
//! packages that it has in common with the program, so that building one after another compiles
//! none of them twice.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cargo::output as cargo_output;

/// The program as `cargo run` builds it, and the builds that follow.
const FIRST: &[&str] = &["pavior-cli"];
const DOORS: &[&[&str]] = &[
    &["pavior-cli", "--features=slurm"],
    &["pavior-cli", "--features=kube"],
    &["pavior-cli", "--features=serve"],
    &["pavior-cli", "--all-features"],
    &["pavior-python"],
];

/// Packages whose features are those of the interfaces.
const CHANGED: &[&str] = &["pavior-cli", "pavior-serve"];

/// Returns the packages that are compiled twice, one per line.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    compared(root).unwrap_or_else(|problem| vec![problem])
}

fn compared(root: &Path) -> Result<Vec<String>, String> {
    let first = built(root, FIRST)?;
    let mut problems = Vec::new();
    for door in DOORS {
        let (own, name) = (built(root, door)?, door.join(" "));
        problems.extend(twice(&first, &own).map(|package| {
            format!(
                "{name}: compiles {package} again, with other features than {}: state the \
                 features of both in crates/experiments/Cargo.toml",
                FIRST.join(" ")
            )
        }));
    }
    Ok(problems)
}

/// Returns the packages that a build compiles: name and version, then the features.
fn built(root: &Path, door: &[&str]) -> Result<BTreeSet<(String, String)>, String> {
    let tree = ["tree", "--locked", "--edges", "normal,build", "--no-dedupe", "--prefix", "none"];
    let format = ["--format", "{p}\t{f}", "--package"];
    let text = cargo_output(root, &[&tree[..], &format, door].concat())?;
    let line = |line: &str| {
        let (package, features) = line.split_once('\t')?;
        let package: Vec<&str> = package.split_whitespace().take(2).collect();
        Some((package.join(" "), features.trim_end_matches("(*)").trim().to_string()))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Returns the packages that both compile, but with different features.
fn twice<'a>(
    first: &'a BTreeSet<(String, String)>,
    own: &'a BTreeSet<(String, String)>,
) -> impl Iterator<Item = &'a str> {
    let is_changed =
        |package: &str| CHANGED.iter().any(|name| package.split(' ').next() == Some(name));
    let is_twice = move |built: &&(String, String)| {
        let in_both = own.iter().any(|(package, _)| *package == built.0);
        in_both && !own.contains(built) && !is_changed(&built.0)
    };
    first.iter().filter(is_twice).map(|(package, _)| package.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_features_are_found() {
        let set = |lines: &[(&str, &str)]| {
            let line =
                |(package, features): &(&str, &str)| (package.to_string(), features.to_string());
            lines.iter().map(line).collect::<BTreeSet<_>>()
        };
        let first =
            set(&[("syn 3", "full"), ("pavior-serve 1", ""), ("csv 1", ""), ("libm 1", "")]);
        let own = set(&[("syn 3", "full,fold"), ("pavior-serve 1", "http"), ("csv 1", "")]);
        assert_eq!(twice(&first, &own).collect::<Vec<_>>(), ["syn 3"]);
    }
}
