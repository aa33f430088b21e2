//! Tests `pavior serve` as users run it, with its options and over its Unix socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Folder, pavior, refused, refused_for, stderr, words};

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A service running in its own folder, with a connection to its socket.
pub(crate) struct Service {
    process: Process,
    stream: BufReader<UnixStream>,
    address: String,
    used: Instant,
    folder: Folder,
}

impl Service {
    /// Starts a service with options, none of which may contain white space.
    pub(crate) fn start(options: &str) -> Service {
        let folder = Folder::new();
        let command = Command::new(env!("CARGO_BIN_EXE_pavior"))
            .arg("serve")
            .args(words(options))
            .current_dir(folder.path(""))
            .env("PAVIOR_LOG", "error")
            .stdout(Stdio::piped())
            .spawn();
        let mut process = Process(command.unwrap());
        let mut address = String::new();
        let mut output = BufReader::new(process.0.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let address = address.trim_end().to_string();
        let stream = connect(&folder, &address);
        Service { process, stream, address, used: Instant::now(), folder }
    }

    /// Sends a request. Returns the status and body of the response.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> (u16, Value) {
        // The service closes connections that have been idle for 10 s.
        if self.used.elapsed() > Duration::from_secs(4) {
            self.stream = connect(&self.folder, &self.address);
        }
        self.used = Instant::now();
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: pavior\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).unwrap();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    /// Sends the named signal, and checks that the process exits successfully within 40 s.
    fn end(&mut self, signal: &str) {
        let began = Instant::now();
        let pid = self.process.0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let status = loop {
            if let Some(status) = self.process.0.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < Duration::from_secs(40), "the service does not stop");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
    }
}

fn connect(folder: &Folder, address: &str) -> BufReader<UnixStream> {
    let path = address.strip_prefix("unix:").expect("a Unix socket is the default");
    BufReader::new(UnixStream::connect(folder.path(path)).unwrap())
}

#[test]
fn the_default_socket_is_in_the_data_folder() {
    let mut service = Service::start("");
    assert_eq!(service.address, "unix:pavior-data/pavior.sock");
    let (status, lease) = service.send("POST", "/v1/leases", r#"{"shape":[2,3]}"#);
    assert_eq!((status, &lease["parts"]), (201, &json!([{"base":[0,0],"sides":[2,3]}])));
    let (_, machine) = service.send("GET", "/v1/machine", "");
    assert_eq!((&machine["machine"], &machine["strategy"]), (&json!("mesh:16x16"), &json!("tff")));
    // A connection from the same user has operator rights.
    assert_eq!(service.send("POST", "/v1/nodes/drain", r#"{"node":[9,9]}"#).0, 200);
    service.end("TERM");
}

#[test]
fn machines_have_names() {
    let options = "--machine a=mesh:4x4 --machine b=torus:4x4x4 --scheduler easy";
    let mut service = Service::start(options);
    for (body, machine, base) in [
        (r#"{"shape":[4,4],"machine":"a"}"#, "a", json!([0, 0])),
        (r#"{"shape":[4,4,1],"machine":"b"}"#, "b", json!([0, 0, 0])),
        (r#"{"shape":[4,4,1],"machine":"b"}"#, "b", json!([0, 0, 1])),
    ] {
        let (status, lease) = service.send("POST", "/v1/leases", body);
        assert_eq!((status, &lease["machine"]), (201, &json!(machine)));
        assert_eq!(lease["parts"][0]["base"], base);
    }
    let waits = r#"{"shape":[1,1],"wait":true,"ttl_s":60}"#;
    assert_eq!(service.send("POST", "/v1/leases", waits).0, 202);
    service.end("INT");
}

#[test]
fn the_depth_becomes_part_of_the_name_of_conservative() {
    let mut service = Service::start("--scheduler conservative --depth 7");
    let (_, machine) = service.send("GET", "/v1/machine", "");
    assert_eq!(machine["scheduler"], json!("conservative:depth=7:promise=holds"));
    service.end("TERM");
}

#[test]
fn invalid_options_are_reported() {
    let folder = Folder::new();
    let data = folder.path("data");
    for (options, reason) in [
        ("--listen 0.0.0.0:0", "TLS is required"),
        ("--listen nowhere", "is not a valid address"),
        ("--machine mesh:0x4", "mesh:0x4"),
        ("--machine a=mesh:4 --machine a=mesh:5", "appears twice"),
        ("--strategy none", "none"),
        ("--scheduler none", "none"),
        ("--store sqlite", "embedded"),
        ("--store postgres://pavior@db:port/leases", "--store"),
        ("--token-file /does/not/exist", "/does/not/exist"),
        ("--tls-cert x.pem", "--tls-key"),
        ("--quota -3", "'--quota <QUOTA>'"),
        ("--slots 4x4,4x4x1", "`4x4x1` duplicates an earlier shape"),
        ("--shape-rule none", "none"),
        ("--strategy tpu", "tpu"),
    ] {
        refused_for(&format!("serve --data {data} {options}"), reason);
    }
}

#[test]
fn a_failed_start_leaves_the_default_machine_and_options_apply_to_it() {
    let folder = Folder::new();
    let data = folder.path("data");
    refused_for(&format!("serve --data {data} --listen 0.0.0.0:0"), "TLS is required");
    let granted = |rule: &str| {
        let mut service = Service::start(&format!("--data {data} {rule}"));
        let (_, machine) = service.send("GET", "/v1/machine", "");
        assert_eq!(machine["machine"], json!("mesh:16x16"));
        let (_, lease) = service.send("POST", "/v1/leases", r#"{"nodes":5}"#);
        service.end("TERM");
        lease["nodes"].clone()
    };
    assert_eq!((granted(""), granted("--shape-rule pow2")), (json!(5), json!(8)));
}

#[test]
fn readable_secrets_are_rejected_with_advice() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let (data, secret) = (folder.path("data"), folder.write("secret", "hush tenant=a\n"));
    let certificate = folder.write("server.pem", "");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o644)).unwrap();
    for options in [
        format!("--token-file {secret}"),
        format!("--listen 127.0.0.1:0 --tls-cert {certificate} --tls-key {secret}"),
    ] {
        let error = refused(&format!("serve --data {data} {options}"));
        assert!(error.contains(&format!("chmod 600 {secret}")), "{options}: {error}");
        assert!(!error.contains("hush"), "{error}");
    }
}

#[test]
fn a_file_at_the_socket_path_is_kept() {
    let folder = Folder::new();
    let listen = format!("unix:{}", folder.write("keep.txt", "precious"));
    let output = pavior(&format!("serve --data {} --listen {listen}", folder.path("data")), "");
    assert!(!output.status.success());
    assert!(stderr(&output).contains("keep.txt: it already exists"), "{}", stderr(&output));
    assert_eq!(folder.read("keep.txt"), "precious");
}
