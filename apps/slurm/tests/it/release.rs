//! Slurm releases and the namespaces in which they run, both created by
//! `examples/slurm/release.sh`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A Slurm release, as packaged in a Debian release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Release {
    /// 22.05, from Debian 12.
    Slurm22_05,
    /// 24.11, from Debian 13.
    Slurm24_11,
    /// The newest release, from Debian testing.
    Testing,
}

impl Release {
    /// Returns the name by which `release.sh` and `cargo xtask slurm` know the release.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Release::Slurm22_05 => "22.05",
            Release::Slurm24_11 => "24.11",
            Release::Testing => "testing",
        }
    }
}

/// Generates a test for each combination of function and release. `cargo xtask slurm RELEASE`
/// selects the tests by name.
macro_rules! on_each_release {
    ($($name:ident)*) => { $(
        mod $name {
            use crate::release::Release;

            #[test]
            fn slurm_22_05() {
                super::$name(Release::Slurm22_05);
            }

            #[test]
            fn slurm_24_11() {
                super::$name(Release::Slurm24_11);
            }

            #[test]
            fn slurm_testing() {
                super::$name(Release::Testing);
            }
        }
    )* };
}
pub(crate) use on_each_release;

/// The reasons why releases are unavailable, for each release with and without accounting. Computed
/// only once.
static MISSING: Mutex<Option<HashMap<(Release, bool), String>>> = Mutex::new(None);

/// An environment with an installed release. When the environment ends, even because the test is
/// killed, its processes and mounts disappear, along with everything written outside the test's
/// directory.
pub(crate) struct Place {
    process: Child,
    root: PathBuf,
}

impl Place {
    /// Opens an environment that has access to a directory. Creates missing chroots, which takes
    /// minutes.
    ///
    /// # Errors
    /// Returns the reason if the release is unavailable.
    pub(crate) fn open(release: Release, accounting: bool, folder: &Path) -> Result<Place, String> {
        let mut missing = MISSING.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = missing.get_or_insert_default();
        if let Some(why) = missing.get(&(release, accounting)) {
            return Err(why.clone());
        }
        let opened = Place::try_open(release, accounting, folder);
        if let Err(why) = &opened {
            missing.insert((release, accounting), why.clone());
        }
        opened
    }

    fn try_open(release: Release, accounting: bool, folder: &Path) -> Result<Place, String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slurm/release.sh");
        let mut command = Command::new(script);
        // The environment ends when this process exits or closes the pipe to its standard input.
        command.args(["run", release.name()]).arg(folder).args(["sh", "-c", "echo open; cat"]);
        command.env("ACCOUNTING", if accounting { "1" } else { "" });
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = pipes.spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let output = process.stdout.as_mut().expect("its output is piped");
        let read = BufReader::new(output).read_line(&mut line);
        if read.is_ok() && line == "open\n" {
            let inside = folder.join("root/all");
            let root = if folder.join("root").exists() { inside } else { PathBuf::from("/") };
            return Ok(Place { process, root });
        }
        let mut said = String::new();
        let _ = process.stderr.as_mut().expect("it is piped").read_to_string(&mut said);
        let _ = process.wait();
        Err(format!("Slurm {}: {}", release.name(), said.trim().replace('\n', "; ")))
    }

    /// Creates a command that runs in this environment, in /tmp, as the user with this id.
    pub(crate) fn command(&self, user: u32, program: &str) -> Command {
        let space = format!("/proc/{}/ns", self.process.id());
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount={space}/mnt"));
        command.arg(format!("--pid={space}/pid_for_children"));
        command.arg("chroot");
        if user != 0 {
            command.args([format!("--userspec={user}:65534"), "--groups=".into()]);
        }
        command.arg(&self.root).args(["env", "--chdir=/tmp", program]);
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        command.env("PATH", path).stdin(Stdio::null());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
