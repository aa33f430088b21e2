//! The examples of the README and the docs, run as they stand.

#[test]
fn examples_of_the_docs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    trycmd::TestCases::new()
        .case(format!("{root}/README.md"))
        .case(format!("{root}/docs/*.md"))
        .case(format!("{root}/docs/*/*.md"))
        .run();
}
