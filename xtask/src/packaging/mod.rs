//! A release, as described in docs/releasing.md: archives, Debian packages, the wheel, a bill of
//! materials and checksums.
//!
//! `cargo xtask dist` creates a release in `dist/` from builds with the `dist` profile. The checks
//! create one in `target/release-check` from existing build output. They then install it and try it
//! out in a clean Debian chroot, and discard all changes to the chroot.

mod bill;
pub(crate) mod crates;
mod debian;
mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::files::{copy_into, file_names, make_folder, write};
use crate::{Problems, notes, process, python};

/// The oldest glibc version that a release supports: that of manylinux_2_28.
const GLIBC: (u32, u32) = (2, 28);

/// Programs needed to create a release, from the Debian packages dpkg and binutils.
const TOOLS: [&str; 3] = ["dpkg-deb", "objcopy", "readelf"];

/// A Python program that strictly validates a bill of materials.
const VALIDATE: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
with open(sys.argv[1]) as file:
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
sys.exit(wrong and str(wrong))";

/// The directory in which the checks create a release.
const CHECKED: &str = "target/release-check";

/// The script that creates chroots and runs commands in them, and the chroot for the checks.
const CHROOT: &str = "examples/slurm/release.sh";
const CLEAN: &str = "clean-13";

/// The script that installs and tries out a release, and the Python program that tests the wheel.
const TRIAL: [&str; 2] = ["xtask/installed.sh", "apps/python/examples/first.py"];

/// The shells, with the paths of their completion files.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/pavior"),
    ("zsh", "share/zsh/site-functions/_pavior"),
    ("fish", "share/fish/vendor_completions.d/pavior.fish"),
];

/// The directory for manual pages, and the directory for licenses and the changelog.
const MANUAL: &str = "share/man/man1";
const DOC: &str = "share/doc/pavior";

/// The systemd units and configuration for Slurm, and the unit for `pavior serve`.
const SLURM: [&str; 3] = [
    "apps/slurm/dist/pavior-slurm.service",
    "apps/slurm/dist/pavior-slurm-observe.service",
    "apps/slurm/dist/slurm.toml",
];
const SERVE: &str = "apps/serve/dist/pavior-serve.service";

/// A release, and settings for packing it.
struct Release {
    root: PathBuf,
    /// The output directory.
    out: PathBuf,
    /// The directory for unpacked files.
    stage: PathBuf,
    version: &'static str,
    /// The commit time of the sources, used as the modification time of every packed file.
    seconds: String,
    /// The compression level for dpkg-deb, 0 to 9.
    effort: &'static str,
}

/// Creates a release in `dist/`.
pub(crate) fn dist(root: &Path) -> Result<(), String> {
    check_tools()?;
    let environment = python::environment(root)?;
    let linker = format!("linker={}", environment.linker()?.display());
    let words = "rustc --locked --package pavior-cli --bin pavior --all-features --profile dist --";
    process::run(process::checked(root, words).args(["-C", &linker]))?;
    let program = root.join("target/dist/pavior");
    let (major, minor) = glibc(&program)?;
    if (major, minor) > GLIBC {
        return Err(format!("{} requires glibc {major}.{minor}", program.display()));
    }
    let release = Release::new(root, root.join("dist"), "6")?;
    environment.wheel(root, "dist", &release.out)?;
    release.make(&program)
}

/// Creates a release from the program and wheel that the checks built, and tries it out on a clean
/// Debian 13 system. Skips any part that this machine cannot create.
pub(crate) fn check(root: &Path) -> Problems {
    if let Err(why) = check_tools() {
        return Ok(notes::skip("the contents of a release", &why));
    }
    python::with_environment(root, "the contents of a release", |environment| {
        let program = process::program_of_tests(root)?;
        let release = Release::new(root, root.join(CHECKED), "0")?;
        copy_into(&python::built_wheel(root)?, &release.out)?;
        release.make(&program)?;
        let bill = release.bill().display().to_string();
        environment.run(root, &["python", "-c", VALIDATE, &bill])?;
        match chroot(root, CLEAN) {
            Err(why) => Ok(notes::skip("a release on a clean Debian 13", &why)),
            Ok(()) => install_and_try(root, &release.out, CLEAN).map(|()| Vec::new()),
        }
    })
}

