//! A real file system that is full: what was acknowledged stays, nothing is acknowledged in vain,
//! the reason is told, and with room the service goes on.
//!
//! Needs the right to mount. Skipped, loudly, where a small file system cannot be mounted.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{Server, Setup};

/// A file system of so many bytes; gone when dropped.
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
    let mut client = Client::new(&server.address);
    let job = "x".repeat(200);
    let ask = json!({ "nodes": 1, "job": job }).to_string();
    // Granted and ended again until there is no room.
    let mut last: Option<Value> = None;
    let refused = (0..1000).find_map(|_| {
        let (path, body) = match &last {
            None => ("/v1/leases".to_string(), ask.clone()),
            Some(lease) => (
                format!("/v1/leases/{}/end", lease["id"]),
                json!({ "epoch": lease["epoch"] }).to_string(),
            ),
        };
        let reply = client.post(&path, &body).unwrap();
        match reply.status {
            201 => last = Some(reply.json()),
            200 => last = None,
            _ => return Some(reply),
        }
        None
    });
    let refused = refused.expect("64 KiB are full at some time");
    assert_eq!((refused.status, refused.kind.as_str()), (503, "application/problem+json"));
    let problem = refused.json();
    assert_eq!(problem["reason"], "read-only");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("no room to write") && detail.contains("journal-"), "{detail}");
    // It can be read, and says that it cannot decide.
    let known = last.iter().map(|lease| lease["id"].clone()).collect::<Vec<_>>();
    let held = |client: &mut Client| -> Vec<Value> {
        let list = client.get("/v1/leases").unwrap().json();
        list["leases"].as_array().unwrap().iter().map(|lease| lease["id"].clone()).collect()
    };
    assert_eq!(held(&mut client), known);
    let ready = client.get("/readyz").unwrap();
    assert_eq!((ready.status, &ready.json()["reason"]), (503, &json!("read-only")));
    assert!(client.get("/metrics").unwrap().text.contains("pavior_ready 0"));
    // Killed and started again on the full disk, it knows the same.
    server.kill();
    disk.grow("96k");
    let server = Server::start(&setup);
    let mut client = Client::new(&server.address);
    assert_eq!(held(&mut client), known);
    disk.grow("8m");
    let began = std::time::Instant::now();
    while client.post("/v1/nodes/drain", r#"{"node":[7,7]}"#).unwrap().status != 200 {
        assert!(began.elapsed().as_secs() < 10, "with room it goes on");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    assert_eq!(held(&mut client), known);
}
