//! Runs the examples in the README and the docs from the repository root.

#[test]
fn examples_of_the_docs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the repository has a root");
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("docs/*/*.md").run();
}
