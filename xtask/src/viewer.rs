//! Type-checks the sources of the page, and checks that `crates/viewer/page/dist` is up to date by
//! rebuilding the bundle in a separate directory.
//!
//! Accessibility tests also use the npm packages in that directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Problems, notes, process};

/// The directory that contains the page's sources.
const PAGE: &str = "crates/viewer/page";

/// Rebuilds the bundle and compares it byte by byte.
pub(crate) fn problems(root: &Path) -> Problems {
    let _ = std::fs::remove_dir_all(root.join("target/viewer/node_modules"));
    let folder = match prepared(root) {
        Ok(folder) => folder,
        Err(why) => return Ok(notes::skip("building the page bundle", &why)),
    };
    let built = process::output(Command::new("npm").args(["run", "build"]).current_dir(&folder));
    let mut diff = Command::new("diff");
    diff.args(["--recursive", "--brief", "dist"]).arg(folder.join("dist"));
    let same = built.and_then(|_| process::output(diff.current_dir(root.join(PAGE))));
    same.map(|_| Vec::new())
        .map_err(|problem| format!("{PAGE}: `npm ci && npm run build`: {problem}"))
}

/// Returns a directory with the sources and npm packages, or an error if npm fails.
pub(crate) fn prepared(root: &Path) -> Result<PathBuf, String> {
    let folder = root.join("target/viewer");
    for stale in ["src", "try", "dist"] {
        let _ = std::fs::remove_dir_all(folder.join(stale));
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut copy = Command::new("cp");
    // Only the sources are copied, so that the bundle must be rebuilt.
    copy.args(["-r", "package.json", "package-lock.json", "build.mjs", "tsconfig.json", "src"]);
    process::output(copy.args(["try", "try.mjs"]).arg(&folder).current_dir(root.join(PAGE)))?;
    if !folder.join("node_modules/esbuild").is_dir() {
        let mut npm = Command::new("npm");
        process::output(npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    }
    Ok(folder)
}
