//! `pavior serve`: a live allocation service. Arguments become [`ServiceOptions`].

use std::io;

use pavior_allocation::Selection;
use pavior_serve::core::{ClockRule, MachineSpec};
use pavior_serve::service::{self, HttpBounds, ServiceOptions, Tls};
use pavior_serve::storage::layout::Layout;
use pavior_serve::writer::Tuning;
use pavior_workload::ShapeRule;

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::input;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let tls = args.tls_cert.as_ref().zip(args.tls_key.as_ref()).map(|(certificate, key)| Tls {
        certificate: certificate.clone(),
        key: key.clone(),
        client_ca: args.client_ca.clone(),
    });
    let options = ServiceOptions {
        machines: machines(args)?,
        data: args.data.clone(),
        store: Some(args.store.clone()),
        store_password: args.store_password_file.clone(),
        listen: args.listen.clone(),
        token_file: args.token_file.clone(),
        tls,
        quota: args.quota,
        bounds: HttpBounds {
            rate: args.rate.map(f64::from),
            connections: args.connections as usize,
            ..HttpBounds::default()
        },
        tuning: Tuning {
            history: args.history,
            snapshot_every: args.snapshot_every,
            history_bytes: args.history_bytes,
            clock: ClockRule {
                most_ahead_ms: args.max_clock_jump.saturating_mul(1000),
                confirmed: args.confirm_clock,
            },
            ..Tuning::default()
        },
        seed: args.seed,
    };
    service::run(&options, &mut io::stdout()).map_err(|error| {
        if error.is_usage() {
            Failure::usage(error.to_string())
        } else {
            Failure::Other(error.to_string())
        }
    })
}

/// The machines of the command line. Without any, the machines of the data folder are served. A
/// fresh folder, or a named strategy or scheduler, makes one machine of 16x16 nodes.
fn machines(args: &ServeArgs) -> Result<Vec<MachineSpec>, Failure> {
    let named = args.strategy.is_some() || args.scheduler.is_some();
    let fresh = Layout::is_fresh(&args.data);
    let typed: Vec<&str> = match args.machine[..] {
        [] if named || fresh => vec!["mesh:16x16"],
        _ => args.machine.iter().map(String::as_str).collect(),
    };
    let strategy = args.strategy.as_deref().unwrap_or("tff");
    if let Some(scheduler) = &args.scheduler {
        let _: pavior_scheduling::Selection = input::name("--scheduler", scheduler)?;
    }
    let _: pavior_workload::Selection<ShapeRule> = input::name("--shape-rule", &args.shape_rule)?;
    let mut machines: Vec<MachineSpec> = Vec::new();
    for text in typed {
        let (name, grid) = text.split_once('=').unwrap_or(("default", text));
        let right = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || !name.chars().all(right) {
            let message = format!("--machine {text}: a name is letters, digits and any of . _ -");
            return Err(Failure::usage(message));
        }
        if machines.iter().any(|other| other.name == name) {
            return Err(Failure::usage(format!("--machine {text}: `{name}` stands twice")));
        }
        let grid = input::machine(grid)?;
        let selection: Selection = input::name("--strategy", strategy)?;
        selection.supports(&grid).map_err(|error| Failure::usage(error.to_string()))?;
        machines.push(MachineSpec {
            name: name.to_string(),
            machine: grid.to_string(),
            strategy: selection.to_string(),
            scheduler: args.scheduler.clone(),
            shape_rule: args.shape_rule.clone(),
        });
    }
    Ok(machines)
}
