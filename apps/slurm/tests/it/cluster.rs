//! A toy Slurm cluster in a temporary directory, along with the daemon.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Output};
use std::time::Duration;

use tempfile::TempDir;

use crate::release::{Place, Release};

mod options;
mod ports;
mod slot;

pub(crate) use options::Options;
use ports::Ports;
use slot::Slot;

/// The user who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Alice,
    Bob,
}

impl User {
    fn number(self) -> u32 {
        match self {
            User::Root => 0,
            User::Alice => 6001,
            User::Bob => 6002,
        }
    }
}

pub(crate) struct Cluster {
    // The environment, which is dropped before the folder so that it shuts down before the folder
    // is removed.
    place: Place,
    /// The daemons, keyed by configuration name.
    daemons: BTreeMap<String, Child>,
    folder: TempDir,
    release: Release,
    nodes: u16,
    ports: Ports,
    _slot: Slot,
}

/// The name of the jobs that are submitted to make slurmctld save its state.
const HELD: &str = "makes-it-write";

impl Cluster {
    /// Starts a cluster for a test. If the release is missing or cannot be started, reports this
    /// and returns `None`, or fails if `PAVIOR_REQUIRE_SLURM` is set.
    pub(crate) fn start(release: Release, options: Options) -> Option<Cluster> {
        let slot = Slot::wait();
        let folder = tempfile::Builder::new().prefix("pavior-slurm-").tempdir().unwrap();
        let place = match Place::open(release, options.accounting, folder.path()) {
            Ok(place) => place,
            Err(why) => {
                let what = format!("{}, release {}", options.what, release.name());
                pavior_trials::skipped(&what, &why, "PAVIOR_REQUIRE_SLURM");
                return None;
            }
        };
        let machine = options.machine.unwrap_or("mesh:8x8");
        let sides = machine.split_once(':').unwrap().1;
        let nodes = sides.split('x').map(|side| side.parse::<u16>().unwrap()).product();
        let ports = Ports::free(nodes + 3);
        let port = ports.first;
        let daemons = BTreeMap::new();
        let cluster = Cluster { place, daemons, folder, release, nodes, ports, _slot: slot };
        let program = cluster.program();
        let own = env!("CARGO_BIN_EXE_pavior-slurm");
        // On the same file system, a hard link is enough.
        std::fs::hard_link(own, &program)
            .or_else(|_| std::fs::copy(own, &program).map(|_| ()))
            .unwrap();
        let folder = cluster.path().display().to_string();
        for (name, text) in &options.files {
            let path = cluster.path().join(name);
            std::fs::write(&path, text.replace("@DIR@", &folder)).unwrap();
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        let line = format!("{0}/cluster.sh start {0} {port} {program}", cluster.path().display());
        let mut command = cluster.place.command(0, "bash");
        command.args(["-c", &line]);
        command
            .env("SLURM_EXTRA", options.conf.replace("@DIR@", &folder))
            .env("SLURM_NODES", options.nodes);
        command.env("SLURM_TOML", options.toml).env("SLURM_MACHINE", machine);
        command.env("SLURM_PREFIX", options.prefix);
        command.env("SLURM_ACCOUNTING", if options.accounting { "1" } else { "" });
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{}", cluster.log());
        eprintln!("{}: {}", options.what, cluster.run("slurmctld -V"));
        Some(cluster)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn release(&self) -> Release {
        self.release
    }

    pub(crate) fn nodes(&self) -> u16 {
        self.nodes
    }

    pub(crate) fn node(&self, number: u64) -> String {
        let width = if self.nodes > 100 { 3 } else { 2 };
        format!("n{number:0width$}")
    }

    /// Returns the path of the daemon's executable, which is also valid inside the cluster.
    pub(crate) fn program(&self) -> String {
        self.path().join("pavior-slurm").display().to_string()
    }

    /// Returns one of the cluster's ports that Slurm does not use.
    pub(crate) fn spare_port(&self) -> u16 {
        self.ports.first + self.nodes + 2
    }

    /// Reads a file in the cluster's directory.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Writes a file in the cluster's directory.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// Makes the daemon serve its metrics on the spare port.
    pub(crate) fn add_metrics(&self) {
        let address = format!("127.0.0.1:{}", self.spare_port());
        self.write(
            "pavior.toml",
            &format!("{}metrics = \"{address}\"\n", self.read("pavior.toml")),
        );
    }

    /// Returns a shell command that runs the daemon's executable with `pavior.toml`.
    pub(crate) fn pavior_line(&self, arguments: &str) -> String {
        format!("{} {}/pavior.toml {arguments}", self.program(), self.path().display())
    }

    /// Runs the daemon's executable as root with `pavior.toml`, and returns its output.
    pub(crate) fn pavior(&self, arguments: &str) -> String {
        self.run(&self.pavior_line(arguments))
    }

    /// Runs a shell command as root.
    pub(crate) fn shell(&self, line: &str) -> Output {
        self.shell_as(User::Root, line)
    }

    pub(crate) fn shell_as(&self, user: User, line: &str) -> Output {
        let mut command = self.place.command(user.number(), "sh");
        command.env("SLURM_CONF", self.path().join("slurm.conf"));
        command.args(["-c", line]).output().unwrap()
    }

    /// Runs a shell command as root and returns its output. The command must succeed.
    pub(crate) fn run(&self, line: &str) -> String {
        self.run_as(User::Root, line)
    }

    pub(crate) fn run_as(&self, user: User, line: &str) -> String {
        let output = self.shell_as(user, line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {text}");
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    /// Runs `sacctmgr` once for each line, and waits until slurmctld knows the new QOS.
    pub(crate) fn account(&self, lines: &[&str], qos: &str) {
        for line in lines {
            self.run(&format!("sacctmgr -i {line}"));
        }
        let known = format!("QOS={qos}");
        self.wait_for("scontrol show assoc_mgr flags=qos -o", 20, |text| text.contains(&known));
    }

    /// Submits a job that only sleeps, and returns its job ID. `name` begins with the job's shape.
    pub(crate) fn submit(&self, name: &str, options: &str, seconds: f64) -> String {
        self.submit_as(User::Root, &format!("-J {name} {options}"), seconds)
    }

    pub(crate) fn submit_as(&self, user: User, options: &str, seconds: f64) -> String {
        let line = format!("sbatch --parsable -o /dev/null {options} --wrap 'sleep {seconds}'");
        self.run_as(user, &line)
    }

    /// Waits until slurmctld has saved that a job is running. To make slurmctld save its state,
    /// submits another job and cancels it. A kill may lose the cancellation, so
    /// [`Cluster::start_slurmctld`] repeats it.
    pub(crate) fn wait_until_saved(&self, job: &str) {
        let line = format!("sleep 2; sbatch --parsable -H -J {HELD} -o /dev/null -N1 --wrap true");
        let held = self.run(&line);
        self.run(&format!("scancel {held}"));
        let written = format!("$(stat -c %Y {}/state/job_state)", self.path().display());
        let start = format!("$(date +%s -d \"$(squeue -h -j {job} -o %S)\")");
        let line = format!("[ {written} -gt $(({start} + 1)) ] && echo written");
        self.wait_for(&line, 60, |text| text == "written");
    }

    /// Waits until a command prints the expected text. `seconds` is how long this takes on an idle
    /// host; the timeout is ten times as long.
    pub(crate) fn wait_for(&self, line: &str, seconds: u64, good: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        for _ in 0..10 * seconds * 5 {
            let output = self.shell(line);
            last = String::from_utf8_lossy(&output.stdout).trim().to_string();
            if output.status.success() && good(&last) {
                return last;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("after {} s, `{line}` still prints `{last}`; {}", 10 * seconds, self.log());
    }

    /// Cancels jobs, and waits until no job is left.
    pub(crate) fn cancel(&self, jobs: &str, seconds: u64) {
        self.run(&format!("scancel {jobs}"));
        self.wait_until_empty(seconds);
    }

    pub(crate) fn wait_until_empty(&self, seconds: u64) {
        self.wait_for("squeue -h -o %i", seconds, str::is_empty);
    }

    pub(crate) fn wait_until_gone(&self, job: &str, seconds: u64) {
        self.wait_for(&format!("squeue -h -j {job} -o %t"), seconds, str::is_empty);
    }

    pub(crate) fn wait_until_running(&self, job: &str, seconds: u64) {
        self.wait_for(&format!("squeue -h -j {job} -o %t"), seconds, |text| text == "R");
    }

    pub(crate) fn wait_until_idle(&self, seconds: u64) {
        let all = self.nodes.to_string();
        self.wait_for("sinfo -h -N -t idle -o %N | sort -u | wc -l", seconds, |text| text == all);
    }

    /// Returns the last lines of the daemon's and slurmctld's logs, and the latest notes for jobs.
    pub(crate) fn log(&self) -> String {
        let end = |name: &str, word: &str, count: usize| {
            let text = std::fs::read_to_string(self.path().join(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(word)).collect();
            let last = lines[lines.len().saturating_sub(count)..].iter();
            last.map(|line| line.chars().take(300).collect::<String>() + "\n").collect::<String>()
        };
        let slurmctld = "log/slurmctld.log";
        let (own, told) = (end("pavior.log", "", 40), end(slurmctld, "admin_comment", 30));
        let name = self.release.name();
        let slurmctld = end(slurmctld, "", 20);
        format!("release {name}, log:\n{own}told:\n{told}slurmctld:\n{slurmctld}")
    }

    /// Returns a job's record, including how the job ended, and the lines about the job in all
    /// Slurm logs.
    pub(crate) fn job_log(&self, job: &str) -> String {
        let folder = self.path().display();
        let line = format!(
            "cd {folder}; grep -hwE '(JobId=|job |job0*|\\[){job}' log/*.log | sort | tail -n 60; \
             grep -hw JobId={job} jobs.txt"
        );
        let output = self.shell(&line);
        format!("{}; {}", String::from_utf8_lossy(&output.stdout), self.log())
    }

    /// Returns true if a slurmd deleted a job's script before the job could read it. A step's
    /// socket is created before any process listens on it. If slurmctld starts and asks slurmd for
    /// its steps at that moment, slurmd assumes that the step is dead, and the job fails. This also
    /// happens without our daemon.
    pub(crate) fn has_lost_script(&self, job: &str) -> bool {
        let folder = self.path().display();
        let what = format!("Purging vestigial job script .*/job0*{job}/");
        self.shell(&format!("grep -qE '{what}' {folder}/log/n*.log")).status.success()
    }

    /// Starts slurmctld and waits until it answers.
    pub(crate) fn start_slurmctld(&self) {
        self.run(&format!("{0}/cluster.sh slurmctld {0}", self.path().display()));
        self.wait_for("scontrol ping", 60, |text| text.contains("UP"));
        self.shell(&format!("scancel -n {HELD}"));
    }

    /// Stops slurmctld, which saves its state, and waits until it has exited.
    pub(crate) fn stop_slurmctld(&self) {
        let file = self.path().join("pid/slurmctld");
        self.run(&format!(
            "pid=$(cat {}) && kill $pid && timeout 60 tail --pid=$pid -f /dev/null",
            file.display()
        ));
    }

    /// Sends SIGKILL to the process whose ID is in the pid file of `program`.
    pub(crate) fn kill(&self, program: &str) {
        self.run(&format!("kill -9 $(cat {}/pid/{program})", self.path().display()));
    }

    pub(crate) fn start_slurmd(&self, node: &str) {
        self.run(&format!("{0}/cluster.sh slurmd {0} {node}", self.path().display()));
    }

    pub(crate) fn start_daemon(&mut self) {
        self.start_daemon_of("pavior");
    }

    /// Starts a daemon with the configuration `NAME.toml` and the log `NAME.log`.
    pub(crate) fn start_daemon_of(&mut self, name: &str) {
        self.kill_daemon_of(name);
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path().join(format!("{name}.log")))
            .unwrap();
        let mut command = self.place.command(0, "sh");
        command.env("SLURM_CONF", self.path().join("slurm.conf"));
        let folder = self.path().display();
        let line =
            format!("echo $$ >{folder}/{name}.pid; exec {} {folder}/{name}.toml", self.program());
        let daemon = command.args(["-c", &line]).stderr(log).spawn().unwrap();
        self.daemons.insert(name.to_string(), daemon);
    }

    /// Returns a command that runs the observer as an ordinary user with the configuration
    /// `pavior.toml`.
    /// [`Cluster::signal`] knows the observer as `observer`.
    pub(crate) fn observer(&self) -> std::process::Command {
        let (folder, program) = (self.path().display(), self.program());
        let line = format!(
            "echo $$ >{folder}/observer.pid; \
             exec setpriv --reuid=6001 --regid=6001 --clear-groups \
             {program} {folder}/pavior.toml --observe 127.0.0.1:0"
        );
        let mut command = self.place.command(0, "sh");
        command.env("SLURM_CONF", self.path().join("slurm.conf")).args(["-c", &line]);
        command
    }

    pub(crate) fn signal(&self, name: &str, signal: &str) {
        let file = self.path().join(format!("{name}.pid"));
        // The process writes its PID file when it starts.
        for _ in 0..6000 {
            if std::fs::metadata(&file).is_ok_and(|file| file.len() > 1) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.shell(&format!("kill -{signal} $(cat {})", file.display()));
    }

    pub(crate) fn kill_daemon(&mut self) {
        self.kill_daemon_of("pavior");
    }

    /// Sends SIGKILL to a daemon and waits until it has exited.
    pub(crate) fn kill_daemon_of(&mut self, name: &str) {
        let Some(mut daemon) = self.daemons.remove(name) else { return };
        if daemon.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.signal(name, "KILL");
        }
        let _ = daemon.wait();
        let _ = std::fs::remove_file(self.path().join(format!("{name}.pid")));
    }

    /// Sends SIGTERM to the daemon. Returns true if it exits successfully.
    pub(crate) fn end_daemon(&mut self) -> bool {
        let Some(mut daemon) = self.daemons.remove("pavior") else { return false };
        self.signal("pavior", "TERM");
        daemon.wait().is_ok_and(|status| status.success())
    }
}
