//! A server that runs in a separate process and can be killed. This process runs only the test
//! [`child`] of this test binary, and reads its options from the environment.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pavior_serve::core::{ClockRule, MachineSpec};
use pavior_serve::service::{self, HttpBounds, ServiceOptions, Tls};
use pavior_serve::writer::Tuning;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::client::{Client, Reply};

const OPTIONS: &str = "PAVIOR_SERVE_TEST";

/// A running server; killed when dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    /// The file to which the server writes its address.
    address_file: PathBuf,
    /// The temporary folder for the data, if any.
    folder: Option<TempDir>,
}

/// Server options; `None` means the default.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) machine: String,
    /// The names and grids of additional machines.
    pub(crate) more: Vec<(String, String)>,
    pub(crate) strategy: String,
    pub(crate) scheduler: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) store: Option<String>,
    /// The file that contains the database password.
    pub(crate) password: Option<PathBuf>,
    /// The address to listen on. Defaults to a loopback port.
    pub(crate) listen: Option<String>,
    pub(crate) tokens: Option<PathBuf>,
    /// The server's certificate and key, and the authority that signs client certificates.
    pub(crate) certificates: Option<(PathBuf, PathBuf, Option<PathBuf>)>,
    /// The file to which all requests are logged. If there is none, only errors are logged, to
    /// standard error.
    pub(crate) log: Option<PathBuf>,
    pub(crate) snapshot_every: u64,
    pub(crate) history: u64,
    pub(crate) history_bytes: u64,
    pub(crate) quota: Option<u64>,
    pub(crate) confirm_clock: bool,
    pub(crate) connections: Option<usize>,
    pub(crate) watchers: Option<usize>,
    pub(crate) rate: Option<f64>,
    /// The shapes whose slots are counted in the metrics.
    pub(crate) slots: Vec<[u16; 3]>,
    /// The limit on open files, both soft and hard.
    pub(crate) open_files: Option<u64>,
}

impl Setup {
    pub(crate) fn new(data: &Path) -> Setup {
        Setup {
            machine: "mesh:8x8".into(),
            strategy: "tff".into(),
            data: data.to_path_buf(),
            snapshot_every: 100_000,
            history: 1_000_000,
            history_bytes: 1 << 30,
            ..Setup::default()
        }
    }

    /// Adds tokens: `root-secret` for the operator and, for example, `a-secret` for tenant `a`.
    pub(crate) fn give_tokens(&mut self, tenants: &[&str]) {
        let lines = tenants.iter().map(|name| format!("{name}-secret tenant={name}\n"));
        self.give_token_file(&format!("root-secret\n{}", lines.collect::<String>()));
    }

    /// Adds a token file.
    pub(crate) fn give_token_file(&mut self, text: &str) {
        let tokens = self.data.with_extension("tokens");
        write_secret(&tokens, text);
        self.tokens = Some(tokens);
    }
}

/// Writes a file that only its owner can read.
pub(crate) fn write_secret(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).expect("the file system has space");
    }
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("the file system has space");
}

impl Server {
    pub(crate) fn start(setup: &Setup) -> Server {
        Server::try_start(setup).unwrap_or_else(|status| panic!("the server ended: {status}"))
    }

    /// Runs a server that is expected to fail at startup, and returns its log.
    pub(crate) fn refused(setup: &Setup) -> String {
        let log = setup.data.with_extension("log");
        let setup = Setup { log: Some(log.clone()), ..setup.clone() };
        assert!(Server::try_start(&setup).is_err(), "the server did not refuse to start");
        std::fs::read_to_string(log).expect("the log exists")
    }

