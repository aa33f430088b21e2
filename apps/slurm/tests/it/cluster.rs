//! A toy cluster in a temporary directory, and the daemon beside it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

pub(crate) struct Cluster {
    folder: TempDir,
    daemon: Option<Child>,
}

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
    /// Starts one; `None`, said loudly, where Slurm or the right to start it is missing, unless
    /// `PAVIOR_REQUIRE_SLURM` is set.
    pub(crate) fn start(port: u16, extra: &str) -> Option<Cluster> {
        if !installed() {
            let required = std::env::var_os("PAVIOR_REQUIRE_SLURM").is_some();
            assert!(!required, "Slurm is not installed, or this is not root; this test needs both");
            eprintln!("\n!!!! SKIPPED: no Slurm here, or not root: the daemon is not tried !!!!\n");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("pavior-slurm-").tempdir().unwrap();
        let cluster = Cluster { folder, daemon: None };
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
        let _ = self.shell("scancel -Q -u root,nobody", false);
        let _ = Command::new(script()).arg("stop").arg(self.path()).output();
    }
}
