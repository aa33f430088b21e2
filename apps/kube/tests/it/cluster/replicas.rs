//! Replicas of the daemon.

use std::fs::{File, OpenOptions};
use std::process::{Command, Stdio};

use super::{Cluster, REQUIRED, client};
use crate::proxy::Proxy;

impl Cluster {
    /// Starts a replica that acts only while it holds the Lease (`lease`), or at all times
    /// (`always`).
    pub(crate) fn start_replica(&mut self, lease: &str) {
        self.start_replica_as("pavior", lease, &[]);
    }

    /// Starts a replica with another account and additional arguments.
    pub(crate) fn start_replica_as(&mut self, who: &str, lease: &str, more: &[&str]) {
        self.start_replica_at(None, who, lease, more);
    }

    /// Starts a replica whose clock is wrong, for example by `+1h`. The caller must check that this
    /// is possible.
    pub(crate) fn start_replica_at(
        &mut self,
        clock: Option<&str>,
        who: &str,
        lease: &str,
        more: &[&str],
    ) {
        let log = OpenOptions::new().create(true).append(true).open(self.path().join("log/pavior"));
        let log: File = log.expect("there is room");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pavior-kube"));
        if let Some(clock) = clock {
            // The `faketime` command does this too, but it would be killed instead of the replica.
            command.env("LD_PRELOAD", "/usr/$LIB/faketime/libfaketimeMT.so.1");
            command.env("FAKETIME", clock).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        command.args([&format!("replica-{}", self.replicas.len()), lease]);
        command.args(more).env("KUBECONFIG", self.path().join(format!("{who}.kubeconfig")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.replicas.push(command.spawn().expect("it was built"));
    }

    pub(crate) fn end_replica(&mut self, at: usize) {
        let mut replica = self.replicas.remove(at);
        let _ = replica.kill();
        let _ = replica.wait();
    }

    /// Pauses a replica, as if its machine were suspended, or resumes it.
    pub(crate) fn pause_replica(&self, at: usize, asleep: bool) {
        let signal = if asleep { "-STOP" } else { "-CONT" };
        let pid = self.replicas[at].id().to_string();
        let _ = Command::new("kill").args([signal, &pid]).status();
    }

    /// Starts a proxy that disrupts one in `one_of` requests from the replicas whose account is
    /// `spoilt`.
    pub(crate) fn spoil(&self, seed: u64, one_of: u64) -> Proxy {
        let client = client(&self.runtime, self.path(), "pavior");
        let proxy = Proxy::start(&self.runtime, client, seed, one_of);
        let text = std::fs::read_to_string(self.path().join("pavior.kubeconfig")).unwrap();
        let direct = format!("https://127.0.0.1:{}", self.port);
        let text = text.replace(&direct, &format!("http://127.0.0.1:{}", proxy.port));
        std::fs::write(self.path().join("spoilt.kubeconfig"), text).expect("there is room");
        proxy
    }
}

/// Returns true if a program can run with a wrong clock; otherwise prints a note.
pub(crate) fn clocks_can_be_wrong() -> bool {
    let can = Command::new("faketime").args(["-f", "+1h", "true"]).status();
    let can = can.is_ok_and(|status| status.success());
    if !can {
        pavior_trials::skipped("clocks an hour off", "faketime is not installed", REQUIRED);
    }
    can
}
