//! The page that runs the engine: the module for browsers, and the files of `try/`.

use std::path::Path;
use std::process::Command;

use crate::{cargo, notes, programs, viewer};

/// The module's target, which rustup adds to a toolchain.
const TARGET: &str = "wasm32-unknown-unknown";

/// The module and the folder of the page. The tests of `apps/browser` look for both.
const MODULE: &str = "target/wasm32-unknown-unknown/browser/pavior_browser.wasm";
pub(crate) const PAGE: &str = "target/try";

/// The maximum sizes in bytes of the module, compressed with gzip, and of the page with everything
/// in it.
const LARGEST: [(&str, u64); 2] = [("pavior.wasm.gz", 1_500_000), ("pavior.html", 3_000_000)];

/// Builds the page and runs its tests.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    match page(root) {
        Ok(()) => programs::browser(root),
        Err(NotBuilt::Lacking(why)) => {
            notes::skip(root, "the page that runs the engine", &why);
            Vec::new()
        }
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
        let why = format!("rustup target add {TARGET} fails");
        return Err(NotBuilt::Lacking(why));
    }
    let build = ["build", "--locked", "--quiet", "-p", "pavior-browser", "--profile", "browser"];
    if !cargo::run(root, &[&build[..], &["--target", TARGET]].concat()) {
        return Err(NotBuilt::Failed("the module for browsers cannot be built".to_string()));
    }
    let (module, page) = (root.join(MODULE), root.join(PAGE));
    let folder = viewer::prepared(root).map_err(NotBuilt::Lacking)?;
    let mut node = Command::new("node");
    node.arg("try.mjs").args([&module, &page]).current_dir(folder);
    match node.status() {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(NotBuilt::Failed("node try.mjs fails".to_string())),
        Err(error) => return Err(NotBuilt::Lacking(format!("node does not run: {error}"))),
    }
    let too_large = LARGEST.iter().find_map(|(name, most)| {
        let bytes = std::fs::metadata(page.join(name)).map_or(u64::MAX, |file| file.len());
        (bytes > *most).then(|| format!("{PAGE}/{name} has {bytes} bytes; at most {most}"))
    });
    too_large.map_or(Ok(()), |problem| Err(NotBuilt::Failed(problem)))
}

/// Returns true if the repository's toolchain has the target, or can get it.
fn has_target(root: &Path) -> bool {
    let mut add = Command::new("rustup");
    add.args(["target", "add", TARGET]).current_dir(root);
    let added = add.output().is_ok_and(|output| output.status.success());
    added || {
        let mut found = Command::new("rustc");
        found.args(["--print", "target-libdir", "--target", TARGET]).current_dir(root);
        let folder =
            found.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
    }
}
