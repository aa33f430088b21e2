//! Checks the Python package: builds a wheel, and installs and tests it in a separate environment.
//! The documentation site is built in the same environment.
//!
//! The environment in `target/python` is recreated whenever its requirements change.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Problems, browser, notes, process};

/// The environment variable that turns a missing Python or package index into an error.
const REQUIRE: &str = "PAVIOR_REQUIRE_PYTHON";

/// Supported interpreters, newest first.
const INTERPRETERS: [&str; 5] = ["python3.14", "python3.13", "python3.12", "python3.11", "python3"];

/// A Python program that fails if the interpreter is too old or cannot create environments.
const IS_USABLE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// The command lines for the checks in `apps/python`.
const STEPS: &[&[&str]] = &[
    &["python", "-m", "pytest", "--quiet", "-rs", "tests"],
    &["python", "-m", "mypy", "--strict", "examples", "benches"],
    &["python", "-m", "mypy.stubtest", "pavior"],
];

/// The directory for the wheel built by the checks.
const WHEELS: &str = "target/wheels-check";

/// A linker for glibc 2.28, which may be older than the machine's own glibc. The linker runs zig
/// through maturin, which looks for zig in the first Python on the path.
const LINKER: &str = "#!/bin/sh
PATH=\"${0%/*}:$PATH\" exec \"${0%/*}/maturin\" zig cc -- -target x86_64-linux-gnu.2.28 \"$@\"
";

/// Builds, installs and tests the package, and builds the site.
pub(crate) fn problems(root: &Path) -> Problems {
    with_environment(root, "the Python package and the site", |environment| {
        let folder = root.join("apps/python");
        // The tests compare the package with the program, so both must come from the same code.
        process::program_of_tests(root)?;
        install(root, environment)?;
        let steps = STEPS.iter().map(|step| environment.run(&folder, step));
        let site = std::iter::once_with(|| build_site(root, environment));
        Ok(steps.chain(site).filter_map(Result::err).collect())
    })
}

/// Builds only the documentation site.
pub(crate) fn site(root: &Path, _: &[String]) -> Problems {
    with_environment(root, "the site", |environment| {
        process::program(root)?;
        build_site(root, environment).map(|()| Vec::new())
    })
}

/// Runs a function with the environment. If that is unavailable, records that a part was skipped.
pub(crate) fn with_environment(
    root: &Path,
    part: &str,
    act: impl FnOnce(&Environment) -> Problems,
) -> Problems {
    match environment(root) {
        Ok(environment) => act(&environment),
        Err(reason) if std::env::var_os(REQUIRE).is_some() => Err(format!("{part}: {reason}")),
        Err(reason) => Ok(notes::skip(part, &reason)),
    }
}

/// Builds the site with drawings made by the program. Any warning counts as a failure. If the page
/// that runs the engine can be built, it is included in the home page.
fn build_site(root: &Path, environment: &Environment) -> Result<(), String> {
    browser::page(root)?;
    environment.run(root, &["python", "docs/site/build.py"])
}

/// Creates the environment. On failure, [`problems`] reports the reason.
pub(crate) fn prepare(root: &Path) {
    let _ = environment(root);
}

/// A Python environment that contains the programs needed by the checks.
pub(crate) struct Environment(PathBuf);

impl Environment {
    pub(crate) fn run(&self, folder: &Path, step: &[&str]) -> Result<(), String> {
        // Programs in the environment call each other, so its directory comes first in the path.
        let own = self.0.join("bin");
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(own.join(step[0]));
        command.args(&step[1..]).current_dir(folder).env("VIRTUAL_ENV", &self.0);
        // With these variables, the checks can share build output.
        command.envs(process::CHECKED).env("PATH", path);
        process::run(command.env_remove("PYTHONPATH"))
    }

    /// Writes the linker script and returns its path.
    pub(crate) fn linker(&self) -> Result<PathBuf, String> {
        let linker = self.0.join("bin/pavior-link");
        let written = fs::write(&linker, LINKER)
            .and_then(|()| fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)));
        written.map_err(|error| format!("{}: {error}", linker.display()))?;
        Ok(linker)
    }

    /// Builds the wheel into a directory. If built on x86-64 Linux, the wheel runs on every
    /// platform that a release supports. Otherwise, it runs only on machines like this one.
    pub(crate) fn wheel(&self, root: &Path, profile: &str, out: &Path) -> Result<(), String> {
        let out = out.display().to_string();
        let build = ["maturin", "build", "--quiet", "--locked", "--profile", profile, "--out"];
        let mut build = [&build[..], &[&out]].concat();
        let linker = format!("linker={}", self.linker()?.display());
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            build.extend(["--compatibility", "manylinux_2_28", "--", "-C", &linker]);
        }
        self.run(&root.join("apps/python"), &build)
    }
}

/// Returns the environment, creating it if it is missing or out of date.
pub(crate) fn environment(root: &Path) -> Result<Environment, String> {
    let needs = root.join("apps/python/requirements-check.txt");
    let needed = fs::read_to_string(&needs).map_err(|error| error.to_string())?;
    let environment = Environment(root.join("target/python"));
    let stamp = environment.0.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == needed) {
        return Ok(environment);
    }
    let is_usable =
        |name: &&str| process::output(Command::new(name).args(["-c", IS_USABLE])).is_ok();
    let interpreter = INTERPRETERS.into_iter().find(is_usable);
    let interpreter =
        interpreter.ok_or("Python 3.11 or later with venv (python3-venv) is not installed")?;
    let mut create = Command::new(interpreter);
    process::output(create.args(["-m", "venv", "--clear"]).arg(&environment.0))?;
    let needs = needs.display().to_string();
    let pip = ["python", "-m", "pip", "install", "--quiet", "--requirement", &needs];
    environment.run(root, &pip)?;
    fs::write(&stamp, needed).map_err(|error| error.to_string())?;
    Ok(environment)
}

/// Builds and installs the wheel. Using the test profile avoids building some crates twice.
fn install(root: &Path, environment: &Environment) -> Result<(), String> {
    // The directory does not exist before the first build.
    let _ = fs::remove_dir_all(root.join(WHEELS));
    environment.wheel(root, "dev", &root.join(WHEELS))?;
    let wheel = built_wheel(root)?.display().to_string();
    let pip = ["python", "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
    environment.run(root, &[&pip[..], &[&wheel]].concat())
}

/// Returns the path to the wheel built by the checks.
pub(crate) fn built_wheel(root: &Path) -> Result<PathBuf, String> {
    let wheels = crate::sources(&root.join(WHEELS), "whl");
    wheels.into_iter().next().ok_or_else(|| format!("{WHEELS}: no wheel was built"))
}
