//! `pavior network`: reads messages, one JSON object per line, and simulates the network.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use pavior::experiments::NetworkParameters;
use pavior::network::{Delivery, Message, Network, Settings, run_list, zero_load_latency};
use pavior::{Grid, Time, json};
use serde::Deserialize;
use serde_json::json;

use crate::args::{MessageParameters, NetworkCommandArgs, ParameterArgs};
use crate::failure::Failure;
use crate::input;
use crate::json_lines::{LineError, error_position, for_each_line};
use crate::output::{self, Format, Table};

const HEADER: [&str; 6] = ["id", "created", "delivered", "latency", "hops", "blocked"];

/// A message on standard input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at: u64,
    from: Vec<u64>,
    to: Vec<u64>,
    flits: Option<u32>,
}

pub(crate) fn run(args: &NetworkCommandArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let NetworkParameters { settings, engine, flits } = parameters(&args.network)?;
    let mut messages = read(&grid, flits)?;
    // Ids are in input order, but the engines need messages in order of creation.
    messages.sort_by_key(|message| (message.created, message.id));
    let mut network = Network::new(grid, settings, engine).map_err(Failure::usage)?;
    let mut printer = Printer::new(args.format, settings);
    let failure = OnceCell::new();
    // After a write error, such as a closed pipe, the remaining messages are not sent.
    let messages = messages.into_iter().take_while(|_| failure.get().is_none());
    let outcome = run_list(&mut network, messages, |delivery| {
        if let Err(error) = printer.add(delivery) {
            failure.get_or_init(|| error);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)?;
    printer.finish()?;
    outcome.map_err(Failure::usage)
}

/// Reads and checks the network parameters.
fn parameters(args: &ParameterArgs<MessageParameters>) -> Result<NetworkParameters, Failure> {
    let network = NetworkParameters::new(&args.given()?);
    network.engine.check(&network.settings).map_err(Failure::usage)?;
    Ok(network)
}

/// Reads all messages, stopping with an error at the first invalid line.
fn read(grid: &Grid, flits: u32) -> Result<Vec<Message>, Failure> {
    let mut messages = Vec::new();
    for_each_line(Path::new("-"), |line, _| {
        let whole = 0..line.len();
        // Without this check, serde would also accept an array of values as a message.
        if !line.trim_start().starts_with('{') {
            let message = "each message must be an object of the form {\"at\",\"from\",\"to\"}";
            return Err(LineError::new(message, whole));
        }
        let parsed: Line = json::read(line.as_bytes()).map_err(|error| {
            LineError::new(json::reason(&error), error_position(&error, line)..line.len())
        })?;
        let node = |coordinates: &[u64]| {
            input::node(coordinates, grid).ok_or_else(|| {
                let message = format!("{coordinates:?} is not a node of {grid}");
                LineError::new(message, whole.clone())
            })
        };
        let ends = [node(&parsed.from)?, node(&parsed.to)?];
        let id = messages.len() as u64;
        let (flits, created) = (parsed.flits.unwrap_or(flits), Time(parsed.at));
        let message = Message::between(grid, id, ends, flits, created);
        messages.push(message.map_err(|error| LineError::new(error.to_string(), whole))?);
        Ok(())
    })?;
    Ok(messages)
}

/// A printer that prints each delivery as soon as all deliveries with lower ids have been printed.
struct Printer {
    format: Format,
    settings: Settings,
    next: u64,
    early: BTreeMap<u64, Delivery>,
    rows: Vec<Vec<String>>,
    out: io::BufWriter<io::Stdout>,
}

impl Printer {
    fn new(format: Option<Format>, settings: Settings) -> Printer {
        Printer {
            // Even on a terminal, the default is JSON lines.
            format: format.unwrap_or(Format::Json),
            settings,
            next: 0,
            early: BTreeMap::new(),
            rows: Vec::new(),
            out: io::BufWriter::new(io::stdout()),
        }
    }

    fn add(&mut self, delivery: &Delivery) -> Result<(), Failure> {
        self.early.insert(delivery.id, *delivery);
        while let Some(delivery) = self.early.remove(&self.next) {
            self.next += 1;
            self.print(&delivery)?;
        }
        Ok(())
    }

    fn print(&mut self, delivery: &Delivery) -> Result<(), Failure> {
        let Delivery { id, created, delivered, hops, flits, .. } = *delivery;
        let latency = delivery.latency();
        let blocked = latency - zero_load_latency(hops, flits, self.settings.routing_delay);
        if self.format == Format::Json {
            let line = json!({
                "id": id,
                "created": created.0,
                "delivered": delivered.0,
                "latency": latency,
                "hops": hops,
                "blocked": blocked,
            });
            writeln!(self.out, "{line}")?;
        } else {
            let row = [id, created.0, delivered.0, latency, u64::from(hops), blocked];
            self.rows.push(row.iter().map(ToString::to_string).collect());
        }
        Ok(())
    }

    /// Prints the deliveries held back by a message that was never delivered, and the table.
    fn finish(mut self) -> Result<(), Failure> {
        std::mem::take(&mut self.early).values().try_for_each(|delivery| self.print(delivery))?;
        match self.format {
            Format::Json => Ok(self.out.flush()?),
            Format::Csv => output::csv(&HEADER, &self.rows),
            Format::Table => {
                Table::new(&HEADER, 0).with_rows(self.rows).print(output::width()).map(drop)
            }
        }
    }
}
