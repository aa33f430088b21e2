//! Tests that kill or pause the leader of two servers that share a PostgreSQL database.
//!
//! The tests need Debian's `postgresql`. Without this package, they are skipped with a note or, if
//! `PAVIOR_REQUIRE_POSTGRES` is set, fail.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pavior_serve::core::{Event, ServiceRecord, StateSnapshot};
use pavior_serve::storage::postgres::{ClaimTimeouts, PostgresStore};
use pavior_serve::storage::{RecordStore, StoreError};

use crate::bare_writer::wait;
use crate::client::{Client, until};
use crate::decisions::begin;
use crate::kills::{Load, judge};
use crate::server::{Server, Setup, write_secret};
use crate::slow;

/// A temporary database server, stopped when dropped.
pub(crate) struct Database {
    tools: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl Database {
    /// Starts a database server. Prints a note and returns `None` if PostgreSQL is missing.
    pub(crate) fn start() -> Option<Database> {
        Database::with(&["-A", "trust"])
    }

    /// Like [`Database::start`], but with extra options for `initdb`.
    pub(crate) fn with(options: &[&str]) -> Option<Database> {
        let database = Database::find(options);
        if database.is_none() {
            let why = "it is not installed (apt-get install postgresql)";
            pavior_trials::skipped("a PostgreSQL server", why, "PAVIOR_REQUIRE_POSTGRES");
        }
        database
    }

    fn find(options: &[&str]) -> Option<Database> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let tools = versions.flatten().map(|entry| entry.path().join("bin")).max()?;
        if !tools.join("initdb").exists() {
            return None;
        }
        // The database runs as a different user, who cannot access folders in /root.
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

    /// Closes every server's connections to the database.
    pub(crate) fn cut(&self) {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE application_name = 'pavior serve'";
        let port = self.port.to_string();
        self.tool("psql", &["-h", "127.0.0.1", "-p", &port, "-q", "-c", end, "postgres"]);
    }

    /// Stops the database until [`Database::crash`] restarts it.
    pub(crate) fn stop(&self) {
        self.tool("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    /// Stops the database abruptly, simulating a crash, and restarts it.
    pub(crate) fn crash(&self) {
        let (data, log) = (self.data(), self.path().join("log").display().to_string());
        self.tool("pg_ctl", &["-D", &data, "-m", "immediate", "-l", &log, "-w", "restart"]);
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Returns the URL of a database.
    pub(crate) fn url_of(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn setup(database: &Database, folder: &Path, name: &str) -> Setup {
    let mut setup = Setup::new(&folder.join(name));
    setup.machine = "mesh:32x32".into();
    setup.store = Some(database.url());
    setup
}

pub(crate) fn ready(address: &str) -> bool {
    Client::new(address).try_get("/readyz").is_ok_and(|reply| reply.status == 200)
}

#[test]
fn a_standby_takes_over_and_the_old_server_is_fenced() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let mut first = Server::start(&setup(&database, folder.path(), "a"));
    let mut second = Server::start(&setup(&database, folder.path(), "b"));
    until("the first leader", || ready(&first.address));
    assert!(!ready(&second.address));
    let refused = second.client().post("/v1/leases", r#"{"nodes":1}"#);
    refused.is(503, "standby");
    assert!(refused.detail().contains("the leader is "), "{}", refused.text);

    let load = Load::start(&first, 8);
    load.wait_for(200);

    // Pause the leader, and resume it after the other server has taken over.
    first.signal("STOP");
    let took = until("the takeover", || ready(&second.address));
    println!("takeover {took:?} after a pause");
    load.goes_to(&second);
    load.wait_for(200);
    first.signal("CONT");
    for _ in 0..50 {
        let mut old = first.client();
        for path in ["/v1/leases", "/v1/leases/1/end"] {
            let body = if path.ends_with("end") { r#"{"epoch":1}"# } else { r#"{"nodes":1}"# };
            let reply = old.post(path, body);
            assert_eq!(reply.status, 503, "a fenced server answers: {}", reply.text);
        }
        assert_eq!(old.get("/v1/leases").status, 503);
        assert_eq!(old.get("/readyz").status, 503);
    }
    load.wait_for(100);

    // Kill the new leader; the fenced server then takes over again.
    second.kill();
    let took = until("the second takeover", || ready(&first.address));
    println!("takeover {took:?} after a kill");
    load.goes_to(&first);
    load.wait_for(200);
    judge(&first.address, &load.end());
    assert!(first.stop() < Duration::from_secs(40));
}

/// Returns timeouts that limit how long a leader may be silent but not how long a decision may
/// take.
pub(crate) fn timeouts(silence_s: f64) -> ClaimTimeouts {
    ClaimTimeouts { silence: Duration::from_secs_f64(silence_s), hang: Duration::MAX }
}

#[test]
fn a_long_decision_does_not_end_the_leadership() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let mut setup = setup(&database, folder.path(), "a");
    slow::configure(&mut setup);
    let first = Server::start(&setup);
    until("the first leader", || ready(&first.address));
    let mut client = first.client();
    let decision = slow::decision(&mut client, Duration::from_secs(8));
    let second = Server::start(&Setup { data: folder.path().join("b"), ..setup });
    let before = client.seq();
    let (began, deciding) = (Instant::now(), slow::begin(&first.address, decision));
    let mut reads = 0;
    while !deciding.is_finished() {
        assert!(ready(&first.address) && !ready(&second.address));
        if client.get("/v1/machine").json()["seq"] != before {
            break;
        }
        assert_eq!(second.client().get("/v1/machine").status, 503);
        reads += 1;
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{reads} reads during a decision of {:?}", began.elapsed());
    assert!(reads > 20, "{reads} reads");
    // The state may be visible shortly before the reply arrives.
    let visible = Instant::now();
    assert_eq!(deciding.join().unwrap().unwrap().status, 200);
    assert!(visible.elapsed() < Duration::from_secs(3), "{:?}", visible.elapsed());
    assert!(ready(&first.address) && client.seq() > before);
}

#[test]
fn a_writer_that_hangs_loses_leadership_and_one_that_decides_keeps_it() {
    let Some(database) = Database::start() else { return };
    let hang = Duration::from_secs(2);
    let open = |holder| {
        let timeouts = ClaimTimeouts { silence: Duration::from_secs(1), hang };
        PostgresStore::open(database.url().parse().unwrap(), holder, timeouts).unwrap()
    };
    let (first, mut second) = (open("first"), open("second"));
    let claim = first.claim().expect("servers share the records");
    for _ in 0..5 {
        first.begin_decision();
        std::thread::sleep(Duration::from_millis(900));
        first.end_decisions();
        assert!(second.retry().is_err(), "the writer does not hang");
    }
    assert_eq!(wait(claim.check()), Ok(()));
    first.begin_decision();
    let took = until("the takeover", || second.retry().is_ok());
    println!("takeover {took:?} after the beginning of a decision");
    assert!(took >= hang, "{took:?}");
    assert!(wait(claim.check()).is_err(), "readers are refused");
}

#[test]
fn a_database_restart_does_not_end_the_leadership() {
    let Some(database) = Database::start() else { return };
    let config = database.url().parse().unwrap();
    let mut store = PostgresStore::open(config, "first", timeouts(60.0)).unwrap();
    let claim = store.claim().expect("servers share the records");
    database.stop();
    let (checked, idle) = (wait(claim.check()), store.idle());
    database.crash();
    let reason = checked.unwrap_err();
    assert!(reason.starts_with("PostgreSQL: ") && idle.is_ok(), "{reason}, {idle:?}");
    assert_eq!(wait(claim.check()), Ok(()));
    assert!(store.leads() && store.idle().is_ok());
}

#[test]
fn a_takeover_survives_lost_connections() {
    let Some(database) = Database::start() else { return };
    let [mut first, mut second] = ["first", "second"].map(|holder| {
        let config = database.url().parse().unwrap();
        PostgresStore::open(config, holder, timeouts(60.0)).unwrap()
    });
    first.close();
    database.cut();
    assert!(second.retry().is_err(), "the connection for writing is lost");
    assert_eq!(second.retry(), Ok(()));
    assert!(second.leads());
}

#[test]
fn a_compaction_during_a_scan_is_not_reported_as_damage() {
    let Some(database) = Database::start() else { return };
    let config = database.url().parse().unwrap();
    let mut store = PostgresStore::open(config, "first", timeouts(60.0)).unwrap();
    let (state, first) = begin(None);
    let event = Event::Clock { doubted: false };
    let more = (2..=3000).map(|seq| ServiceRecord { seq, event: event.clone(), ..first.clone() });
    let records: Vec<ServiceRecord> = std::iter::once(first.clone()).chain(more).collect();
    store.append(&records).unwrap();
    let history = store.history();
    history.save(&StateSnapshot { seq: 2500, ..state.snapshot() }).unwrap();
    let found = history.scan(0, &mut |record| {
        if record.seq == 1 {
            store.history().compact(2500).unwrap();
        }
        Ok(true)
    });
    assert_eq!(found, Err(StoreError::Compacted(2500)));
}

#[test]
fn a_password_comes_from_a_file_and_is_never_shown() {
    let folder = tempfile::Builder::new().prefix("pavior-pw").tempdir_in("/var/tmp").unwrap();
    let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    set(folder.path(), 0o755).unwrap();
    let (password, file) = ("correct-horse-9", folder.path().join("password"));
    write_secret(&file, password);
    set(&file, 0o644).unwrap();
    let given = file.display().to_string();
    let Some(database) = Database::with(&["-A", "scram-sha-256", "--pwfile", &given]) else {
        return;
    };
    let mut setup = setup(&database, folder.path(), "a");
    setup.password = Some(file.clone());
    let said = Server::refused(&setup);
    assert!(said.contains("lets others access it") && !said.contains(password), "{said}");
    set(&file, 0o600).unwrap();
    let log = folder.path().join("log");
    let mut server = Server::start(&Setup { log: Some(log.clone()), ..setup.clone() });
    until("the lead", || ready(&server.address));
    server.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(password) && !text.contains("can see the password"), "{text}");
    // A wrong password is refused. A password in the URL works, but a warning is logged.
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
    until("leadership", || ready(&server.address));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("can see the password") && !text.contains(password), "{text}");
}
