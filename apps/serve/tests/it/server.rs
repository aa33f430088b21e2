//! A real server in a process of its own, which can be killed.
//!
//! The process is this test binary, which runs the one test [`child`] with the options in its
//! environment.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pavior_serve::core::MachineSpec;
use pavior_serve::engine::Tuning;
use pavior_serve::service::{self, Bounds, Options};
use tempfile::TempDir;

const OPTIONS: &str = "PAVIOR_SERVE_TEST";

/// A running server; killed when dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    told: PathBuf,
    /// The folder of its data, if it has one of its own; removed after the process has ended.
    folder: Option<TempDir>,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) machine: String,
    pub(crate) strategy: String,
    pub(crate) scheduler: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) store: Option<String>,
    pub(crate) tokens: Option<PathBuf>,
    pub(crate) snapshot_every: u64,
    pub(crate) history: u64,
}

impl Setup {
    pub(crate) fn new(data: &Path) -> Setup {
        Setup {
            machine: "mesh:8x8".into(),
            strategy: "tff".into(),
            scheduler: None,
            data: data.to_path_buf(),
            store: None,
            tokens: None,
            snapshot_every: 100_000,
            history: 1_000_000,
        }
    }
}

impl Server {
    pub(crate) fn start(setup: &Setup) -> Server {
        let told = setup.data.with_extension(format!("address-{}", rand()));
        std::fs::create_dir_all(setup.data.parent().expect("it lies in a folder")).unwrap();
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let options = [
            setup.machine.clone(),
            setup.strategy.clone(),
            text(&setup.scheduler),
            setup.data.display().to_string(),
            text(&setup.store),
            setup.tokens.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
            setup.snapshot_every.to_string(),
            setup.history.to_string(),
            told.display().to_string(),
        ];
        let process = Command::new(std::env::current_exe().expect("a test has a file"))
            .args(["--exact", "server::child", "--nocapture", "--test-threads", "1"])
            .env(OPTIONS, options.join("\n"))
            .env("PAVIOR_LOG", "error")
            .stdout(Stdio::null())
            .spawn()
            .expect("a process can be started");
        let mut server = Server { process, address: String::new(), told, folder: None };
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&server.told).unwrap_or_default();
            if let Some(line) = text.lines().next().filter(|_| text.ends_with('\n')) {
                server.address = line.to_string();
                return server;
            }
            if let Ok(Some(status)) = server.process.try_wait() {
                panic!("the server ended: {status}");
            }
            assert!(began.elapsed() < Duration::from_mins(1), "the server does not start");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it ends");
    }

    /// A signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.pid().to_string()]).status();
        assert!(status.expect("there is a kill").success());
    }

    /// SIGTERM; how long it took to end.
    pub(crate) fn stop(&mut self) -> Duration {
        let began = Instant::now();
        self.signal("TERM");
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "a stop is no failure: {status}");
        began.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        drop(self.folder.take());
        let _ = std::fs::remove_file(&self.told);
    }
}

/// A server with a folder of its own, which goes with it.
pub(crate) fn fresh(change: impl FnOnce(&mut Setup)) -> (Server, Setup) {
    let folder = TempDir::new().expect("there is room");
    let mut setup = Setup::new(&folder.path().join("data"));
    change(&mut setup);
    let mut server = Server::start(&setup);
    server.folder = Some(folder);
    (server, setup)
}

fn rand() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// The server's process; as a test it does nothing.
#[test]
fn child() {
    let Ok(text) = std::env::var(OPTIONS) else { return };
    let words: Vec<&str> = text.split('\n').collect();
    let [machine, strategy, scheduler, data, store, tokens, every, history, told] = words[..]
    else {
        panic!("the options are nine lines")
    };
    let given = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let options = Options {
        machines: vec![MachineSpec {
            name: "default".into(),
            machine: machine.into(),
            strategy: strategy.into(),
            scheduler: given(scheduler),
            shape_rule: "compact".into(),
        }],
        data: data.into(),
        store: given(store),
        listen: Some("127.0.0.1:0".into()),
        token_file: given(tokens).map(PathBuf::from),
        tls: None,
        quota: None,
        bounds: Bounds::default(),
        tuning: Tuning {
            snapshot_every: every.parse().expect("a number"),
            history: history.parse().expect("a number"),
            ..Tuning::default()
        },
        seed: 1,
    };
    let mut told = File::create(told).expect("there is room");
    if let Err(error) = service::run(&options, &mut told) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
