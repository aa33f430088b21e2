//! Tests of adding entries to a registry and selecting them.

use pavior_kernel::{Entry, Family, OptionSpec, Registry, Selection, Values};

#[derive(Debug)]
struct Number(u32);

const BY: OptionSpec = OptionSpec {
    key: "by",
    values: Values::Integer(1, 9),
    default: "1",
    meaning: "a factor",
    bare: true,
};

const fn entry(name: &'static str, options: &'static [OptionSpec]) -> Entry<Number> {
    Entry { name, title: "", source: "", options, variants: &["", "3"], does: Number(7) }
}

const ONE: Entry<Number> = entry("one", &[BY]);

impl Family for Number {
    const NOUN: &'static str = "number";

    fn builtin() -> &'static [&'static Entry<Number>] {
        &[&ONE]
    }

    fn aliases() -> &'static [(&'static str, &'static str)] {
        &[("triple", "one:3")]
    }
}

#[test]
fn added_entries_are_selected_like_built_in_ones() {
    let mut registry = Registry::<Number>::new();
    registry.add(entry("two", &[BY])).unwrap();
    for (text, canonical) in [("one:1", "one"), ("two:by=4", "two:4"), ("triple", "one:3")] {
        assert_eq!(registry.select(text).unwrap().to_string(), canonical);
    }
    assert!("two".parse::<Selection<Number>>().is_err(), "only this registry has it");
    let two = registry.get("two").unwrap();
    let variants: Vec<String> = Selection::variants(two).map(|one| one.to_string()).collect();
    assert_eq!(variants, ["two", "two:3"]);
    assert_eq!(registry.entries().map(|entry| entry.does.0).sum::<u32>(), 14);
}

#[test]
fn a_name_is_known_in_capitals_and_a_title_leads_to_it() {
    let mut registry = Registry::<Number>::new();
    registry.add(Entry { title: "Twice as Much", ..entry("two-fold", &[BY]) }).unwrap();
    for (text, canonical) in [
        ("ONE", "one"),
        ("Two_Fold:3", "two-fold:3"),
        ("TRIPLE", "one:3"),
        ("Two-fold:by=4", "two-fold:4"),
    ] {
        assert_eq!(registry.select(text).unwrap().to_string(), canonical);
    }
    for text in ["twice as much", "Twice-As_Much:3"] {
        let bad = registry.select(text).unwrap_err();
        let name = text.trim_end_matches(":3");
        assert_eq!(bad.reason, format!("unknown number `{name}`; did you mean `two-fold`?"));
        assert_eq!(bad.span, 0..name.len());
    }
    let bad = registry.select("TWO_FOLD:10").unwrap_err();
    assert_eq!(bad.span, 9..11);
    assert!(registry.select("--").unwrap_err().reason.contains("choose from"));
}

#[test]
fn bad_entries_are_refused_and_change_nothing() {
    const TWICE: &[OptionSpec] = &[BY, BY];
    const WRONG: &[OptionSpec] = &[OptionSpec { default: "0", ..BY }];
    let mut registry = Registry::<Number>::new();
    for bad in ["", "-", "a--b", "A", "a:b", "a,b", "a b", "one", "triple"] {
        assert_eq!(registry.add(entry(bad, &[BY])).unwrap_err().name, bad);
    }
    for options in [TWICE, WRONG, &[]] {
        registry.add(entry("new", options)).unwrap_err();
    }
    assert_eq!(registry.entries().count(), 1);
}

#[test]
fn faults_behind_an_alias_are_shown_where_they_were_typed() {
    let bad = "triple:x".parse::<Selection<Number>>().unwrap_err();
    assert_eq!(bad.span, 7..8);
}
