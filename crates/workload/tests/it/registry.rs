//! Tests that the registries match the directories, and that their entries are well formed.

use std::collections::BTreeSet;

use pavior_workload::traces::Estimates;
use pavior_workload::{
    ArrivalProcess, Family, Generator, Selection, ServiceDistribution, ShapeRule, SideDistribution,
};

fn check<K: Family>(folder: &str, besides: &[&str]) {
    let root = format!("{}/src/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.trim_end_matches(".rs");
        if stem != "mod" && !besides.contains(&stem) {
            files.insert(stem.replace('_', "-"));
        }
    }
    let named: BTreeSet<String> = K::builtin().iter().map(|spec| spec.name.into()).collect();
    assert_eq!(files, named);
    well_formed::<K>();
}

fn well_formed<K: Family>() {
    let named: BTreeSet<&str> = K::builtin().iter().map(|spec| spec.name).collect();
    assert_eq!(named.len(), K::builtin().len(), "a name appears twice");
    for spec in K::builtin() {
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(spec.name.chars().all(legal), "{}", spec.name);
        assert!(!spec.title.is_empty(), "{}", spec.name);
        for option in spec.options {
            assert!(option.values.accept(option.default), "{} {}", spec.name, option.key);
            assert!(!option.meaning.is_empty(), "{} {}", spec.name, option.key);
        }
        let selection: Selection<K> = spec.name.parse().unwrap();
        assert_eq!(selection.to_string(), Selection::defaults(spec).to_string());
        let again: Selection<K> = selection.to_string().parse().unwrap();
        assert_eq!(again.to_string(), selection.to_string());
    }
}

#[test]
fn folders_and_registries_agree() {
    check::<ArrivalProcess>("synthetic/arrivals", &[]);
    check::<SideDistribution>("synthetic/sides", &[]);
    check::<ServiceDistribution>("synthetic/service", &[]);
    check::<ShapeRule>("shape", &["boxes"]);
    check::<Generator>("generators", &["gamma"]);
    well_formed::<Estimates>();
}

#[test]
fn faults_are_shown_where_they_stand() {
    let reason = |text: &str| text.parse::<Selection<ServiceDistribution>>().unwrap_err();
    assert_eq!(
        reason("exponental:1").reason,
        "unknown service `exponental`; did you mean `exponential`?"
    );
    for (text, span) in
        [("messages:0", 9..10), ("messages:-1", 9..11), ("exponential:mean=inf", 17..20)]
    {
        assert_eq!(reason(text).span, span, "{text}");
    }
    assert_eq!("compact:slack=x".parse::<Selection<ShapeRule>>().unwrap_err().span, 14..15);
}
