//! Checks the types in the page's sources, and checks that `crates/viewer/page/dist` is up to date:
//! the bundle is rebuilt in a separate folder and compared byte by byte.
//!
//! The npm packages there are also used by tests that look for accessibility barriers.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{notes, process};

/// The folder that contains the sources.
const PAGE: &str = "crates/viewer/page";

/// Rebuilds the bundle and compares it. Returns the problems.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let _ = std::fs::remove_dir_all(root.join("target/viewer/node_modules"));
    let folder = match prepared(root) {
        Ok(folder) => folder,
        Err(why) => return notes::skip("building the web page's bundle", &why),
    };
    let built = process::output(Command::new("npm").args(["run", "build"]).current_dir(&folder));
    let mut diff = Command::new("diff");
    diff.args(["--recursive", "--brief", "dist"]).arg(folder.join("dist"));
    let same = built.and_then(|_| process::output(diff.current_dir(root.join(PAGE))));
    same.err()
        .map(|problem| format!("{PAGE}: `npm ci && npm run build`: {problem}"))
        .into_iter()
        .collect()
}

/// Returns a folder with the sources and the installed packages, or the reason why npm cannot
/// install them.
pub(crate) fn prepared(root: &Path) -> Result<PathBuf, String> {
    let folder = root.join("target/viewer");
    for stale in ["src", "try", "dist"] {
        let _ = std::fs::remove_dir_all(folder.join(stale));
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut copy = Command::new("cp");
    // Only the sources are copied, because the build output must be made from them.
    copy.args(["-r", "package.json", "package-lock.json", "build.mjs", "tsconfig.json", "src"]);
    process::output(copy.args(["try", "try.mjs"]).arg(&folder).current_dir(root.join(PAGE)))?;
    if !folder.join("node_modules/esbuild").is_dir() {
        let mut npm = Command::new("npm");
        process::output(npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    }
    Ok(folder)
}
