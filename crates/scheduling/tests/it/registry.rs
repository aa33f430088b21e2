//! Tests that the registry lists all scheduler files and that names and options are parsed.

use std::collections::BTreeSet;

use pavior_scheduling::{Registry, Selection};

#[test]
fn every_file_is_listed_and_every_name_has_its_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schedulers");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .filter(|name| name != "mod")
        .map(|name| name.replace('_', "-"))
        .collect();
    let names: BTreeSet<String> =
        Registry::new().entries().map(|spec| spec.name.to_string()).collect();
    assert_eq!(files, names);
}

#[test]
fn names_are_read_as_they_are_written() {
    for spec in Registry::new().entries() {
        for selection in Selection::variants(spec) {
            let again: Selection = selection.to_string().parse().unwrap();
            assert_eq!(again.to_string(), selection.to_string());
        }
    }
    for (written, canonical) in [
        ("window:8", "window"),
        ("window:width=3", "window:3"),
        ("easy:geometry", "easy"),
        ("easy:count", "easy:count"),
        ("conservative:depth=3:count", "conservative:count:depth=3"),
        ("easy:plain", "easy:plain"),
        ("sjf:by=area", "sjf:area"),
        ("scan:up", "scan"),
    ] {
        assert_eq!(written.parse::<Selection>().unwrap().to_string(), canonical);
    }
}

#[test]
fn one_scheduler_chooses_the_freedom_of_each_job() {
    let entries = Registry::new().entries();
    let names =
        entries.filter(|entry| entry.title.contains("per-job freedom")).map(|entry| entry.name);
    assert_eq!(names.collect::<Vec<_>>(), ["easy-freedom"]);
}

#[test]
fn a_wrong_name_says_what_would_be_right() {
    let error = "eazy".parse::<Selection>().err().unwrap();
    assert!(error.reason.contains("easy"), "{error}");
    for bad in ["window:0", "easy:tear=pays", "easy:space", "ljf:age", "scan:sideways", "fcfs:1"] {
        assert!(bad.parse::<Selection>().is_err(), "{bad}");
    }
}
