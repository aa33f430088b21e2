//! The page that runs the engine: a WebAssembly module and the files in `try/`.

use std::path::Path;
use std::process::Command;

use crate::{Problems, notes, process, programs, viewer};

/// The compilation target for the module, which must be installed with rustup.
const TARGET: &str = "wasm32-unknown-unknown";

/// The paths to the module and to the page's directory, as used in the `apps/browser` tests.
const MODULE: &str = "target/wasm32-unknown-unknown/browser/pavior_browser.wasm";
const PAGE: &str = "target/try";

/// The maximum sizes, in bytes, of the gzipped module and the complete page.
const LARGEST: [(&str, u64); 2] = [("pavior.wasm.gz", 1_500_000), ("pavior.html", 3_000_000)];

/// Builds the page and runs its tests.
pub(crate) fn problems(root: &Path) -> Problems {
    if page(root)? { programs::waiting(root, programs::BROWSER) } else { Ok(Vec::new()) }
}

/// Builds the module and the page. Returns false if a required tool is missing on this machine.
pub(crate) fn page(root: &Path) -> Result<bool, String> {
    let folder = match target(root).and_then(|()| viewer::prepared(root)) {
        Ok(folder) => folder,
        Err(why) => {
            notes::skip("the page that runs the engine", &why);
            return Ok(false);
        }
    };
    let words = "build --locked --quiet -p pavior-browser --profile browser --target";
    process::run(process::checked(root, words).arg(TARGET))?;
    let page = root.join(PAGE);
    let mut node = Command::new("node");
    process::run(node.arg("try.mjs").arg(root.join(MODULE)).arg(&page).current_dir(folder))?;
    for (name, most) in LARGEST {
        let bytes = std::fs::metadata(page.join(name)).map_or(u64::MAX, |file| file.len());
        if bytes > most {
            return Err(format!("{PAGE}/{name} is {bytes} bytes; the limit is {most}"));
        }
    }
    Ok(true)
}

/// Installs the target if the repository's toolchain does not have it.
fn target(root: &Path) -> Result<(), String> {
    let mut add = Command::new("rustup");
    let mut find = Command::new("rustc");
    add.args(["target", "add", TARGET]).current_dir(root);
    find.args(["--print", "target-libdir", "--target", TARGET]).current_dir(root);
    let is_there = process::output(&mut add).is_ok()
        || process::output(&mut find).is_ok_and(|folder| Path::new(folder.trim()).is_dir());
    is_there.then_some(()).ok_or_else(|| format!("rustup target add {TARGET} failed"))
}
