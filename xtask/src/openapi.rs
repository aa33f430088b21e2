//! The OpenAPI document of `pavior serve`, tried by schemathesis against a running service.
//!
//! schemathesis lies in the environment of the checks of the Python package (see `python`).

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{cargo, python};

/// Tries the document; returns what is wrong.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    python::with_environment(root, "the OpenAPI document", |environment| {
        let service = match Service::start(root) {
            Ok(service) => service,
            Err(reason) => return vec![format!("the OpenAPI document was not tried: {reason}")],
        };
        let document = format!("{}/openapi.json", service.address);
        // It keeps what it found beside where it runs.
        let config = "../apps/serve/tests/schemathesis.toml";
        let step = ["st", "--config-file", config, "run", &document];
        if environment.run(&root.join("target"), &step) {
            Vec::new()
        } else {
            vec!["failed: schemathesis (apps/serve/tests/schemathesis.toml)".to_string()]
        }
    })
}

/// A service with data of its own; killed when dropped.
struct Service {
    process: Child,
    address: String,
}

impl Service {
    fn start(root: &Path) -> Result<Service, String> {
        let program = cargo::program(root)?;
        let data = root.join("target/schemathesis");
        // What an earlier run has left.
        let _ = std::fs::remove_dir_all(&data);
        let mut process = Command::new(program)
            .args(["serve", "--machine", "mesh:8x8", "--scheduler", "fcfs"])
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
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

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
