//! Checks that another user can use the socket but not read the records. The test must run as root
//! so that it can switch to that user.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::server::{Server, Setup};

const DATA: &str = "PAVIOR_STRANGER_TEST";
const NOBODY: u32 = 65534;

/// Runs as the other user in the child process. Does nothing when run as an ordinary test.
#[test]
fn child() {
    let Some(data) = std::env::var_os(DATA).map(PathBuf::from) else { return };
    // The records cannot be listed, read, written, locked or removed.
    let records = data.join("journal");
    assert!(fs::read_dir(&records).is_err(), "the records can be listed");
    assert!(File::open(&records).is_err(), "the folder can be locked");
    for name in ["lock", "mark", "journal-00000000000000000001.log"] {
        let path = records.join(name);
        assert!(File::open(&path).is_err(), "{name} can be read");
        assert!(fs::OpenOptions::new().append(true).open(&path).is_err(), "{name} can be written");
        assert!(fs::remove_file(&path).is_err(), "{name} can be removed");
    }
    assert!(fs::rename(&records, data.join("elsewhere")).is_err(), "the records can be moved");
    // Lock the data folder and its files. The service must still be able to start.
    let open: Vec<File> = fs::read_dir(&data)
        .expect("the parent folder can be listed")
        .filter_map(|entry| File::open(entry.ok()?.path()).ok())
        .chain(File::open(&data))
        .filter(|file| file.try_lock().is_ok())
        .collect();
    assert!(!open.is_empty(), "there is something to lock");
    // The service responds on the socket and identifies the user.
    let ask = |path: &str, body: &str| {
        let mut socket =
            UnixStream::connect(data.join("pavior.sock")).expect("the socket accepts connections");
        let method = if body.is_empty() { "GET" } else { "POST" };
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: pavior\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("the request is sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("the reply can be read");
        answer
    };
    let granted = ask("/v1/leases", r#"{"nodes":1}"#);
    assert!(granted.contains(" 201 ") && granted.contains("\"tenant\":\"uid-65534\""), "{granted}");
    fs::write(std::env::temp_dir().join("locked"), "").expect("the folder is writable");
    // Hold the locks until the parent has started another server.
    let done = std::env::temp_dir().join("done");
    while !done.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(open);
}

#[test]
fn another_user_reaches_the_socket_and_nothing_else() {
    if fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        pavior_trials::skipped(
            "a second user",
            "the tests do not run as root",
            "PAVIOR_REQUIRE_ROOT",
        );
        return;
    }
    let folder = tempfile::Builder::new().prefix("pavior-two").tempdir_in("/var/tmp").unwrap();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(folder.path(), 0o755);
    let (program, scratch) = (folder.path().join("program"), folder.path().join("scratch"));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::create_dir(&scratch).unwrap();
    set(&scratch, 0o777);
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.listen = Some(format!("unix:{}", setup.data.join("pavior.sock").display()));
    let mut server = Server::start(&setup);
    let mut other = Command::new(&program);
    other.args(["--exact", "strangers::child", "--nocapture", "--test-threads", "1"]);
    other.env(DATA, &setup.data).env("TMPDIR", &scratch).current_dir("/");
    other.uid(NOBODY).gid(NOBODY);
    let mut other = other.spawn().unwrap();
    while !scratch.join("locked").exists() {
        if let Some(status) = other.try_wait().unwrap() {
            panic!("the other user: {status}");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The other user's locks do not keep the service from starting.
    server.stop();
    let again = Server::start(&setup);
    fs::write(scratch.join("done"), "").unwrap();
    assert!(other.wait().unwrap().success());
    drop(again);
}
