//! Whether the types of the page's sources hold, and `crates/viewer/page/dist` is what they make:
//! built anew in a folder of its own, and compared byte by byte.
//!
//! Tests of the page take what npm has installed there, to look for what keeps people out.

use std::path::Path;
use std::process::{Command, Output};

use crate::notes;

/// What npm says where there is no way to its registry.
const UNREACHABLE: [&str; 7] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "ERR_SOCKET_TIMEOUT",
];

/// Builds the bundle anew and compares it; what is wrong with it.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    outcome(root).unwrap_or_else(|why| {
        notes::skip(root, "the viewer's bundle, built anew", &why);
        Vec::new()
    })
}

/// What is wrong with the bundle, or why it cannot be built: npm is missing, or its registry is not
/// reached.
fn outcome(root: &Path) -> Result<Vec<String>, String> {
    let page = root.join("crates/viewer/page");
    let folder = root.join("target/viewer");
    if let Err(error) = copy(&page, &folder) {
        return Ok(vec![format!("{}: {error}", folder.display())]);
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

/// The sources alone: what is built must come from them.
fn copy(page: &Path, folder: &Path) -> std::io::Result<()> {
    for stale in ["src", "dist"] {
        match std::fs::remove_dir_all(folder.join(stale)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::create_dir_all(folder.join("src"))?;
    for name in ["package.json", "package-lock.json", "build.mjs", "tsconfig.json"] {
        std::fs::copy(page.join(name), folder.join(name))?;
    }
    for entry in std::fs::read_dir(page.join("src"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.join("src").join(entry.file_name()))?;
    }
    Ok(())
}

/// How two folders differ.
fn compare(kept: &Path, built: &Path) -> Vec<String> {
    let mut names: Vec<_> = [kept, built].into_iter().flat_map(names).collect();
    names.sort();
    names.dedup();
    let differs = |name: &String| {
        let text = |folder: &Path| std::fs::read(folder.join(name)).ok();
        (text(kept) != text(built)).then(|| {
            format!(
                "crates/viewer/page/dist/{name} is not what `npm ci && npm run build` makes in \
                 crates/viewer/page"
            )
        })
    };
    names.iter().filter_map(differs).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).trim().chars().take(2000).collect()
}
