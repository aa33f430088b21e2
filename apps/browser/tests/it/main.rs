//! Tests the engine, the module in Node (which must return the same replies as the native engine),
//! and the page in Chromium. `cargo xtask check browser` builds the module and the page; without
//! them, their tests are skipped.

mod answers;
mod bytes;
mod figure;
mod page;
mod picture;

use std::path::{Path, PathBuf};

/// The environment variable that makes a missing module or page an error.
const REQUIRED: &str = "PAVIOR_REQUIRE_BROWSER_PAGE";

/// Returns the path of a built file. If the file is missing, records that the test was skipped.
fn built(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/try").join(file);
    if path.is_file() {
        return path.canonicalize().ok();
    }
    let why = "not built; run cargo xtask check browser";
    pavior_trials::skipped(&format!("target/try/{file}"), why, REQUIRED);
    None
}
