//! The OpenAPI document of `pavior serve`, tested against a running service: with schemathesis, and
//! with the client that openapi-python-client generates from it.
//!
//! Both are installed in the environment used to check the Python package (see `python`).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{cargo, python};

/// The operator's token for the tested service.
const TOKEN: &str = "token-of-the-checks";

/// Tests the document. Returns the problems.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    python::with_environment(root, "the OpenAPI document", |environment| {
        let tries = [("schemathesis", described as Try), ("generated", generated)];
        let tried = tries.iter().map(|(name, attempt)| {
            // Each test has its own service, because schemathesis leaves leases behind.
            let service = Service::start(root, name)
                .map_err(|reason| format!("the OpenAPI document was not tried: {reason}"))?;
            attempt(root, environment, &service.address)
        });
        tried.filter_map(Result::err).collect()
    })
}

type Try = fn(&Path, &python::Environment, &str) -> Result<(), String>;

/// Checks that the service behaves as documented.
fn described(root: &Path, environment: &python::Environment, address: &str) -> Result<(), String> {
    let document = format!("{address}/openapi.json");
    let token = format!("Authorization: Bearer {TOKEN}");
    // It stores its findings relative to the folder in which it runs.
    let config = "../apps/serve/tests/schemathesis.toml";
    let step = ["st", "--config-file", config, "run", &document, "--header", &token];
    if environment.run(&root.join("target"), &step) {
        Ok(())
    } else {
        Err("failed: schemathesis (apps/serve/tests/schemathesis.toml)".to_string())
    }
}

/// Checks that a client can be generated from the document without a warning, and that it works
/// with the service.
fn generated(root: &Path, environment: &python::Environment, address: &str) -> Result<(), String> {
    let client = root.join("target/openapi-client").display().to_string();
    let document = format!("{address}/openapi.json");
    let generate = ["openapi-python-client", "generate", "--url", &document];
    let into = ["--output-path", &client, "--overwrite", "--fail-on-warning"];
    let step = [&generate[..], &into].concat();
    if !environment.run(root, &step) {
        return Err("failed: openapi-python-client (the document of pavior serve)".to_string());
    }
    let script = "apps/serve/tests/generated_client.py";
    if environment.run(root, &["python", script, &client, address, TOKEN]) {
        Ok(())
    } else {
        Err(format!("failed: {script} (a client made of the OpenAPI document)"))
    }
}

/// A service with its own data. Killed when dropped.
struct Service {
    process: Child,
    address: String,
}

impl Service {
    fn start(root: &Path, name: &str) -> Result<Service, String> {
        let program = cargo::program(root)?;
        let folder = root.join("target/openapi").join(name);
        // Removes the remains of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        let tokens = token_file(&folder).map_err(|error| format!("the token: {error}"))?;
        let mut process = Command::new(program)
            .args(["serve", "--machine", "mesh:8x8", "--scheduler", "fcfs"])
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .arg("--token-file")
            .arg(tokens)
            .env("PAVIOR_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("target/debug/pavior: {error}"))?;
        let mut address = String::new();
        let output = process.stdout.take().ok_or("it has no output")?;
        let read = BufReader::new(output).read_line(&mut address);
        let service = Service { process, address: address.trim_end().to_string() };
        match read {
            Ok(1..) => Ok(service),
            _ => Err("the service does not start".into()),
        }
    }
}

/// Creates a token file that only its owner can read.
fn token_file(folder: &Path) -> std::io::Result<std::path::PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join("tokens");
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    writeln!(file, "{TOKEN}")?;
    Ok(path)
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
