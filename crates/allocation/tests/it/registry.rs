//! Tests that the registry matches the source files, and that its entries are well-formed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pavior_allocation::{Registry, Selection};

/// Returns the name of the strategy that a module defines. It may differ from the module's name,
/// which cannot begin with a digit or be a keyword.
fn strategy_of(module: &str) -> String {
    match module {
        "two_db" => "2db".into(),
        "adaptive_scan" => "as".into(),
        module => module.replace('_', "-"),
    }
}

/// Lists all files in a folder and its subfolders.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn folders_and_registry_agree() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies"));
    let mut files = BTreeSet::new();
    for path in files_below(root) {
        if std::fs::read_to_string(&path).unwrap().contains(" static ENTRY: Entry") {
            // A strategy with several files has its own folder.
            let named = if path.ends_with("mod.rs") { path.parent().unwrap() } else { &path };
            files.insert(strategy_of(named.file_stem().unwrap().to_str().unwrap()));
        }
    }
    let named: BTreeSet<String> = Registry::new().entries().map(|spec| spec.name.into()).collect();
    assert_eq!(files, named);
}

#[test]
fn entries_are_well_formed() {
    let mut seen = BTreeSet::new();
    for spec in Registry::new().entries() {
        assert!(seen.insert(spec.name), "{} appears twice", spec.name);
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(spec.name.chars().all(legal), "{}", spec.name);
        assert!(!spec.title.is_empty() && !spec.source.is_empty(), "{}", spec.name);
        assert!(spec.variants.contains(&""), "{}: the defaults are a variant", spec.name);
        for option in spec.options {
            assert!(option.values.accept(option.default), "{} {}", spec.name, option.key);
            assert!(!option.meaning.is_empty(), "{} {}", spec.name, option.key);
        }
        for selection in Selection::variants(spec) {
            let again: Selection = selection.to_string().parse().unwrap();
            assert_eq!(again.to_string(), selection.to_string());
        }
    }
}

#[test]
fn unknown_names_get_the_closest_suggested() {
    let error = "tlb".parse::<Selection>().err().unwrap();
    assert!(error.reason.contains("`tbl`"), "{error}");
    let error = "ff:scan=xx".parse::<Selection>().err().unwrap();
    assert_eq!(error.span, 8..10);
}
