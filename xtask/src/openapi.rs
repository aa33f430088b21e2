//! Tests of the OpenAPI document of `pavior serve` against a running service, with schemathesis and
//! with the client that openapi-python-client generates from the document.
//!
//! Both tools are installed in the environment used to check the Python package (see `python`).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process;
use crate::python::{self, Environment};

/// The operator's token for the tested service.
const TOKEN: &str = "token-of-the-checks";

/// The script that uses the generated client.
const SCRIPT: &str = "apps/serve/tests/generated_client.py";

/// Tests the document. Returns the problems.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    python::with_environment(root, "the OpenAPI document", |environment| {
        let (mut service, address) = match start(root) {
            Ok(started) => started,
            Err(problem) => return vec![problem],
        };
        // The order matters, because schemathesis leaves leases behind.
        let tests = [generated, described];
        let tested = tests.iter().map(|test| test(root, environment, &address));
        let problems = tested.filter_map(Result::err).collect();
        let _ = service.kill().and_then(|()| service.wait());
        problems
    })
}

/// Checks that the service behaves as documented.
fn described(root: &Path, environment: &Environment, address: &str) -> Result<(), String> {
    let document = format!("{address}/openapi.json");
    let token = format!("Authorization: Bearer {TOKEN}");
    // schemathesis stores its findings relative to its working directory.
    let config = "../apps/serve/tests/schemathesis.toml";
    let step = ["st", "--config-file", config, "run", &document, "--header", &token];
    environment.run(&root.join("target"), &step)
}

/// Checks that a client can be generated from the document without warnings, and that it works with
/// the service.
fn generated(root: &Path, environment: &Environment, address: &str) -> Result<(), String> {
    let client = root.join("target/openapi-client").display().to_string();
    let document = format!("{address}/openapi.json");
    let generate = ["openapi-python-client", "generate", "--url", &document];
    let into = ["--output-path", &client, "--overwrite", "--fail-on-warning"];
    environment.run(root, &[&generate[..], &into].concat())?;
    environment.run(root, &["python", SCRIPT, &client, address, TOKEN])
}

/// Starts a service with its own data. Returns its process and its address.
fn start(root: &Path) -> Result<(Child, String), String> {
    let program = process::program(root)?;
    let folder = root.join("target/openapi");
    // Files of an earlier run are removed.
    let _ = fs::remove_dir_all(&folder);
    let tokens = token_file(&folder).map_err(|error| format!("the token file: {error}"))?;
    let mut service = Command::new(program)
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
    let output = service.stdout.take().expect("the output is piped");
    match BufReader::new(output).read_line(&mut address) {
        Ok(1..) => Ok((service, address.trim_end().to_string())),
        _ => Err("pavior serve does not start".to_string()),
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
