//! The page that runs the engine: the module for browsers, and the files of `try/`.

use std::path::Path;
use std::process::Command;

use crate::{notes, process, programs, viewer};

/// The module's target, which rustup adds to a toolchain.
const TARGET: &str = "wasm32-unknown-unknown";

/// The module and the folder of the page. The tests of `apps/browser` look for both.
const MODULE: &str = "target/wasm32-unknown-unknown/browser/pavior_browser.wasm";
const PAGE: &str = "target/try";

/// The maximum sizes in bytes of the module, compressed with gzip, and of the page with everything
/// in it.
const LARGEST: [(&str, u64); 2] = [("pavior.wasm.gz", 1_500_000), ("pavior.html", 3_000_000)];

/// Builds the page and runs its tests.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    match page(root) {
        Ok(()) => programs::waiting(root, programs::BROWSER),
        Err(NotBuilt::Lacking(why)) => notes::skip("the page that runs the engine", &why),
        Err(NotBuilt::Failed(problem)) => vec![problem],
    }
}

/// The reason why there is no page.
pub(crate) enum NotBuilt {
    /// This machine lacks a required tool.
    Lacking(String),
    Failed(String),
}

/// Builds the module and the page. They are only rebuilt if their sources have changed.
pub(crate) fn page(root: &Path) -> Result<(), NotBuilt> {
    if !has_target(root) {
        return Err(NotBuilt::Lacking(format!("rustup target add {TARGET} fails")));
    }
    let folder = viewer::prepared(root).map_err(NotBuilt::Lacking)?;
    let words =
        format!("build --locked --quiet -p pavior-browser --profile browser --target {TARGET}");
    process::run(&mut process::checked(root, &words)).map_err(NotBuilt::Failed)?;
    let page = root.join(PAGE);
    let mut node = Command::new("node");
    node.arg("try.mjs").arg(root.join(MODULE)).arg(&page).current_dir(folder);
    process::run(&mut node).map_err(NotBuilt::Failed)?;
    for (name, most) in LARGEST {
        let bytes = std::fs::metadata(page.join(name)).map_or(u64::MAX, |file| file.len());
        if bytes > most {
            let problem = format!("{PAGE}/{name} has {bytes} bytes; at most {most}");
            return Err(NotBuilt::Failed(problem));
        }
    }
    Ok(())
}

/// Returns true if the repository's toolchain has the target, or can get it.
fn has_target(root: &Path) -> bool {
    let mut add = Command::new("rustup");
    let mut find = Command::new("rustc");
    add.args(["target", "add", TARGET]).current_dir(root);
    find.args(["--print", "target-libdir", "--target", TARGET]).current_dir(root);
    process::output(&mut add).is_ok()
        || process::output(&mut find).is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}
