//! Two servers on one PostgreSQL: the one that decides is killed, and paused.
//!
//! Needs Debian's `postgresql`. Skipped, loudly, where it is not installed, unless
//! `PAVIOR_REQUIRE_POSTGRES` is set.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::kills::{Done, Target, client, judge};
use crate::server::{Server, Setup};

/// A database server of its own; stopped when dropped.
pub(crate) struct Database {
    tools: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl Database {
    /// Starts one; `None`, and a loud word, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Database> {
        Database::with(&["-A", "trust"])
    }

    /// The same, with options of `initdb`.
    pub(crate) fn with(options: &[&str]) -> Option<Database> {
        let database = Database::find(options);
        if database.is_none() {
            let why = "it does not run here (apt-get install postgresql)";
            pavior_trials::skipped("a real PostgreSQL", why, "PAVIOR_REQUIRE_POSTGRES");
        }
        database
    }

    fn find(options: &[&str]) -> Option<Database> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let tools = versions.flatten().map(|entry| entry.path().join("bin")).max()?;
        if !tools.join("initdb").exists() {
            return None;
        }
        // Not below /root: the database runs as another user.
        let folder = tempfile::Builder::new().prefix("pavior-pg").tempdir_in("/var/tmp").ok()?;
        let chown = Command::new("chown").arg("postgres").arg(folder.path()).status();
        assert!(chown.is_ok_and(|status| status.success()), "the user postgres exists");
        let free = std::net::TcpListener::bind("127.0.0.1:0").ok()?;
        let port = free.local_addr().ok()?.port();
        drop(free);
        let database = Database { tools, folder, port };
        let data = database.data();
        let common = ["-D", &data, "-N", "--locale=C", "-E", "UTF8"];
        database.tool("initdb", &[&common, options].concat());
        let options =
            format!("-p {port} -k {} -c listen_addresses=127.0.0.1", database.path().display());
        let log = database.path().join("log").display().to_string();
        database.tool("pg_ctl", &["-D", &data, "-l", &log, "-w", "-o", &options, "start"]);
        Some(database)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> String {
        self.path().join("db").display().to_string()
    }

    fn tool(&self, name: &str, arguments: &[&str]) {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.tools.join(name)).args(arguments);
        command.current_dir("/").stdout(std::process::Stdio::null());
        assert!(command.status().is_ok_and(|status| status.success()), "{name} fails");
    }

    /// Ends the connections of all servers, in the middle of whatever they do.
    pub(crate) fn cut(&self) {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE application_name = 'pavior serve'";
        let port = self.port.to_string();
        self.tool("psql", &["-h", "127.0.0.1", "-p", &port, "-q", "-c", end, "postgres"]);
    }

    /// Kills the database as a loss of power would, and starts it again.
    pub(crate) fn crash(&self) {
        let (data, log) = (self.data(), self.path().join("log").display().to_string());
        self.tool("pg_ctl", &["-D", &data, "-m", "immediate", "-l", &log, "-w", "restart"]);
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The address of one of its databases.
    pub(crate) fn url_of(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let data = self.data();
        self.tool("pg_ctl", &["-D", &data, "-m", "immediate", "stop"]);
    }
}

pub(crate) fn setup(database: &Database, folder: &Path, name: &str) -> Setup {
    let mut setup = Setup::new(&folder.join(name));
    setup.machine = "mesh:32x32".into();
    setup.store = Some(database.url());
    setup
}

pub(crate) fn ready(address: &str) -> bool {
    Client::new(address).get("/readyz").is_ok_and(|reply| reply.status == 200)
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(40), "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
    began.elapsed()
}