/// Creates the chroot for the checks. On failure, [`check`] reports the reason.
pub(crate) fn prepare(root: &Path) {
    let _ = chroot(root, CLEAN);
}

/// Installs the release in `dist/` on a clean Debian system (13 by default) and tries it out.
pub(crate) fn installed(root: &Path, words: &[String]) -> Result<(), String> {
    let version = words.first().map_or("13", String::as_str);
    if !["12", "13"].contains(&version) {
        return Err(format!("VERSION must be 12 or 13, not {version}"));
    }
    let release = root.join("dist");
    if !release.join("SHA256SUMS").is_file() {
        return Err("no release found in dist/; run cargo xtask dist".to_string());
    }
    let debian = format!("clean-{version}");
    chroot(root, &debian)?;
    install_and_try(root, &release, &debian)
}

fn chroot(root: &Path, debian: &str) -> Result<(), String> {
    process::output(Command::new(root.join(CHROOT)).args(["make", debian])).map(drop)
}

/// Installs a copy of a release in a chroot and tries it out.
fn install_and_try(root: &Path, release: &Path, debian: &str) -> Result<(), String> {
    let copy = root.join("target/installed");
    let _ = fs::remove_dir_all(&copy);
    let files = file_names(release)?.into_iter().map(|name| release.join(name));
    for file in files.chain(TRIAL.map(|file| root.join(file))) {
        copy_into(&file, &copy)?;
    }
    let mut run = Command::new(root.join(CHROOT));
    run.args(["run", debian]).arg(&copy).arg("bash").arg(copy.join("installed.sh")).arg(&copy);
    process::run(&mut run)
}

/// Returns an error if this machine cannot create a release.
fn check_tools() -> Result<(), String> {
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    if (system, processor) != ("linux", "x86_64") {
        return Err(format!(
            "releases can be created only on x86-64 Linux; on {processor} {system}, build Pavior \
             from source (docs/install.md)"
        ));
    }
    let missing = TOOLS.into_iter().find(|program| !pavior_trials::is_installed(program));
    missing.map_or(Ok(()), |program| Err(format!("{program} is not installed")))
}

/// Returns the oldest glibc that can run a program: the newest version among the program's symbols.
fn glibc(program: &Path) -> Result<(u32, u32), String> {
    let mut readelf = Command::new("readelf");
    let text = process::output(readelf.args(["--version-info", "--wide"]).arg(program))?;
    newest(&text).ok_or_else(|| format!("{} is not linked against glibc", program.display()))
}

