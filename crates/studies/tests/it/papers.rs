//! Tests of the papers' experiments and statements, with runs that are as short as possible.

use std::collections::HashSet;

use pavior::experiments::{Environment, NoStore, Policy, Samples, Shard, Specification};
use pavior_studies::{Paper, Statement};

fn read(text: &str) -> Specification {
    Specification::parse(text, "test").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn whole(experiment: &Specification) -> Samples {
    experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore).unwrap()
}

fn paper(name: &str) -> &'static Paper {
    Paper::built_in().iter().find(|paper| paper.name == name).unwrap()
}

/// Judges a paper's statements on its quick experiment, replacing `from` with `to` in the file.
fn quickly(name: &str, from: &str, to: &str) -> Vec<Statement> {
    let text = paper(name).experiment(true).unwrap();
    assert!(text.contains(from), "{text}");
    let experiment = read(&text.replace(from, to));
    let all = paper(name).judge(&experiment, &whole(&experiment), true).unwrap();
    let ids: HashSet<&str> = all.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids.len(), all.len(), "no two rows have the same name");
    all
}

fn row<'s>(all: &'s [Statement], id: &str) -> &'s Statement {
    all.iter().find(|one| one.id == id).unwrap_or_else(|| panic!("{id}"))
}

#[test]
fn the_nas_experiment_has_the_loads_of_its_statements() {
    let loads = |experiment: &Specification, pattern: &str, sides: &str| -> Vec<String> {
        let points = experiment.points.iter();
        let of = points.filter(|point| point.has(&[("pattern", pattern), ("sides", sides)]));
        of.map(|point| point.get("load").unwrap().to_string()).collect()
    };
    for quick in [false, true] {
        let experiment = paper("nas").specification(quick).unwrap();
        for (pattern, sides, named) in [
            ("one-to-all", "uniform", ["0.0005", "0.001"]),
            ("all-to-all", "uniform", ["0.00005", "0.00006667"]),
            ("near-neighbour", "uniform", ["0.00333333", "0.004"]),
            ("near-neighbour", "uniform-decreasing", ["0.0125", "0.025"]),
        ] {
            let loads = loads(&experiment, pattern, sides);
            assert!(named.iter().all(|load| loads.contains(&load.to_string())), "{loads:?}");
        }
        for (index, point) in experiment.points.iter().enumerate() {
            let Policy::Precision { most, .. } = experiment.policy_at(index) else { panic!() };
            let fewer = point.has(&[("pattern", "all-to-all")]);
            let [few, many] = if quick { [3, 5] } else { [10, 200] };
            assert_eq!(most, if fewer { few } else { many });
        }
        let names: Vec<String> = (14..=25).map(|number| format!("fig{number}")).collect();
        let figures: Vec<&str> = experiment.figures.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(figures, names);
    }
}

#[test]
fn nas_statements_have_one_row_per_comparison() {
    let all = quickly("nas", "jobs = 1000", "jobs = 8");
    let count = |statement: &str| {
        all.iter().filter(|one| one.id.starts_with(&format!("{statement}@"))).count()
    };
    // N1 covers six figures, each with two other strategies. N2 to N4 make claims for each load.
    assert_eq!(["N1", "N2", "N3", "N4", "N7"].map(count), [12, 4, 7, 12, 6]);
    // N5 has a row for every combination of three loads, two distributions and two patterns. N6 has
    // three claims for each combination.
    assert_eq!(["N5", "N6"].map(count), [12, 36]);
    for id in [
        "N1@near-neighbour-uniform-decreasing-ff",
        "N2@0.0002-lssa",
        "N2@0.001-ff",
        "N3@0.00005-lssa-ff",
        "N3@0.00006667-nas-lssa",
        "N4@uniform-decreasing-0.0125-lssa-nas",
        "N4@uniform-0.004-nas-ff",
        "N5@uniform-0.001-nas-ff",
        "N6@all-to-all-uniform-0.0002-ff-nas",
        "N7@one-to-all-lssa",
    ] {
        let row = row(&all, id);
        assert!(row.ours.is_some() && row.note.contains(" runs"), "{row:?}");
    }
    // Eight jobs are too few for a precise result.
    assert!(all.iter().any(|one| one.note.contains("precision target missed")));
}

