//! The registry agrees with the folders, and its entries are well formed.

use std::collections::BTreeSet;

use pavior_allocation::{Registry, Selection};

/// The strategy that lives in a module. A module cannot begin with a digit or be a keyword.
fn strategy_of(module: &str) -> String {
    match module {
        "two_db" => "2db".into(),
        "adaptive_scan" => "as".into(),
        module => module.replace('_', "-"),
    }
}

#[test]
fn folders_and_registry_agree() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies");
    let mut files = BTreeSet::new();
    for folder in ["contiguous", "noncontiguous", "partitioned"] {
        let Ok(entries) = std::fs::read_dir(format!("{root}/{folder}")) else { continue };
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let stem = name.trim_end_matches(".rs");
            if stem != "mod" {
                files.insert(strategy_of(stem));
            }
        }
    }
    let named: BTreeSet<String> = Registry::new().entries().map(|spec| spec.name.into()).collect();
    assert_eq!(files, named);
}

#[test]
fn entries_are_well_formed() {
    let mut seen = BTreeSet::new();
    for spec in Registry::new().entries() {
        assert!(seen.insert(spec.name), "{} stands twice", spec.name);
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
