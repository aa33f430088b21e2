//! Tests the engine, its WebAssembly module in Node, and the page in Chromium. The module must
//! return the same replies as the native engine. `cargo xtask check browser` builds the module and
//! the page. If either is missing, its tests are skipped.

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
