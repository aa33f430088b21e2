//! Checks the types in the page's sources, and that `crates/viewer/page/dist` is their build
//! output: it is built again in a separate folder, and compared byte by byte.
//!
//! Tests of the page use the npm packages installed there to look for accessibility barriers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::notes;

/// npm's messages if its registry is unreachable.
const UNREACHABLE: [&str; 7] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "ERR_SOCKET_TIMEOUT",
];

/// Builds the bundle again and compares it. Returns the problems.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    outcome(root).unwrap_or_else(|why| {
        notes::skip(root, "the viewer's bundle, built anew", &why);
        Vec::new()
    })
}

/// Returns the problems of the bundle, or the reason why it cannot be built: npm is missing, or its
/// registry is unreachable.
fn outcome(root: &Path) -> Result<Vec<String>, String> {
    let page = root.join("crates/viewer/page");
    let folder = root.join("target/viewer");
    if let Err(problem) = copy(&page, &folder) {
        return Ok(vec![problem]);
    }
    let npm =
        |arguments: &[&str]| Command::new("npm").args(arguments).current_dir(&folder).output();
    let installed = match npm(&["ci", "--no-audit", "--no-fund"]) {
        Ok(output) => output,
        Err(error) => return Err(format!("npm does not run: {error}")),
    };
    if !installed.status.success() {
        let said = said(&installed);
        return match UNREACHABLE.iter().find(|word| said.contains(**word)) {
            Some(word) => Err(format!("the registry of npm is not reached: {word}")),
            None => Ok(vec![format!("npm ci fails: {said}")]),
        };
    }
    let built = match npm(&["run", "build"]) {
        Ok(output) if output.status.success() => folder.join("dist"),
        Ok(output) => {
            return Ok(vec![format!("npm run build fails: {}", said(&output))]);
        }
        Err(error) => return Err(format!("npm does not run: {error}")),
    };
    Ok(compare(&page.join("dist"), &built))
}

/// Returns a folder with the sources and the installed packages, for other pages built from them.
///
/// # Errors
/// Returns an error if the packages cannot be installed.
pub(crate) fn prepared(root: &Path) -> Result<PathBuf, String> {
    let folder = root.join("target/viewer");
    copy(&root.join("crates/viewer/page"), &folder)?;
    if !folder.join("node_modules/esbuild").is_dir() {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder);
        let output = npm.output().map_err(|error| format!("npm does not run: {error}"))?;
        if !output.status.success() {
            return Err(format!("npm ci fails: {}", said(&output)));
        }
    }
    Ok(folder)
}

/// Copies only the sources, because the build output must come from them.
fn copy(page: &Path, folder: &Path) -> Result<(), String> {
    for stale in ["src", "try", "dist"] {
        let _ = std::fs::remove_dir_all(folder.join(stale));
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut copy = Command::new("cp");
    copy.args(["-r", "package.json", "package-lock.json", "build.mjs", "tsconfig.json", "src"]);
    copy.args(["try", "try.mjs"]);
    let copied = copy.arg(folder).current_dir(page).output().map_err(|error| error.to_string())?;
    if copied.status.success() { Ok(()) } else { Err(said(&copied)) }
}

/// Describes the differences between two folders.
fn compare(kept: &Path, built: &Path) -> Vec<String> {
    let differ =
        Command::new("diff").arg("--recursive").arg("--brief").args([kept, built]).output();
    match differ {
        Ok(differ) if differ.status.success() => Vec::new(),
        Ok(differ) => vec![format!(
            "crates/viewer/page/dist is not what `npm ci && npm run build` makes there: {}",
            said(&differ)
        )],
        Err(error) => vec![format!("diff: {error}")],
    }
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).trim().chars().take(2000).collect()
}