    fn try_start(setup: &Setup) -> Result<Server, ExitStatus> {
        static STARTS: AtomicUsize = AtomicUsize::new(0);
        let start = STARTS.fetch_add(1, Ordering::Relaxed);
        let address_file =
            setup.data.with_extension(format!("address-{}-{start}", std::process::id()));
        std::fs::create_dir_all(setup.data.parent().expect("the data has a folder")).unwrap();
        let options =
            serde_json::to_string(&(setup, &address_file)).expect("options can be written");
        let program = std::env::current_exe().expect("a test has a file");
        let mut command = match setup.open_files {
            None => Command::new(program),
            Some(max) => {
                let mut shell = Command::new("sh");
                let limited = format!("ulimit -n {max} && exec \"$0\" \"$@\"");
                shell.args(["-c", &limited]).arg(program);
                shell
            }
        };
        command
            .args(["--exact", "server::child", "--nocapture", "--test-threads", "1"])
            .env(OPTIONS, options)
            .env("PAVIOR_LOG", "error")
            .stdout(Stdio::null());
        if let Some(log) = &setup.log {
            let log = File::create(log).expect("the file system has space");
            command.env("PAVIOR_LOG", "debug").stderr(log);
        }
        let process = command.spawn().expect("a process can be started");
        let mut server = Server { process, address: String::new(), address_file, folder: None };
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&server.address_file).unwrap_or_default();
            if let Some(line) = text.lines().next().filter(|_| text.ends_with('\n')) {
                server.address = line.to_string();
                return Ok(server);
            }
            if let Ok(Some(status)) = server.process.try_wait() {
                return Err(status);
            }
            assert!(began.elapsed() < Duration::from_mins(4), "the server does not start");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.address)
    }

    pub(crate) fn of(&self, token: &str) -> Client {
        Client::of(&self.address, token)
    }

    /// Sends a request on its own connection, because an early refusal may close the connection.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> Reply {
        self.client().send(method, path, body, headers)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the resident memory in KiB.
    pub(crate) fn memory(&self) -> u64 {
        self.kibibytes("VmRSS:")
    }

    /// Returns the largest amount of memory that the server has used so far, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.kibibytes("VmHWM:")
    }

    fn kibibytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).expect("no such line");
        line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("the process can be killed");
        self.process.wait().expect("the process ends");
    }

    /// Kills and restarts the server. Returns the startup time.
    pub(crate) fn restart(&mut self, setup: &Setup) -> Duration {
        self.kill();
        let (began, folder) = (Instant::now(), self.folder.take());
        *self = Server::start(setup);
        self.folder = folder;
        began.elapsed()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.pid().to_string()]).status();
        assert!(status.expect("`kill` is installed").success());
    }

    /// Stops the server with SIGTERM. Returns the time taken.
    pub(crate) fn stop(&mut self) -> Duration {
        let began = Instant::now();
        self.signal("TERM");
        let status = self.process.wait().expect("the process ends");
        assert!(status.success(), "the server failed to stop: {status}");
        began.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        drop(self.folder.take());
        let _ = std::fs::remove_file(&self.address_file);
    }
}

/// Starts a server in a temporary folder, which is removed along with the server.
pub(crate) fn fresh(change: impl FnOnce(&mut Setup)) -> (Server, Setup) {
    let folder = TempDir::new().expect("the file system has space");
    let mut setup = Setup::new(&folder.path().join("data"));
    change(&mut setup);
    let mut server = Server::start(&setup);
    server.folder = Some(folder);
    (server, setup)
}

/// Like [`fresh`], but returns a client in place of the options.
pub(crate) fn served(change: impl FnOnce(&mut Setup)) -> (Server, Client) {
    let (server, _) = fresh(change);
    let client = server.client();
    (server, client)
}

/// Like [`served`], but with a scheduler, so that requests can wait.
pub(crate) fn served_by(scheduler: &str, change: impl FnOnce(&mut Setup)) -> (Server, Client) {
    served(|setup| {
        setup.scheduler = Some(scheduler.into());
        change(setup);
    })
}

/// Like [`served`], but with tokens ([`Setup::give_tokens`]). Returns the operator's client.
pub(crate) fn shared(tenants: &[&str], change: impl FnOnce(&mut Setup)) -> (Server, Client) {
    let (server, _) = fresh(|setup| {
        setup.give_tokens(tenants);
        change(setup);
    });
    let client = server.of("root-secret");
    (server, client)
}

/// Runs the server in the child process. Does nothing when run as an ordinary test.
#[test]
fn child() {
    serve_if_asked();
}

/// Serves until stopped and returns true. Returns false if the environment contains no options.
pub(crate) fn serve_if_asked() -> bool {
    let Ok(text) = std::env::var(OPTIONS) else { return false };
    let (setup, path): (Setup, PathBuf) = serde_json::from_str(&text).expect("bad options");
    let mut address_file = File::create(path).expect("the file can be created");
    if let Err(error) = service::run(&options(setup), &mut address_file) {
        eprintln!("{error}");
        std::process::exit(1);
    }
    true
}

pub(crate) fn options(setup: Setup) -> ServiceOptions {
    let tls =
        setup.certificates.map(|(certificate, key, client_ca)| Tls { certificate, key, client_ca });
    let default = HttpBounds::default();
    let first = ("default".to_string(), setup.machine);
    let machines = std::iter::once(first).chain(setup.more).map(|(name, machine)| MachineSpec {
        name,
        machine,
        strategy: setup.strategy.clone(),
        scheduler: setup.scheduler.clone(),
        shape_rule: "compact".into(),
    });
    ServiceOptions {
        machines: machines.collect(),
        default_machine: None,
        strategy: None,
        scheduler: None,
        shape_rule: None,
        data: setup.data,
        store: setup.store,
        store_password: setup.password,
        listen: Some(setup.listen.unwrap_or_else(|| "127.0.0.1:0".into())),
        token_file: setup.tokens,
        tls,
        quota: setup.quota,
        bounds: HttpBounds {
            connections: setup.connections.unwrap_or(default.connections),
            watchers: setup.watchers.unwrap_or(default.watchers),
            rate: setup.rate,
            slots: setup.slots,
        },
        tuning: Tuning {
            snapshot_every: setup.snapshot_every,
            history: setup.history,
            history_bytes: setup.history_bytes,
            clock: ClockRule { confirmed: setup.confirm_clock, ..ClockRule::default() },
            ..Tuning::default()
        },
        seed: 1,
    }
}
