//! The page about parameters is made from the list.

use pavior_experiments::parameters;

#[test]
fn the_page_about_parameters_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/parameters.md");
    if std::env::var_os("PAVIOR_UPDATE").is_some() {
        std::fs::write(path, parameters::page()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == parameters::page(),
        "docs/parameters.md is stale: PAVIOR_UPDATE=1 cargo test -p pavior-experiments page"
    );
}
