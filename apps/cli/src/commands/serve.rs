//! `pavior serve`: a live allocation service. Converts the arguments to [`ServiceOptions`].

use std::io;

use pavior::boxes::read_sides;
use pavior::strategies::Selection;
use pavior::workload::ShapeRule;
use pavior::{BadName, Sides};
use pavior_serve::core::{ClockRule, MachineSpec};
use pavior_serve::service::{self, HttpBounds, ServiceOptions, Tls};
use pavior_serve::writer::Tuning;

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::input;

/// The maximum number of shapes for which slots are counted in each metrics scrape.
const MAX_SLOT_SHAPES: usize = 16;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let tls = args.tls_cert.as_ref().zip(args.tls_key.as_ref()).map(|(certificate, key)| Tls {
        certificate: certificate.clone(),
        key: key.clone(),
        client_ca: args.client_ca.clone(),
    });
    let scheduler = scheduler(args)?;
    let default = default_machine(args, scheduler.clone())?;
    let options = ServiceOptions {
        machines: machines(&args.machine, &default)?,
        default_machine: Some(default),
        strategy: args.strategy.clone(),
        scheduler,
        shape_rule: args.shape_rule.clone(),
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
            slots: slots(args.slots.as_deref().unwrap_or_default())?,
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
    let served = service::run(&options, &mut io::stdout());
    served.map_err(|error| Failure::of(&error, error.is_usage()))
}

/// Returns the machine that a new service uses if the user specifies none.
///
/// Names are parsed here so that an error message can underline the invalid part. The service
/// parses them again, as it does with the names stored in its records.
fn default_machine(args: &ServeArgs, scheduler: Option<String>) -> Result<MachineSpec, Failure> {
    let strategy: Selection = input::name("--strategy", args.strategy.as_deref().unwrap_or("tff"))?;
    let shape_rule = args.shape_rule.as_deref().unwrap_or("compact");
    input::name::<pavior::workload::Selection<ShapeRule>>("--shape-rule", shape_rule)?;
    Ok(MachineSpec {
        name: "default".to_string(),
        machine: "mesh:16x16".to_string(),
        strategy: strategy.to_string(),
        scheduler,
        shape_rule: shape_rule.to_string(),
    })
}

/// Parses the names and grids of machines. Their other settings come from the default machine.
fn machines(typed: &[String], default: &MachineSpec) -> Result<Vec<MachineSpec>, Failure> {
    let strategy: Selection = input::name("--strategy", &default.strategy)?;
    let mut machines: Vec<MachineSpec> = Vec::new();
    for text in typed {
        let (name, grid) = name_and_grid(text)?;
        if machines.iter().any(|other| other.name == name) {
            return Err(Failure::usage(format!(
                "--machine {text}: the name `{name}` appears twice"
            )));
        }
        let grid = input::machine(grid)?;
        strategy.supports(&grid).map_err(Failure::usage)?;
        let (name, machine) = (name.to_string(), grid.to_string());
        machines.push(MachineSpec { name, machine, ..default.clone() });
    }
    Ok(machines)
}

/// Returns the scheduler's name in the form that the service uses.
fn scheduler(args: &ServeArgs) -> Result<Option<String>, Failure> {
    let Some(typed) = &args.scheduler else { return Ok(None) };
    input::name::<pavior::scheduling::Selection>("--scheduler", typed)?;
    let served = pavior::scheduling::served(typed, Some(args.depth));
    served.map(Some).map_err(|error| Failure::option("--scheduler", typed, 0, &error))
}

/// Parses the shapes for which the metrics count slots.
fn slots(typed: &str) -> Result<Vec<Sides>, Failure> {
    let mut all: Vec<Sides> = Vec::new();
    for (at, part) in input::parts(typed).filter(|_| !typed.is_empty()) {
        let fault = |reason: String| {
            let bad = BadName { reason, span: 0..part.len() };
            Failure::option("--slots", typed, at, &bad)
        };
        let sides = read_sides(part)
            .ok_or_else(|| fault("a shape must have positive sides, such as 4x4x4".to_string()))?;
        if all.contains(&sides) {
            return Err(fault(format!("`{part}` duplicates an earlier shape")));
        }
        if all.len() == MAX_SLOT_SHAPES {
            return Err(fault(format!("at most {MAX_SLOT_SHAPES} shapes are allowed")));
        }
        all.push(sides);
    }
    Ok(all)
}

/// Splits `NAME=GRID`. The default name is `default`. Names may contain only characters that need
/// no escaping in URLs and metrics.
fn name_and_grid(typed: &str) -> Result<(&str, &str), Failure> {
    let (name, grid) = typed.split_once('=').unwrap_or(("default", typed));
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || !name.chars().all(is_allowed) {
        let message =
            format!("--machine {typed}: a name may contain only letters, digits and . _ -");
        return Err(Failure::usage(message));
    }
    Ok((name, grid))
}
