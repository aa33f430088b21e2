//! The Debian packages: `pavior`, with the program and the unit of `pavior serve`, and
//! `pavior-slurm`, with the services for Slurm.
//!
//! They are packed by Debian's own `dpkg-deb`. Files below `etc` are conffiles, so an upgrade keeps
//! an administrator's changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tree::{self, Tree};
use super::{Release, files, make_folder, said, write as write_file};

const MAINTAINER: &str = "The Pavior maintainers <maintainers@pavior.invalid>";

/// The folder for packages' units in Debian's systemd.
const SYSTEM: &str = "usr/lib/systemd/system";

/// The folder of completions in a prefix and the one in Debian.
const ZSH: (&str, &str) = ("usr/share/zsh/site-functions", "usr/share/zsh/vendor-completions");

/// The services of each package.
const SERVE_SERVICES: &str = "pavior-serve.service";
const SLURM_SERVICES: &str = "pavior-slurm.service pavior-slurm-observe.service";

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

/// Writes both packages.
pub(super) fn write(release: &Release, tree: &Tree) -> Result<(), String> {
    program(release, tree)?;
    slurm(release, tree)
}

fn program(release: &Release, tree: &Tree) -> Result<(), String> {
    let package = Package::new(release, tree, "pavior", "amd64");
    let usr = package.folder.join("usr");
    make_folder(&package.folder)?;
    said(Command::new("cp").arg("--archive").arg(&tree.files).arg(&usr))?;
    // These belong to the other package, or are moved to the places that systemd searches.
    let others = package.folder.join("usr/share/pavior");
    fs::remove_dir_all(&others).map_err(|error| format!("{}: {error}", others.display()))?;
    let moved = fs::rename(package.folder.join(ZSH.0), package.folder.join(ZSH.1));
    moved.map_err(|error| format!("{}: {error}", ZSH.0))?;
    tree::put(&release.root, tree::SERVICE, &package.folder.join(SYSTEM))?;
    judge(&package.folder.join(SYSTEM))?;
    package.scripts(SERVE_SERVICES)?;
    let manual = usr.join(tree::MANUAL);
    for page in files(&manual)? {
        said(Command::new("gzip").args(["--best", "--no-name"]).arg(manual.join(page)))?;
    }
    let doc = usr.join(tree::DOC);
    // The Apache license is among Debian's common licenses, and the MIT license is in `copyright`.
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::remove_file(doc.join(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    let (major, minor) = tree.glibc;
    package.pack(
        &format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\nSuggests: pavior-slurm\n"),
        "Processor allocation and scheduling on meshes and tori\n \
         Decides which nodes of a mesh or torus a job gets, and which job starts next; simulates\n \
         what the decision costs; serves leases of nodes over HTTP, as a service that is not \
         started.\n",
    )
}

fn slurm(release: &Release, tree: &Tree) -> Result<(), String> {
    let package = Package::new(release, tree, "pavior-slurm", "all");
    for file in tree::UNITS {
        let place = if file.ends_with(".service") { SYSTEM } else { "etc/pavior" };
        tree::put(&release.root, file, &package.folder.join(place))?;
    }
    judge(&package.folder.join(SYSTEM))?;
    for page in ["slurm", "slurm-users", "slurm-operation", "slurm-reference", "slurm-design"] {
        let page = format!("docs/{page}.md");
        tree::put(&release.root, &page, &package.folder.join("usr/share/doc/pavior-slurm"))?;
    }
    package.scripts(SLURM_SERVICES)?;
    write_file(&package.folder.join("DEBIAN/conffiles"), b"/etc/pavior/slurm.toml\n")?;
    package.pack(
        &format!("Depends: pavior (= {}-1)\nRecommends: slurm-client\n", release.version),
        "Boxes of nodes for the jobs of an unmodified Slurm\n \
         Two services, of which none is started: one places the jobs of a Slurm on boxes of\n \
         nodes of a mesh or torus, the other only shows them. Before it is removed,\n \
         `pavior slurm uninstall` gives Slurm its waiting jobs back.\n",
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
    fn new(
        release: &'a Release,
        tree: &Tree,
        name: &'static str,
        architecture: &'static str,
    ) -> Package<'a> {
        let folder = tree.stage.join("debian").join(name);
        Package { release, name, architecture, folder }
    }

    /// Writes the scripts that Debian runs for the given services.
    fn scripts(&self, services: &str) -> Result<(), String> {
        for (name, text) in SCRIPTS {
            let script = self.folder.join("DEBIAN").join(name);
            write_file(&script, text.replace("SERVICES", services).as_bytes())?;
            said(Command::new("chmod").arg("755").arg(script))?;
        }
        Ok(())
    }

    /// Writes the control file with additional fields and a description, and packs the package.
    fn pack(&self, fields: &str, description: &str) -> Result<(), String> {
        let (name, version) = (self.name, format!("{}-1", self.release.version));
        self.documents(&version)?;
        let size = said(Command::new("du").args(["--summarize", "-k"]).arg(&self.folder))?;
        let size = size.split_whitespace().next().unwrap_or("0").to_string();
        let control = format!(
            "Package: {name}\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {size}\n{fields}Section: science\nPriority: optional\n\
             Description: {description}",
            self.architecture
        );
        write_file(&self.folder.join("DEBIAN/control"), control.as_bytes())?;
        said(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&self.folder))?;
        let file = format!("{name}_{version}_{}.deb", self.architecture);
        let mut deb = self.release.packer("dpkg-deb");
        deb.args(["--root-owner-group", "-Zxz", &format!("-z{}", self.release.effort)]);
        said(deb.arg("--build").arg(&self.folder).arg(self.release.out.join(file))).map(drop)
    }

    /// Writes the files that Debian requires in every package: copyright and changelog.
    fn documents(&self, version: &str) -> Result<(), String> {
        let doc = self.folder.join("usr/share/doc").join(self.name);
        let licence = self.release.root.join("LICENSE-MIT");
        let licence = fs::read_to_string(licence).map_err(|error| error.to_string())?;
        let copyright = format!(
            "Pavior is licensed under Apache-2.0 or MIT, at your choice.\n\
             The first is in /usr/share/common-licenses/Apache-2.0, the second here.\n\
             The packages that the program contains, and their licences, are in\n\
             /usr/share/doc/pavior/THIRD-PARTY.txt.\n\n{licence}"
        );
        write_file(&doc.join("copyright"), copyright.as_bytes())?;
        let date = ["--utc", "--rfc-email", &format!("--date=@{}", self.release.seconds)];
        let date = said(Command::new("date").args(date))?;
        let changes = format!(
            "{} ({version}) unstable; urgency=medium\n\n  * /usr/share/doc/pavior/CHANGELOG.md\n\n \
             -- {MAINTAINER}  {date}",
            self.name
        );
        let file = doc.join("changelog.Debian");
        write_file(&file, changes.as_bytes())?;
        said(Command::new("gzip").args(["--best", "--no-name"]).arg(&file)).map(drop)
    }
}

/// Lets systemd rate the privileges of the units, if it is available.
fn judge(folder: &Path) -> Result<(), String> {
    for unit in files(folder)? {
        let unit = folder.join(unit);
        // In tenths. The limit of 2 is stricter than systemd's own OK.
        let judge = ["security", "--offline=true", "--threshold=20", "--no-pager"];
        let Ok(output) = Command::new("systemd-analyze").args(judge).arg(&unit).output() else {
            eprintln!("not tried: systemd is not there to judge the units");
            return Ok(());
        };
        if !output.status.success() {
            let why = [output.stdout, output.stderr].concat();
            return Err(format!("{}: {}", unit.display(), String::from_utf8_lossy(&why)));
        }
    }
    Ok(())
}
