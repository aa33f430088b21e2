//! The files in a package, laid out below a prefix: the stripped program, its manual pages,
//! completions and licenses, and next to them the stripped debug data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bill::Part;
use super::{Release, copy, glibc, make_folder, said, write as write_file};

/// The systemd units and their configuration.
pub(super) const UNITS: &[&str] = &[
    "apps/slurm/dist/pavior-slurm.service",
    "apps/slurm/dist/pavior-slurm-observe.service",
    "apps/slurm/dist/slurm.toml",
];

/// The unit of `pavior serve`, which belongs to the package of the program.
pub(super) const SERVICE: &str = "apps/serve/dist/pavior-serve.service";

/// The folder of that unit in the archive.
const SERVICE_APART: &str = "share/pavior/serve";

/// The folder of the units in the archive: only an administrator installs them.
pub(super) const UNITS_APART: &str = "share/pavior/slurm";

/// Shells and the place where each finds completions.
pub(super) const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/pavior"),
    ("zsh", "share/zsh/site-functions/_pavior"),
    ("fish", "share/fish/vendor_completions.d/pavior.fish"),
];

/// The folder of the manual pages.
pub(super) const MANUAL: &str = "share/man/man1";

/// The folder of the licenses and the list of changes.
pub(super) const DOC: &str = "share/doc/pavior";

/// The folders with the files that were written.
pub(super) struct Tree {
    pub(super) stage: PathBuf,
    /// `bin` and `share`.
    pub(super) files: PathBuf,
    /// The oldest glibc with which the program runs.
    pub(super) glibc: (u32, u32),
}

/// Writes the files of a program into a folder.
pub(super) fn write(
    release: &Release,
    program: &Path,
    parts: &[Part],
    stage: &Path,
) -> Result<Tree, String> {
    let files = stage.join(release.name());
    let stripped = files.join("bin/pavior");
    copy(program, &stripped)?;
    take_apart(&stripped, &stage.join("pavior.debug"))?;
    let manual = files.join(MANUAL);
    make_folder(&manual)?;
    said(Command::new(&stripped).args(["manual", "--into"]).arg(&manual))?;
    for (shell, file) in COMPLETIONS {
        let text = said(Command::new(&stripped).args(["completions", shell]))?;
        write_file(&files.join(file), text.as_bytes())?;
    }
    for file in UNITS {
        put(&release.root, file, &files.join(UNITS_APART))?;
    }
    put(&release.root, SERVICE, &files.join(SERVICE_APART))?;
    let doc = files.join(DOC);
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        put(&release.root, file, &doc)?;
    }
    write_file(&doc.join("THIRD-PARTY.txt"), super::bill::licences(parts)?.as_bytes())?;
    let glibc = glibc::needed(&stripped)?;
    Ok(Tree { stage: stage.to_path_buf(), files, glibc })
}

/// Copies a source file into a folder.
pub(super) fn put(root: &Path, file: &str, folder: &Path) -> Result<(), String> {
    let from = root.join(file);
    copy(&from, &folder.join(from.file_name().unwrap_or_default()))
}

/// Moves the debug data out of a program into a file that the program then references.
fn take_apart(program: &Path, debug: &Path) -> Result<(), String> {
    let objcopy = |arguments: &[&str], file: &Path| {
        said(Command::new("objcopy").args(arguments).arg(file)).map(drop)
    };
    let _ = fs::remove_file(debug);
    let apart = ["--only-keep-debug", "--compress-debug-sections"];
    said(Command::new("objcopy").args(apart).arg(program).arg(debug))?;
    objcopy(&["--strip-all"], program)?;
    objcopy(&[&format!("--add-gnu-debuglink={}", debug.display())], program)
}
