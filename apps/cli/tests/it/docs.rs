//! Runs the examples in the README and the docs, with the repository root as the current directory.

#[test]
fn documented_examples_print_the_documented_output() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the repository has a root");
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("docs/*/*.md").run();
}
