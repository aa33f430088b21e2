//! The Debian packages: `pavior`, with the program and the systemd unit for `pavior serve`, and
//! `pavior-slurm`, with the services for Slurm.
//!
//! The templates for the control files are in `xtask/templates/debian`; `dpkg-deb` packs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::files::{copy_into, file_names, make_folder, write as write_file};
use super::{DOC, MANUAL, Release, SERVE, SLURM, glibc};
use crate::process;

/// The directory for packaged systemd units on Debian.
const SYSTEM: &str = "usr/lib/systemd/system";

/// The directories for zsh completions: under a prefix, and on Debian.
const ZSH: (&str, &str) = ("usr/share/zsh/site-functions", "usr/share/zsh/vendor-completions");

/// The maintainer scripts. An upgrade restarts only the services that were running.
const SCRIPTS: [(&str, &str); 3] = [
    ("postinst", include_str!("../../templates/debian/postinst.in")),
    ("prerm", include_str!("../../templates/debian/prerm.in")),
    ("postrm", include_str!("../../templates/debian/postrm.in")),
];

/// Creates the program's package from an installation under a prefix.
pub(super) fn program(release: &Release, tree: &Path) -> Result<(), String> {
    let folder = release.stage.join("debian/pavior");
    let usr = folder.join("usr");
    make_folder(&folder)?;
    process::output(Command::new("cp").arg("--archive").arg(tree).arg(&usr))?;
    // The units are in the other package or in the systemd directory. Debian already includes the
    // Apache license, and the MIT license is in `copyright`.
    fs::remove_dir_all(usr.join("share/pavior"))
        .and_then(|()| fs::remove_file(usr.join(DOC).join("LICENSE-APACHE")))
        .and_then(|()| fs::remove_file(usr.join(DOC).join("LICENSE-MIT")))
        .and_then(|()| fs::rename(folder.join(ZSH.0), folder.join(ZSH.1)))
        .map_err(|error| format!("{}: {error}", usr.display()))?;
    copy_into(&release.root.join(SERVE), &folder.join(SYSTEM))?;
    let manual = usr.join(MANUAL);
    for page in file_names(&manual)? {
        compress(&manual.join(page))?;
    }
    let (major, minor) = glibc(&usr.join("bin/pavior"))?;
    let control = include_str!("../../templates/debian/pavior.control.in");
    let control = control.replace("@LIBC@", &format!("{major}.{minor}"));
    pack(release, "pavior", &control, "pavior-serve.service")
}

/// Creates the package that contains the services for Slurm.
pub(super) fn slurm(release: &Release) -> Result<(), String> {
    let folder = release.stage.join("debian/pavior-slurm");
    for file in SLURM {
        let place = if file.ends_with(".service") { SYSTEM } else { "etc/pavior" };
        copy_into(&release.root.join(file), &folder.join(place))?;
    }
    for page in ["slurm", "slurm-users", "slurm-operation", "slurm-reference", "slurm-design"] {
        let page = release.root.join("docs").join(page).with_extension("md");
        copy_into(&page, &folder.join("usr/share/doc/pavior-slurm"))?;
    }
    // Upgrades preserve the administrator's changes to the files listed here.
    write_file(&folder.join("DEBIAN/conffiles"), "/etc/pavior/slurm.toml\n")?;
    let control = include_str!("../../templates/debian/pavior-slurm.control.in");
    pack(release, "pavior-slurm", control, "pavior-slurm.service pavior-slurm-observe.service")
}

/// Adds control files, copyright and changelog to a directory laid out like `/`, and packs it.
fn pack(release: &Release, name: &str, control: &str, services: &str) -> Result<(), String> {
    let folder = release.stage.join("debian").join(name);
    let (own, doc) = (folder.join("DEBIAN"), folder.join("usr/share/doc").join(name));
    for (script, text) in SCRIPTS {
        write_file(&own.join(script), &text.replace("@SERVICES@", services))?;
        process::output(Command::new("chmod").arg("755").arg(own.join(script)))?;
    }
    let license = fs::read_to_string(release.root.join("LICENSE-MIT"));
    let license = license.map_err(|error| format!("LICENSE-MIT: {error}"))?;
    let copyright = include_str!("../../templates/debian/copyright");
    write_file(&doc.join("copyright"), &format!("{copyright}{license}"))?;
    let date = ["--utc", "--rfc-email", &format!("--date=@{}", release.seconds)];
    let date = process::output(Command::new("date").args(date))?;
    let version = format!("{}-1", release.version);
    let changes = include_str!("../../templates/debian/changelog.in").replace("@NAME@", name);
    let changes = changes.replace("@VERSION@", &version).replace("@DATE@", date.trim_end());
    write_file(&doc.join("changelog.Debian"), &changes)?;
    compress(&doc.join("changelog.Debian"))?;
    let size = process::output(Command::new("du").args(["--summarize", "-k"]).arg(&folder))?;
    let size = size.split_whitespace().next().unwrap_or("0");
    let control = control.replace("@VERSION@", &version).replace("@SIZE@", size);
    write_file(&own.join("control"), &control)?;
    process::output(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&folder))?;
    let mut deb = Command::new("dpkg-deb");
    deb.env("SOURCE_DATE_EPOCH", &release.seconds);
    deb.args(["--root-owner-group", "-Zxz", &format!("-z{}", release.effort), "--build"]);
    // Given an output directory, dpkg-deb chooses the conventional file name.
    process::output(deb.arg(&folder).arg(&release.out)).map(drop)
}

fn compress(file: &Path) -> Result<(), String> {
    process::output(Command::new("gzip").args(["--best", "--no-name"]).arg(file)).map(drop)
}
