//! A toy cluster in a temporary directory, and the daemon beside it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

pub(crate) struct Cluster {
    folder: TempDir,
    daemon: Option<Child>,
    port: u16,
    _alone: MutexGuard<'static, ()>,
}

/// One cluster at a time: 64 nodes are much for a small machine.
static ALONE: Mutex<()> = Mutex::new(());

/// How many were started in this run.
static STARTED: AtomicU32 = AtomicU32::new(0);

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slurm/cluster.sh")
}

/// Whether Slurm and the right to start it are there.
fn installed() -> bool {
    let has = |name: &str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths)
            .chain(["/usr/sbin".into()])
            .any(|folder| folder.join(name).exists())
    };
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    root && ["munged", "slurmctld", "slurmd", "scontrol"].iter().all(|name| has(name))
}

impl Cluster {
    /// Starts one to try something; `None`, told to the runner, where Slurm or the right to start
    /// it is missing, unless `PAVIOR_REQUIRE_SLURM` is set.
    pub(crate) fn start(what: &str, extra: &str) -> Option<Cluster> {
        if !installed() {
            let why = "Slurm is not installed, or this is not root";
            pavior_trials::skipped(what, why, "PAVIOR_REQUIRE_SLURM");
            return None;
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Below the ephemeral ports, so that two runs on one machine seldom meet; and others for
        // each cluster of a run: the ports of the last may still be in use.
        let place = std::process::id() + 37 * STARTED.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (place % 170) as u16 * 70;
        let folder = tempfile::Builder::new().prefix("pavior-slurm-").tempdir().unwrap();
        let cluster = Cluster { folder, daemon: None, port, _alone: alone };
        let port = port.to_string();
        let output = Command::new(script())
            .arg("start")
            .arg(cluster.path())
            .args([port.as_str(), env!("CARGO_BIN_EXE_pavior-slurm")])
            .env("SLURM_EXTRA", extra)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(cluster)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A port of this cluster that Slurm does not use.
    pub(crate) fn spare_port(&self) -> u16 {
        self.port + 68
    }

    /// A command of Slurm's in this cluster.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.path().join("slurm.conf")).stdin(Stdio::null());
        command.current_dir("/tmp");
        command
    }

    /// Runs a line of the shell as root, or as an ordinary user.
    pub(crate) fn shell(&self, line: &str, user: bool) -> Output {
        let mut command = self.command(if user { "setpriv" } else { "sh" });
        if user {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
        }
        command.args(["-c", line]).output().unwrap()
    }

    /// What a line prints; it must succeed.
    pub(crate) fn good(&self, line: &str) -> String {
        let output = self.shell(line, false);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {text}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// Submits a job that sleeps, named after its shape; returns its number.
    pub(crate) fn submit(&self, name: &str, options: &str, seconds: f64) -> String {
        let line =
            format!("sbatch --parsable -o /dev/null -J {name} {options} --wrap 'sleep {seconds}'");
        self.good(&line)
    }

    /// Waits until a line prints what is wanted.
    pub(crate) fn until(&self, line: &str, seconds: u64, good: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        for _ in 0..seconds * 5 {
            let output = self.shell(line, false);
            last = String::from_utf8_lossy(&output.stdout).trim().to_string();
            if output.status.success() && good(&last) {
                return last;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("after {seconds} s `{line}` still prints `{last}`; log:\n{}", self.log());
    }

    /// Waits until there is no job.
    pub(crate) fn until_empty(&self, seconds: u64) {
        self.until("squeue -h -o %i", seconds, str::is_empty);
    }

    pub(crate) fn until_gone(&self, job: &str, seconds: u64) {
        self.until(&format!("squeue -h -j {job} -o %t"), seconds, str::is_empty);
    }

    pub(crate) fn until_runs(&self, job: &str, seconds: u64) {
        self.until(&format!("squeue -h -j {job} -o %t"), seconds, |text| text == "R");
    }

    /// The end of the daemon's log.
    pub(crate) fn log(&self) -> String {
        let text = std::fs::read_to_string(self.path().join("daemon.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Starts slurmctld again, and waits until all nodes are idle.
    pub(crate) fn start_slurmctld(&self) {
        let folder = self.path().display();
        self.good(&format!("slurmctld -f {folder}/slurm.conf -L {folder}/log/slurmctld.log"));
        self.until("sinfo -h -o %D -t idle", 90, |text| text == "64");
    }

    pub(crate) fn start_daemon(&mut self) {
        self.kill_daemon();
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path().join("daemon.log"))
            .unwrap();
        let config = self.path().join("pavior.toml");
        let mut command = self.command(env!("CARGO_BIN_EXE_pavior-slurm"));
        self.daemon = Some(command.arg(config).stderr(log).spawn().unwrap());
    }

    /// SIGKILL.
    pub(crate) fn kill_daemon(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// SIGTERM; returns whether it ended well.
    pub(crate) fn end_daemon(&mut self) -> bool {
        let Some(mut daemon) = self.daemon.take() else { return false };
        self.good(&format!("kill -TERM {}", daemon.id()));
        daemon.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill_daemon();
        let _ = self.shell("scancel -Q -u root; scancel -Q -u nobody", false);
        let _ = Command::new(script()).arg("stop").arg(self.path()).output();
    }
}
