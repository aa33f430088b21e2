//! The parts of a release: archives, Debian packages, the wheel, a bill of materials and checksums.
//! docs/releasing.md describes each.
//!
//! `cargo xtask dist` creates them in `dist/` from builds with the profile `dist`. The checks
//! create them in `target/release-check` from earlier build output, and test them.

mod archive;
mod bill;
mod debian;
mod glibc;
mod installed;
mod tree;

use std::fs;
use std::hash::Hash as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, notes, packages, python};

pub(crate) use installed::{installed, prepare};

/// The oldest glibc that a release supports, the same as in manylinux_2_28.
const GLIBC: (u32, u32) = (2, 28);

/// Programs that a release needs, and the Debian packages that contain them.
const TOOLS: &[(&str, &str)] = &[
    ("dpkg-deb", "dpkg"),
    ("objcopy", "binutils"),
    ("readelf", "binutils"),
    ("sha256sum", "coreutils"),
    ("tar", "tar"),
    ("gzip", "gzip"),
];

/// A Python program that strictly parses a bill of materials.
const VALIDATE: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
with open(sys.argv[1]) as file:
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
sys.exit(wrong and str(wrong))";

/// The contents of a release and the settings for packing them.
struct Release {
    root: PathBuf,
    /// The folder for the release's files.
    out: PathBuf,
    version: &'static str,
    /// The commit time of the sources, which is the time of every packed file.
    seconds: String,
    /// The compression level of dpkg-deb, 0 to 9.
    effort: &'static str,
}

/// Creates a release in `dist/`. Returns the problems.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    if let Err(problem) = lacking() {
        return vec![problem];
    }
    let made = python::environment(root).and_then(|environment| {
        let linker = environment.linker()?;
        let program = build(root, &linker)?;
        glibc::at_most(&program, GLIBC)?;
        let release = Release::new(root, root.join("dist"), "6")?;
        environment.wheel(root, "dist", &release.out)?;
        release.make(&program)
    });
    made.err().into_iter().collect()
}

/// Creates the parts of a release from the program and the wheel that the checks built, and tests
/// them in a clean Debian 13. Parts that this machine cannot create are skipped with a message.
pub(crate) fn check(root: &Path) -> Vec<String> {
    if let Err(why) = lacking() {
        notes::skip(root, "what a release has", &why);
        return Vec::new();
    }
    python::with_environment(root, "what a release has", |environment| {
        let out = root.join("target/release-check");
        let made = cargo::program(root).and_then(|program| {
            let release = Release::new(root, out.clone(), "0")?;
            let wheel = python::built_wheel(root)?;
            copy(&wheel, &out.join(wheel.file_name().unwrap_or_default()))?;
            release.make(&program)?;
            let bill = release.bill().display().to_string();
            let valid = environment.run(root, &["python", "-c", VALIDATE, &bill]);
            if valid { Ok(()) } else { Err(format!("{bill}: not as CycloneDX 1.6 has it")) }
        });
        match made {
            Ok(()) => installed::check(root, &out),
            Err(problem) => vec![problem],
        }
    })
}

/// Returns a hash of everything that affects the packing and installation of a release. The program
/// itself is tested elsewhere.
pub(crate) fn inputs(root: &Path) -> String {
    const PARTS: [&str; 9] = [
        "xtask/src/dist/",
        "xtask/installed.sh",
        "/dist/pavior-",
        "/dist/slurm.toml",
        "Cargo.toml",
        "Cargo.lock",
        "package-lock.json",
        "pyproject.toml",
        "release.sh",
    ];
    packages::sum(root, |name, text, sum| {
        if PARTS.iter().any(|part| name.contains(part)) {
            (name, text()).hash(sum);
        }
    })
}

/// Checks that this machine can create a release.
fn lacking() -> Result<(), String> {
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    if (system, processor) != ("linux", "x86_64") {
        return Err(format!(
            "releases are made on Linux on x86-64, and this is {system} on {processor}: here \
             Pavior is built from source (docs/install.md)"
        ));
    }
    for (program, package) in TOOLS {
        let found = Command::new(program).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            return Err(format!("a release needs {program} (Debian's package {package})"));
        }
    }
    Ok(())
}

/// Builds the program with all its interfaces, for the oldest glibc.
fn build(root: &Path, linker: &Path) -> Result<PathBuf, String> {
    let linker = format!("linker={}", linker.display());
    let build = ["rustc", "--locked", "--package", "pavior-cli", "--bin", "pavior"];
    let all = ["--all-features", "--profile", "dist", "--", "-C", &linker];
    if cargo::run(root, &[&build[..], &all].concat()) {
        Ok(root.join("target/dist/pavior"))
    } else {
        Err("the program cannot be built".to_string())
    }
}

impl Release {
    /// Creates a release in an empty folder.
    fn new(root: &Path, out: PathBuf, effort: &'static str) -> Result<Release, String> {
        // All packages in the workspace have the same version.
        let version = env!("CARGO_PKG_VERSION");
        let _ = fs::remove_dir_all(&out);
        make_folder(&out)?;
        // The owner of a checkout may be a different user, for example in a container.
        let time = ["-c", "safe.directory=*", "log", "-1", "--format=%ct"];
        // An archive of the sources has no commits.
        let committed = said(Command::new("git").args(time).current_dir(root));
        let seconds = committed.unwrap_or_default().trim().to_string();
        let seconds = if seconds.is_empty() { "0".to_string() } else { seconds };
        Ok(Release { root: root.to_path_buf(), out, version, seconds, effort })
    }

    /// Packs the program and writes the files next to the packages. The wheel is already there.
    fn make(&self, program: &Path) -> Result<(), String> {
        let stage = self.root.join("target/release-stage");
        let _ = fs::remove_dir_all(&stage);
        let parts = bill::parts(&self.root)?;
        let tree = tree::write(self, program, &parts, &stage)?;
        archive::write(self, &tree)?;
        debian::write(self, &tree)?;
        write(&self.bill(), &bill::text_of(&parts, self.version)?)?;
        self.sum()?;
        println!("{}", self.out.display());
        Ok(())
    }

    /// Returns the name of the archive and of its folder.
    fn name(&self) -> String {
        format!("pavior-{}-x86_64-linux", self.version)
    }

    /// Returns the path of the bill of materials.
    fn bill(&self) -> PathBuf {
        self.out.join(format!("pavior-{}.cdx.json", self.version))
    }

    /// Writes the checksums of all files of the release.
    fn sum(&self) -> Result<(), String> {
        let names = files(&self.out)?;
        let sums = said(Command::new("sha256sum").args(&names).current_dir(&self.out))?;
        write(&self.out.join("SHA256SUMS"), sums.as_bytes())
    }

    /// Creates a command that packs with the time of the commit.
    fn packer(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SOURCE_DATE_EPOCH", &self.seconds);
        command
    }
}

/// Returns the names of the files in a folder, in order.
fn files(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Writes a file and creates the folders above it.
fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    make_folder(file.parent().unwrap_or(file))?;
    fs::write(file, bytes).map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies a file with its permissions and creates the folders above it.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder(to.parent().unwrap_or(to))?;
    let copied = fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()));
    copied.map(drop)
}

/// Returns the output of a command or the reason why it failed.
fn said(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    Err(format!("failed: {name} {}: {}", arguments.join(" "), why.trim()))
}
