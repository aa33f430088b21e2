//! The Python package: built as a wheel, installed into a separate environment, and tested there.
//! Also the documentation site, which is built in the same environment.
//!
//! The environment is in `target/python`. It is recreated when its requirements have changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::browser::{self, NotBuilt};
use crate::{cargo, notes};

/// If this variable is set, the check fails on a machine without Python or without a package index.
const REQUIRE: &str = "PAVIOR_REQUIRE_PYTHON";

/// Interpreters that may exist, the newest first.
const INTERPRETERS: [&str; 5] = ["python3.14", "python3.13", "python3.12", "python3.11", "python3"];

/// A check that an interpreter is new enough and can create environments.
const IS_USABLE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// The steps in the environment, below `apps/python`: a program in it, and its arguments.
const STEPS: &[&[&str]] = &[
    &["python", "-m", "pytest", "--quiet", "-rs", "tests"],
    &["python", "-m", "mypy", "--strict", "examples", "benches"],
    &["python", "-m", "mypy.stubtest", "pavior"],
];

/// The folder in which the checks build the wheel.
const WHEELS: &str = "target/wheels-check";

/// The platform of the wheel on Linux on x86-64: glibc 2.28 or later.
const MANYLINUX: &str = "manylinux_2_28";

/// A linker for glibc 2.28, even if the machine's own glibc is newer: zig, called through maturin,
/// which looks for it in the first Python on the path.
const LINKER: &str = "#!/bin/sh
PATH=\"${0%/*}:$PATH\" exec \"${0%/*}/maturin\" zig cc -- -target x86_64-linux-gnu.2.28 \"$@\"
";

/// The build of the site, from the root of the workspace.
const SITE: &[&str] = &["python", "docs/site/build.py"];

/// Builds, installs and tests the package, and builds the site. Returns the failures.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    with_environment(root, "the Python package and the site", |environment| {
        let mut failed = tried(root, environment);
        failed.extend(built(root, environment, cargo::program(root)));
        failed
    })
}

/// Builds only the documentation site.
pub(crate) fn site(root: &Path) -> Vec<String> {
    with_environment(root, "the site", |environment| {
        built(root, environment, cargo::every_door(root))
    })
}

/// Runs a function with the environment. Without one, it is skipped with a message.
pub(crate) fn with_environment(
    root: &Path,
    what: &str,
    act: impl FnOnce(&Environment) -> Vec<String>,
) -> Vec<String> {
    match environment(root) {
        Ok(environment) => act(&environment),
        Err(reason) if std::env::var_os(REQUIRE).is_some() => {
            vec![format!("{what}: not tried: {reason}")]
        }
        Err(reason) => {
            notes::skip(root, what, &reason);
            Vec::new()
        }
    }
}

/// Builds the site with drawings made by the program; any warning is a failure. The home page
/// includes the page that runs the engine, if that can be built.
fn built(root: &Path, environment: &Environment, program: Result<PathBuf, String>) -> Vec<String> {
    eprintln!("== documentation site");
    match browser::page(root) {
        Ok(()) => {}
        Err(NotBuilt::Lacking(why)) => {
            notes::skip(root, "the page that runs the engine, in the site", &why);
        }
        Err(NotBuilt::Failed(problem)) => return vec![problem],
    }
    match program {
        Ok(_) if environment.run(root, SITE) => Vec::new(),
        Ok(_) => vec![format!("failed: {}", SITE.join(" "))],
        Err(problem) => vec![problem],
    }
}

/// Builds, installs and tests the package.
fn tried(root: &Path, environment: &Environment) -> Vec<String> {
    let folder = root.join("apps/python");
    // The package is compared with the program, so both must be built from the same sources.
    let made = cargo::program(root).and_then(|_| install(root, &folder, environment));
    if let Err(reason) = made {
        return vec![format!("the Python package: {reason}")];
    }
    let failed = STEPS.iter().filter(|step| !environment.run(&folder, step));
    failed.map(|step| format!("failed: {} (in apps/python)", step.join(" "))).collect()
}

/// Creates the environment if possible; [`problems`] reports the reason if not.
pub(crate) fn prepare(root: &Path) -> Vec<String> {
    let _ = environment(root);
    Vec::new()
}