fn newest(text: &str) -> Option<(u32, u32)> {
    let version = |word: &str| {
        // Some versions have three numbers, such as 2.2.5.
        let mut numbers = word.strip_prefix("GLIBC_")?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    text.split_whitespace().filter_map(version).max()
}

impl Release {
    /// Empties a directory and prepares a release in it.
    fn new(root: &Path, out: PathBuf, effort: &'static str) -> Result<Release, String> {
        let stage = root.join("target/release-stage");
        for folder in [&out, &stage] {
            let _ = fs::remove_dir_all(folder);
            make_folder(folder)?;
        }
        // The checkout may belong to a different user, for example in a container.
        let time = ["-c", "safe.directory=*", "log", "-1", "--format=%ct"];
        // A source archive contains no commits.
        let committed = process::output(Command::new("git").args(time).current_dir(root));
        let seconds = committed.map_or("0".to_string(), |text| text.trim().to_string());
        // All packages in the workspace have the same version.
        let version = env!("CARGO_PKG_VERSION");
        Ok(Release { root: root.to_path_buf(), out, stage, version, seconds, effort })
    }

    /// Creates everything except the wheel, which must already be in the output directory.
    fn make(&self, program: &Path) -> Result<(), String> {
        let parts = bill::parts(&self.root)?;
        let name = format!("pavior-{}-x86_64-linux", self.version);
        let tree = self.stage.join(&name);
        self.write_tree(program, &tree)?;
        write(&tree.join(DOC).join("THIRD-PARTY.txt"), &bill::licenses(&parts)?)?;
        self.archive(&name, &format!("{name}.tar.gz"))?;
        self.archive("pavior.debug", &format!("{name}-debug.tar.gz"))?;
        debian::program(self, &tree)?;
        debian::slurm(self)?;
        write(&self.bill(), &bill::document(&parts)?)?;
        let mut sums = Command::new("sha256sum");
        let sums = process::output(sums.args(file_names(&self.out)?).current_dir(&self.out))?;
        write(&self.out.join("SHA256SUMS"), &sums)?;
        println!("{}", self.out.display());
        Ok(())
    }

    /// Writes an installation under a prefix: the stripped program, manual pages, completions,
    /// units and licenses.
    fn write_tree(&self, program: &Path, prefix: &Path) -> Result<(), String> {
        copy_into(program, &prefix.join("bin"))?;
        let program = prefix.join("bin/pavior");
        split_debug_data(&program, &self.stage.join("pavior.debug"))?;
        make_folder(&prefix.join(MANUAL))?;
        let mut manual = Command::new(&program);
        process::output(manual.args(["manual", "--into"]).arg(prefix.join(MANUAL)))?;
        for (shell, file) in COMPLETIONS {
            let text = process::output(Command::new(&program).args(["completions", shell]))?;
            write(&prefix.join(file), &text)?;
        }
        // These files are included, but administrators install them manually.
        for file in SLURM {
            copy_into(&self.root.join(file), &prefix.join("share/pavior/slurm"))?;
        }
        copy_into(&self.root.join(SERVE), &prefix.join("share/pavior/serve"))?;
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
            copy_into(&self.root.join(file), &prefix.join(DOC))?;
        }
        Ok(())
    }

    /// Packs a staged file or directory. Identical files produce identical archives.
    fn archive(&self, name: &str, archive: &str) -> Result<(), String> {
        let mut tar = Command::new("tar");
        tar.args(["--create", "--gzip", "--sort=name", "--owner=root:0", "--group=root:0"])
            .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{}", self.seconds)])
            .arg("--file")
            .arg(self.out.join(archive))
            .arg("--directory")
            .arg(&self.stage)
            .arg(name);
        process::output(&mut tar).map(drop)
    }

    fn bill(&self) -> PathBuf {
        self.out.join(format!("pavior-{}.cdx.json", self.version))
    }
}

/// Moves a program's debug information into a separate file linked from the program.
fn split_debug_data(program: &Path, debug: &Path) -> Result<(), String> {
    let objcopy = |arguments: &[&str], files: &[&Path]| {
        process::output(Command::new("objcopy").args(arguments).args(files)).map(drop)
    };
    objcopy(&["--only-keep-debug", "--compress-debug-sections"], &[program, debug])?;
    objcopy(&["--strip-all"], &[program])?;
    objcopy(&[&format!("--add-gnu-debuglink={}", debug.display())], &[program])
}

#[test]
fn glibc_versions_are_compared_as_numbers() {
    let text = "0x0010: Name: GLIBC_2.2.5  Flags: none  Version: 4\n\
                0x0020: Name: GLIBC_2.28 Flags: none\n  Name: GLIBC_2.9  Name: GCC_4.2.0";
    assert_eq!(newest(text), Some((2, 28)));
    assert_eq!(newest("Name: GLIBC_PRIVATE"), None);
}