#[test]
fn a_standby_takes_over_and_the_old_server_is_fenced() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let mut first = Server::start(&setup(&database, folder.path(), "a"));
    let second = Server::start(&setup(&database, folder.path(), "b"));
    until("the first leader", || ready(&first.address));
    assert!(!ready(&second.address));
    let refused = Client::new(&second.address).post("/v1/leases", "{\"nodes\":1}").unwrap();
    assert_eq!((refused.status, &refused.json()["reason"]), (503, &"standby".into()));

    let target = Target {
        address: Arc::new(Mutex::new(first.address.clone())),
        stop: Arc::new(AtomicBool::new(false)),
        answered: Arc::new(AtomicU64::new(0)),
    };
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let target = target.clone();
            std::thread::spawn(move || client(number, &target))
        })
        .collect();
    let some = |count: u64| {
        let before = target.answered.load(Ordering::Relaxed);
        until("answers", || target.answered.load(Ordering::Relaxed) >= before + count)
    };
    some(200);

    // Paused in the middle of whatever it does, and woken when the other one decides.
    first.signal("STOP");
    let took = until("the takeover", || ready(&second.address));
    println!("taken over {took:?} after a pause");
    *target.address.lock().unwrap() = second.address.clone();
    some(200);
    first.signal("CONT");
    for _ in 0..50 {
        let mut old = Client::new(&first.address);
        for (path, body) in [("/v1/leases", "{\"nodes\":1}"), ("/v1/leases/1/end", "{\"epoch\":1}")]
        {
            let reply = old.post(path, body).unwrap();
            assert_eq!(reply.status, 503, "a fenced server answers: {}", reply.text);
        }
        assert_eq!(old.get("/v1/leases").unwrap().status, 503);
    }
    some(100);

    // Killed: the one that was fenced takes over again.
    let mut second = second;
    second.kill();
    let took = until("the second takeover", || ready(&first.address));
    println!("taken over {took:?} after a kill");
    *target.address.lock().unwrap() = first.address.clone();
    some(200);
    target.stop.store(true, Ordering::Relaxed);
    let histories: Vec<Vec<Done>> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    judge(&first.address, &histories);
    assert!(first.stop() < Duration::from_secs(2));
}

#[test]
fn a_password_comes_from_a_file_and_is_never_shown() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::Builder::new().prefix("pavior-pw").tempdir_in("/var/tmp").unwrap();
    let open = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(folder.path(), open(0o755)).unwrap();
    let password = "correct-horse-9";
    let file = folder.path().join("password");
    std::fs::write(&file, password).unwrap();
    std::fs::set_permissions(&file, open(0o644)).unwrap();
    let given = file.display().to_string();
    let Some(database) = Database::with(&["-A", "scram-sha-256", "--pwfile", &given]) else {
        return;
    };
    let mut setup = setup(&database, folder.path(), "a");
    setup.password = Some(file.clone());
    let said = Server::refused(&setup);
    assert!(said.contains("others reach it") && !said.contains(password), "{said}");
    std::fs::set_permissions(&file, open(0o600)).unwrap();
    let log = folder.path().join("log");
    let mut server = Server::start(&Setup { log: Some(log.clone()), ..setup.clone() });
    until("the lead", || ready(&server.address));
    server.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(password) && !text.contains("can see the password"), "{text}");
    // A wrong one is refused by the database, and one in the address works with a warning.
    std::fs::write(&file, "wrong-horse-8").unwrap();
    let said = Server::refused(&setup);
    assert!(said.contains("password authentication failed"), "{said}");
    assert!(!said.contains("wrong-horse-8"), "{said}");
    setup.password = None;
    let address = database.url().replace("postgres@", &format!("postgres:{password}@"));
    for broken in [address.replace("://", "//"), address.replace(password, "a?b=c@d?%zz")] {
        let said = Server::refused(&Setup { store: Some(broken), ..setup.clone() });
        assert!(!said.contains(password) && !said.contains("b=c"), "{said}");
    }
    setup.store = Some(address);
    let server = Server::start(&Setup { log: Some(log.clone()), ..setup.clone() });
    until("the lead", || ready(&server.address));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("can see the password") && !text.contains(password), "{text}");
}