/// An environment with the programs that the checks need.
pub(crate) struct Environment(PathBuf);

impl Environment {
    fn program(&self, name: &str) -> PathBuf {
        self.0.join("bin").join(name)
    }

    /// Runs a program in the environment. Returns true if it succeeded.
    pub(crate) fn run(&self, folder: &Path, step: &[&str]) -> bool {
        let (program, arguments) = step.split_first().expect("a step names its program");
        // Programs in the environment call each other.
        let own = self.0.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path)));
        let status = Command::new(self.program(program))
            .args(arguments)
            .current_dir(folder)
            .env("VIRTUAL_ENV", &self.0)
            // Its build output is shared with the other checks.
            .envs(cargo::CHECKED)
            // Both are in the folder of build output.
            .env(notes::NOTES, self.0.with_file_name(notes::FILE))
            .env("PATH", path.unwrap_or_default())
            .env_remove("PYTHONPATH")
            .status();
        status.is_ok_and(|status| status.success())
    }

    /// Returns the linker for the oldest glibc.
    pub(crate) fn linker(&self) -> Result<PathBuf, String> {
        let linker = self.program("pavior-link");
        let written = fs::write(&linker, LINKER)
            .and_then(|()| fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)));
        written.map_err(|error| format!("{}: {error}", linker.display()))?;
        Ok(linker)
    }

    /// Builds the wheel of a profile into a folder. On platforms with releases, it is for the
    /// release platform; elsewhere it is for this machine.
    pub(crate) fn wheel(&self, root: &Path, profile: &str, out: &Path) -> Result<(), String> {
        let out = out.display().to_string();
        let build = ["maturin", "build", "--quiet", "--locked", "--profile", profile, "--out"];
        let mut build = [&build[..], &[&out]].concat();
        let linker = format!("linker={}", self.linker()?.display());
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            build.extend(["--compatibility", MANYLINUX, "--", "-C", &linker]);
        }
        if self.run(&root.join("apps/python"), &build) {
            Ok(())
        } else {
            Err("the wheel cannot be built".into())
        }
    }
}

/// Returns the environment, and creates it if it is missing or out of date.
pub(crate) fn environment(root: &Path) -> Result<Environment, String> {
    let needs = root.join("apps/python/requirements-check.txt");
    let needed = fs::read_to_string(&needs).map_err(|error| format!("{error}"))?;
    let environment = Environment(root.join("target/python"));
    let stamp = environment.0.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == needed) {
        return Ok(environment);
    }
    let interpreter = INTERPRETERS
        .into_iter()
        .find(|name| quiet(Command::new(name).args(["-c", IS_USABLE])))
        .ok_or("there is no Python 3.11 or later that can make environments (python3-venv)")?;
    eprintln!("== Python package: making target/python");
    let path = environment.0.display().to_string();
    if !quiet(Command::new(interpreter).args(["-m", "venv", "--clear", &path])) {
        return Err(format!("{interpreter} -m venv {path} fails"));
    }
    let needs = needs.display().to_string();
    let install = ["python", "-m", "pip", "install", "--quiet", "--requirement", &needs];
    if !environment.run(root, &install) {
        return Err("pip cannot install what the checks need".into());
    }
    fs::write(&stamp, needed).map_err(|error| format!("{error}"))?;
    Ok(environment)
}

/// Builds the wheel and installs it. The profile is the one used by the tests, so that little is
/// built twice.
fn install(root: &Path, folder: &Path, environment: &Environment) -> Result<(), String> {
    let wheels = root.join(WHEELS);
    // The folder has only wheels, and does not exist the first time.
    let _ = fs::remove_dir_all(&wheels);
    environment.wheel(root, "dev", &wheels)?;
    let wheel = built_wheel(root)?.display().to_string();
    let install =
        ["python", "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", &wheel];
    if environment.run(folder, &install) {
        Ok(())
    } else {
        Err(format!("{wheel} is not installed"))
    }
}

/// Returns the wheel that the checks have built.
pub(crate) fn built_wheel(root: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(root.join(WHEELS)).map_err(|error| error.to_string())?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or("no wheel was built".to_string())
}

/// Runs a command and ignores its output. Returns true if it succeeded.
fn quiet(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
