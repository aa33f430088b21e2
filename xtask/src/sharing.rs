//! Checks that the interfaces share compiled packages. For each shared package, an interface must
//! request the same features as the program does; otherwise, cargo would compile the package twice.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{Problems, process};

/// The program's package, as `cargo run` builds it. All other builds are compared with this one.
const FIRST: &str = "pavior-cli";
const BUILDS: [&str; 5] = [
    "pavior-cli --features=slurm",
    "pavior-cli --features=kube",
    "pavior-cli --features=serve",
    "pavior-cli --all-features",
    "pavior-python",
];

/// Packages whose features depend on the interface.
const CHANGED: &[&str] = &["pavior-cli", "pavior-serve"];

/// The compiled packages. Each is a pair: the package's name and version, and its features.
type Packages = BTreeSet<(String, String)>;

/// Returns the packages that are compiled twice, one per line.
pub(crate) fn problems(root: &Path) -> Problems {
    let first = built(root, FIRST)?;
    let of_build = |build| Ok(twice(&first, &built(root, build)?, build));
    BUILDS.into_iter().map(of_build).collect::<Result<Vec<_>, String>>().map(|found| found.concat())
}

fn built(root: &Path, build: &str) -> Result<Packages, String> {
    let words = "tree --locked --edges normal,build --no-dedupe --prefix none --package";
    let mut tree = process::cargo(root, &format!("{words} {build}"));
    let text = process::output(tree.args(["--format", "{p}\t{f}"]))?;
    let line = |line: &str| {
        let (package, features) = line.split_once('\t')?;
        let package: Vec<&str> = package.split_whitespace().take(2).collect();
        Some((package.join(" "), features.trim_end_matches("(*)").trim().to_string()))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// Describes the packages that both builds compile with different features.
fn twice(first: &Packages, own: &Packages, build: &str) -> Vec<String> {
    let is_twice = |built: &&(String, String)| {
        let name = built.0.split(' ').next().unwrap_or_default();
        let in_both = own.iter().any(|(package, _)| *package == built.0);
        in_both && !own.contains(built) && !CHANGED.contains(&name)
    };
    let twice = first.iter().filter(is_twice).map(|(package, _)| {
        format!(
            "{build}: compiles {package} again, with different features than {FIRST}; list both \
             feature sets in crates/experiments/Cargo.toml"
        )
    });
    twice.collect()
}

#[test]
fn other_features_are_found() {
    let set = |packages: &[(&str, &str)]| -> Packages {
        packages.iter().map(|(name, features)| ((*name).into(), (*features).into())).collect()
    };
    let first = set(&[("syn 3", "full"), ("pavior-serve 1", ""), ("csv 1", ""), ("libm 1", "")]);
    let own = set(&[("syn 3", "full,fold"), ("pavior-serve 1", "http"), ("csv 1", "")]);
    let found = twice(&first, &own, "own");
    assert!(found.len() == 1 && found[0].contains("compiles syn 3 again"), "{found:?}");
}
