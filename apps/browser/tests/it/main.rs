//! The engine; the module in Node, which gives the same replies as the native engine; and its page
//! in Chromium. Module and page are built by `cargo xtask check browser`; without them their
//! tests are skipped.

mod answers;
mod bytes;
mod figure;
mod page;
mod picture;

use std::path::{Path, PathBuf};

/// With this variable set, a machine without the module or the page fails the tests.
const REQUIRED: &str = "PAVIOR_REQUIRE_BROWSER_PAGE";

/// Returns a file of the build, if it exists.
fn built(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/try").join(file);
    if path.is_file() {
        return path.canonicalize().ok();
    }
    let why = "cargo xtask check browser builds it";
    pavior_trials::skipped(&format!("target/try/{file}"), why, REQUIRED);
    None
}
