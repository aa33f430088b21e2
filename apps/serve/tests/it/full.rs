//! Tests a full file system: acknowledged records survive, nothing is acknowledged without being
//! stored, and the service resumes once there is space again. Skipped with a note if mounting is
//! not permitted.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, until};
use crate::server::{Server, Setup};

/// A small file system, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, size: &str) -> Option<Small> {
        std::fs::create_dir(at).ok()?;
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        mounted.then(|| Small(at.to_path_buf()))
    }

    fn grow(&self, size: &str) {
        let options = format!("remount,size={size}");
        let grown = Command::new("mount").args(["-o", &options]).arg(&self.0).status();
        assert!(grown.is_ok_and(|status| status.success()), "it can grow");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_makes_the_service_read_only_with_a_reason() {
    let folder = tempfile::TempDir::new().unwrap();
    let Some(disk) = Small::mount(&folder.path().join("disk"), "64k") else {
        let why = "no small file system can be mounted here";
        pavior_trials::skipped("a full file system", why, "PAVIOR_REQUIRE_MOUNT");
        return;
    };
    let setup = Setup::new(&disk.0.join("data"));
    let mut server = Server::start(&setup);
    let mut client = server.client();
    let job = "x".repeat(200);
    let ask = json!({ "nodes": 1, "job": job });
    // Grant and end leases until the disk is full.
    let mut last: Option<Value> = None;
    let refused = (0..1000).find_map(|_| {
        let reply = match &last {
            None => client.post("/v1/leases", &ask),
            Some(lease) => client.end(lease),
        };
        match reply.status {
            201 => last = Some(reply.json()),
            200 => last = None,
            _ => return Some(reply),
        }
        None
    });
    let refused = refused.expect("64 KiB fill up");
    refused.is(503, "read-only");
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("no space left to write") && detail.contains("journal-"), "{detail}");
    // Reads still work, and the service reports that it is not ready.
    let known = last.iter().map(|lease| lease["id"].clone()).collect::<Vec<_>>();
    let held = |client: &mut Client| -> Vec<Value> {
        let list = client.get("/v1/leases").json();
        list["leases"].as_array().unwrap().iter().map(|lease| lease["id"].clone()).collect()
    };
    assert_eq!(held(&mut client), known);
    client.get("/readyz").is(503, "read-only");
    assert!(client.get("/metrics").text.contains("pavior_ready 0"));
    // After a restart on the full disk, the state is the same.
    server.kill();
    disk.grow("96k");
    let server = Server::start(&setup);
    let mut client = server.client();
    assert_eq!(held(&mut client), known);
    disk.grow("8m");
    until("room", || client.post("/v1/nodes/drain", r#"{"node":[7,7]}"#).status == 200);
    assert_eq!(client.get("/readyz").status, 200);
    assert_eq!(held(&mut client), known);
}
