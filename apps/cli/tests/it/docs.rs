//! The examples of the README and the docs, run from the root of the repository.

#[test]
fn examples_of_the_docs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the repository has a root");
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("docs/*/*.md").run();
}
