//! The Debian packages: `pavior`, with the program and the unit of `pavior serve`, and
//! `pavior-slurm`, with the services for Slurm.
//!
//! They are packed by Debian's own `dpkg-deb`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DOC, MANUAL, Release, SERVE, SLURM, files, glibc, put, write as write_file};
use crate::process;

const MAINTAINER: &str = "The Pavior maintainers <maintainers@pavior.invalid>";

/// The folder for packages' units in Debian's systemd.
const SYSTEM: &str = "usr/lib/systemd/system";

/// The folder for completions under a prefix, and the one in Debian.
const ZSH: (&str, &str) = ("usr/share/zsh/site-functions", "usr/share/zsh/vendor-completions");

/// After an upgrade, services that were running are restarted with the new program; no others are
/// started.
const AFTER: &str = r#"#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if [ -n "$2" ]; then
        systemctl try-restart SERVICES
    fi
fi
"#;

const BEFORE_REMOVAL: &str = r#"#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now SERVICES
fi
"#;

const AFTER_REMOVAL: &str = "#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
";

const SCRIPTS: &[(&str, &str)] =
    &[("postinst", AFTER), ("prerm", BEFORE_REMOVAL), ("postrm", AFTER_REMOVAL)];

/// Writes both packages, given the files of an installation.
pub(super) fn write(release: &Release, tree: &Path) -> Result<(), String> {
    program(release, tree)?;
    slurm(release)
}

fn program(release: &Release, tree: &Path) -> Result<(), String> {
    let package = Package::new(release, "pavior", "amd64");
    let usr = package.folder.join("usr");
    super::make_folder(&package.folder)?;
    process::output(Command::new("cp").arg("--archive").arg(tree).arg(&usr))?;
    // The units belong to the other package, or to the place that systemd searches; the Apache
    // license is among Debian's common licenses, and the MIT license is in `copyright`.
    fs::remove_dir_all(usr.join("share/pavior"))
        .and_then(|()| fs::remove_file(usr.join(DOC).join("LICENSE-APACHE")))
        .and_then(|()| fs::remove_file(usr.join(DOC).join("LICENSE-MIT")))
        .and_then(|()| fs::rename(package.folder.join(ZSH.0), package.folder.join(ZSH.1)))
        .map_err(|error| format!("{}: {error}", usr.display()))?;
    put(&release.root.join(SERVE), &package.folder.join(SYSTEM))?;
    package.scripts("pavior-serve.service")?;
    let manual = usr.join(MANUAL);
    for page in files(&manual)? {
        compress(&manual.join(page))?;
    }
    let (major, minor) = glibc(&usr.join("bin/pavior"))?;
    package.pack(
        &format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\nSuggests: pavior-slurm\n"),
        "Processor allocation and scheduling on meshes and tori\n \
         Decides which nodes of a mesh or torus a job gets, and which job starts next; simulates\n \
         what the decision costs; serves leases of nodes over HTTP, as a service that is not \
         started.\n",
    )
}

fn slurm(release: &Release) -> Result<(), String> {
    let package = Package::new(release, "pavior-slurm", "all");
    for file in SLURM {
        let place = if file.ends_with(".service") { SYSTEM } else { "etc/pavior" };
        put(&release.root.join(file), &package.folder.join(place))?;
    }
    for page in ["slurm", "slurm-users", "slurm-operation", "slurm-reference", "slurm-design"] {
        let page = release.root.join("docs").join(page).with_extension("md");
        put(&page, &package.folder.join("usr/share/doc/pavior-slurm"))?;
    }
    package.scripts("pavior-slurm.service pavior-slurm-observe.service")?;
    // An upgrade keeps an administrator's changes.
    write_file(&package.folder.join("DEBIAN/conffiles"), "/etc/pavior/slurm.toml\n")?;
    package.pack(
        &format!("Depends: pavior (= {}-1)\nRecommends: slurm-client\n", release.version),
        "Boxes of nodes for the jobs of an unmodified Slurm\n \
         Two services, neither of which is started: one places the jobs of a Slurm cluster on\n \
         boxes of nodes of a mesh or torus, the other only shows them. Before removing it,\n \
         `pavior slurm uninstall` returns the waiting jobs to Slurm.\n",
    )
}

/// A package that is being built.
struct Package<'a> {
    release: &'a Release,
    name: &'static str,
    architecture: &'static str,
    /// The layout is that of `/`, with the control files in `DEBIAN`.
    folder: PathBuf,
}

impl<'a> Package<'a> {
    fn new(release: &'a Release, name: &'static str, architecture: &'static str) -> Package<'a> {
        let folder = release.stage.join("debian").join(name);
        Package { release, name, architecture, folder }
    }

    /// Writes the scripts that Debian runs for the given services.
    fn scripts(&self, services: &str) -> Result<(), String> {
        for (name, text) in SCRIPTS {
            let script = self.folder.join("DEBIAN").join(name);
            write_file(&script, &text.replace("SERVICES", services))?;
            process::output(Command::new("chmod").arg("755").arg(script))?;
        }
        Ok(())
    }

    /// Writes the control file with additional fields and a description, and packs the package.
    fn pack(&self, fields: &str, description: &str) -> Result<(), String> {
        let (name, version) = (self.name, format!("{}-1", self.release.version));
        self.documents(&version)?;
        let du = process::output(Command::new("du").args(["--summarize", "-k"]).arg(&self.folder))?;
        let size = du.split_whitespace().next().unwrap_or("0");
        let control = format!(
            "Package: {name}\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {size}\n{fields}Section: science\nPriority: optional\n\
             Description: {description}",
            self.architecture
        );
        write_file(&self.folder.join("DEBIAN/control"), &control)?;
        process::output(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&self.folder))?;
        let file = format!("{name}_{version}_{}.deb", self.architecture);
        let mut deb = self.release.packer("dpkg-deb");
        deb.args(["--root-owner-group", "-Zxz", &format!("-z{}", self.release.effort)]);
        deb.arg("--build").arg(&self.folder).arg(self.release.out.join(file));
        process::output(&mut deb).map(drop)
    }

    /// Writes the files that Debian requires in every package: copyright and changelog.
    fn documents(&self, version: &str) -> Result<(), String> {
        let doc = self.folder.join("usr/share/doc").join(self.name);
        let license = fs::read_to_string(self.release.root.join("LICENSE-MIT"));
        let copyright = format!(
            "Pavior is licensed under Apache-2.0 or MIT, at your choice.\n\
             The first is in /usr/share/common-licenses/Apache-2.0, the second here.\n\
             The packages that the program contains, and their licenses, are in\n\
             /usr/share/doc/pavior/THIRD-PARTY.txt.\n\n{}",
            license.map_err(|error| format!("LICENSE-MIT: {error}"))?
        );
        write_file(&doc.join("copyright"), &copyright)?;
        let date = ["--utc", "--rfc-email", &format!("--date=@{}", self.release.seconds)];
        let date = process::output(Command::new("date").args(date))?;
        let changes = format!(
            "{} ({version}) unstable; urgency=medium\n\n  * /usr/share/doc/pavior/CHANGELOG.md\n\n \
             -- {MAINTAINER}  {date}",
            self.name
        );
        let file = doc.join("changelog.Debian");
        write_file(&file, &changes)?;
        compress(&file)
    }
}

fn compress(file: &Path) -> Result<(), String> {
    process::output(Command::new("gzip").args(["--best", "--no-name"]).arg(file)).map(drop)
}
