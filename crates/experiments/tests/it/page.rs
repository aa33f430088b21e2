//! Tests of the texts generated from the list of parameters: the documentation page, and
//! `pavior.simulate` and `pavior.Experiment` in Python.

use pavior_experiments::parameters;

/// Asserts that a generated file in the repository is up to date, or rewrites it if `PAVIOR_UPDATE`
/// is set.
fn assert_fresh(path: &str, made: impl FnOnce(&str) -> String) {
    let file = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap();
    let made = made(&text);
    if std::env::var_os("PAVIOR_UPDATE").is_some() {
        std::fs::write(file, made).unwrap();
        return;
    }
    assert!(
        text == made,
        "{path} is stale: PAVIOR_UPDATE=1 cargo test -p pavior-experiments made_from_the_list"
    );
}

#[test]
fn the_page_about_parameters_is_made_from_the_list() {
    assert_fresh("docs/parameters.md", |_| parameters::page());
}

#[test]
fn the_help_of_simulate_is_made_from_the_list() {
    assert_fresh("apps/python/src/simulate.txt", |_| parameters::help());
}

#[test]
fn the_keywords_of_experiment_are_made_from_the_list() {
    assert_fresh("apps/python/python/pavior/_parameters.py", |_| parameters::experiment());
}

/// The lines that mark the beginning and end of the generated declaration.
const MARKS: [&str; 2] = [
    "# The declaration of `simulate` is generated from the list of parameters.\n",
    "# End of the generated declaration.\n",
];

#[test]
fn the_declaration_of_simulate_is_made_from_the_list() {
    assert_fresh("apps/python/python/pavior/_native.pyi", |text| {
        let (before, rest) = text.split_once(MARKS[0]).unwrap();
        let (_, after) = rest.split_once(MARKS[1]).unwrap();
        let [first, last] = MARKS;
        format!("{before}{first}{}{last}{after}", parameters::declaration())
    });
}