#[test]
fn the_mfa_statements_are_the_same_on_every_machine() {
    let all = quickly("mfa", "replications = 9", "replications = 2");
    let differ: Vec<&str> =
        all.iter().filter(|one| !one.verdict.is_good()).map(|one| one.id.as_str()).collect();
    // In Example 2, the buddy system's larger blocks have a higher index than any box of the task.
    assert_eq!(differ, ["M2@2-3x2-granted", "M2@2-3x3-granted", "M2@2-4x2-granted"]);
    let ours = |id: &str| row(&all, id).ours;
    assert_eq!((ours("M1@1"), ours("M1@2")), (Some(10.0), Some(7.0)));
    assert!(row(&all, "M1@2").note.contains("<0,3>"));
    // Tables I to V have 7 + 7 + 14 + 7 + 7 rows. Nine of these rows are misprinted.
    let rows =
        || all.iter().filter(|one| one.id.starts_with("M1@") && one.id.matches('-').count() == 2);
    assert_eq!(rows().count(), 42);
    let corrected: Vec<&str> =
        rows().filter(|one| one.note.contains("printed")).map(|one| one.id.as_str()).collect();
    assert_eq!(
        corrected,
        [
            "M1@I-5-3",
            "M1@II-2-3",
            "M1@II-0-3",
            "M1@V-5-6",
            "M1@V-5-7",
            "M1@V-0-5",
            "M1@V-2-5",
            "M1@V-3-5",
            "M1@V-4-5"
        ]
    );
    assert_eq!(ours("M1@I-5-3"), Some(6.0));
    assert!(row(&all, "M1@I-5-3").note.contains("printed: 4"));
    let indices = |suffix: &str| {
        let of =
            |example: u32| ["3x2", "3x3", "4x2"].map(|task| format!("M2@{example}-{task}{suffix}"));
        [1, 2].map(|example| of(example).map(|id| ours(&id).unwrap()))
    };
    assert_eq!(indices(""), [[0.0; 3]; 2]);
    assert_eq!(indices("-granted"), [[0.0; 3], [-4.0, -4.0, -3.0]]);
    assert_eq!(
        (ours("M4@K-1"), ours("M4@K-2"), ours("M4@figure-2")),
        (Some(5.75), Some(5.75), Some(6.0))
    );
    let steps = ours("M3@order-64").unwrap();
    assert!((steps - (5.75_f64.sqrt() * 64.0 - 4096.0)).abs() < 1e-6, "{steps}");
}

#[test]
fn user_folders_are_read_like_built_in_papers() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/papers/slices/");
    let read = |name: &str| Ok(std::fs::read_to_string(format!("{folder}{name}")).ok());
    let (own, built_in) = (Paper::open("slices", &read).unwrap(), paper("slices"));
    assert_eq!(own.title(), built_in.title());
    assert_eq!(own.experiment(true).unwrap(), built_in.experiment(true).unwrap());
}

#[test]
fn errors_in_rows_have_a_position() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/papers/tbl/");
    for (from, to, reason) in [
        // The misspelling is in a row, or in the keys shared by all of a statement's rows.
        ("\"load\", \"b.strategy\"]", "\"load\", \"b.stratgy\"]", "did you mean `b.strategy`?"),
        ("id = [\"load\"]", "id = [\"laod\"]", "unknown parameter `laod`; did you mean `load`?"),
        ("{ word = \"fast\" }", "{ words = \"fast\" }", "data did not match"),
        // The row's `id` refers to a parameter that the row no longer sets.
        ("at = { load = 3.8 }", "at = { laod = 3.8 }", "unknown parameter `load`; did you mean"),
        ("paper = 0.53", "papers = 0.53", "unknown field `papers`"),
        ("paper = 0.53", "paper = \"half\"", "statement T2: row T2@4.2: `paper` must be a number"),
    ] {
        let read = |name: &str| {
            let text = std::fs::read_to_string(format!("{folder}{name}")).ok();
            Ok(text.map(
                |text| if name == "statements.toml" { text.replacen(from, to, 1) } else { text },
            ))
        };
        let error = Paper::open("tbl", &read).err().expect("it is refused");
        assert!(error.reason.contains(reason), "{error}");
        let (text, span) = error.place.expect("it has a place");
        assert!(text[span.clone()].starts_with("[[statement.row]]"), "{from}: {}", &text[span]);
    }
}

#[test]
fn a_quick_run_judges_the_slice_study() {
    if pavior_trials::left_out("the short runs about slices") {
        return;
    }
    let paper = paper("slices");
    let mut text = paper.experiment(true).unwrap();
    // A short queue and few jobs are enough to judge the rows.
    for (from, to) in [("load = 100", "load = 1"), ("jobs = 400", "jobs = 110"), ("= 1000", "= 20")]
    {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let experiment = read(&text);
    let all = paper.judge(&experiment, &whole(&experiment), true).unwrap();
    // Cubes fail independently of each other and of their links, so even short runs come close to
    // the binomial distribution.
    let near = |id: &str, share: f64| {
        let ours = row(&all, id).ours.unwrap();
        assert!((ours - share).abs() < 0.03, "{id}: {ours}");
    };
    near("S1@switched", 0.95);
    near("S3@59-of-64", 0.9998);
    near("S3@0-spare-switches", 0.953);
    near("S1@static", 0.0);
    assert!(row(&all, "S2@48-of-64").ours.unwrap() > 2.0);
}
