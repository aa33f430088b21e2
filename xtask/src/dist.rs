//! What a package holds, as a tree of folders in `dist/`: the stripped program with all its doors,
//! the units, manual pages, completions, and an example of the configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::output as cargo_output;

/// Files of the sources, and where a package has them.
const FILES: &[(&str, &str)] = &[
    ("apps/slurm/dist/pavior-slurm.service", "usr/lib/systemd/system"),
    ("apps/slurm/dist/pavior-slurm-observe.service", "usr/lib/systemd/system"),
    ("apps/slurm/dist/slurm.toml", "etc/pavior"),
    ("LICENSE-APACHE", "usr/share/doc/pavior"),
    ("LICENSE-MIT", "usr/share/doc/pavior"),
    ("docs/slurm.md", "usr/share/doc/pavior"),
    ("docs/slurm-users.md", "usr/share/doc/pavior"),
    ("docs/slurm-operation.md", "usr/share/doc/pavior"),
    ("docs/slurm-reference.md", "usr/share/doc/pavior"),
    ("docs/slurm-design.md", "usr/share/doc/pavior"),
];

/// Shells, and the files of their completions.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "usr/share/bash-completion/completions/pavior"),
    ("zsh", "usr/share/zsh/vendor-completions/_pavior"),
    ("fish", "usr/share/fish/vendor_completions.d/pavior.fish"),
];

/// The manual pages.
const MANUAL: &str = "usr/share/man/man1";

/// Writes `dist/` anew, with the program of a profile.
pub(crate) fn problems(root: &Path, profile: &str) -> Vec<String> {
    write(root, profile).err().into_iter().collect()
}

fn write(root: &Path, profile: &str) -> Result<(), String> {
    let strip = format!("profile.{profile}.strip=\"symbols\"");
    let build = ["build", "--package", "pavior-cli", "--all-features", "--profile", profile];
    cargo_output(root, &[&build[..], &["--config", &strip]].concat())?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let built = root.join("target").join(folder).join("pavior");
    let dist = root.join("dist");
    let _ = fs::remove_dir_all(&dist);
    copy(&built, &dist.join("usr/bin"))?;
    for (file, place) in FILES {
        copy(&root.join(file), &dist.join(place))?;
    }
    let manual = dist.join(MANUAL);
    make(&manual)?;
    said(&built, &["manual", "--into", &manual.display().to_string()])?;
    for (shell, file) in COMPLETIONS {
        let (text, file) = (said(&built, &["completions", shell])?, dist.join(file));
        make(file.parent().unwrap_or(&dist))?;
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    verify(&dist)
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn copy(file: &Path, folder: &Path) -> Result<(), String> {
    make(folder)?;
    let to = folder.join(file.file_name().unwrap_or_default());
    let copied = fs::copy(file, to).map_err(|error| format!("{}: {error}", file.display()));
    copied.map(drop)
}

/// What the program prints.
fn said(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("pavior {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
}

/// Has systemd judge how much the units may do, where it is there.
fn verify(dist: &Path) -> Result<(), String> {
    for unit in ["pavior-slurm.service", "pavior-slurm-observe.service"] {
        let unit = dist.join("usr/lib/systemd/system").join(unit);
        // In tenths: 2 is less than systemd's own OK asks for.
        let judge = ["security", "--offline=true", "--threshold=20", "--no-pager"];
        let Ok(output) = Command::new("systemd-analyze").args(judge).arg(&unit).output() else {
            eprintln!("not tried: systemd is not there to judge the units");
            return Ok(());
        };
        if !output.status.success() {
            let said = [output.stdout, output.stderr].concat();
            return Err(format!("{}: {}", unit.display(), String::from_utf8_lossy(&said)));
        }
    }
    Ok(())
}
