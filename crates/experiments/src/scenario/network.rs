//! The network of a point, and what its jobs send.

use pavior_kernel::BadName;
use pavior_mesh::Grid;
use pavior_network::{
    Energy, EngineKind, PatternSelection, RankOrder, Release, Rounds, SelectedPattern, Sending,
    Settings, TrafficPlan, VirtualChannels,
};
use pavior_simulation::{Contention, Histories, NetworkSetup};
use pavior_workload::{Selection, ServiceDistribution};

use crate::keys::Keys;
use crate::{Catalogue, Point};

/// The network itself: engine, settings, and the usual length of a message.
#[derive(Clone, Copy, Debug)]
pub struct NetworkParameters {
    /// The engine.
    pub engine: EngineKind,
    /// The settings.
    pub settings: Settings,
    /// The length of a message in flits.
    pub flits: u32,
}

impl NetworkParameters {
    /// Those of a point, or of any other source of values by the names of parameters.
    ///
    /// # Panics
    /// If a value is not one that its parameter has read.
    pub fn new<'v>(value: impl Fn(&str) -> &'v str) -> NetworkParameters {
        let number = |name: &str| {
            value(name).parse().expect("values were read by the parameter, which knows the range")
        };
        NetworkParameters {
            engine: if value("engine") == "flit" { EngineKind::Flit } else { EngineKind::Worm },
            settings: Settings {
                routing_delay: number("routing-delay"),
                buffer: number("buffer"),
                virtual_channels: match value("lanes") {
                    "1" => VirtualChannels::One,
                    "shared" => VirtualChannels::Shared,
                    _ => VirtualChannels::Two,
                },
                release: match value("release") {
                    "passed" => Release::Passed,
                    _ => Release::Drained,
                },
            },
            flits: number("flits"),
        }
    }
}

/// The network of a point, if its jobs send messages.
pub(super) fn network(
    point: &Point,
    catalogue: &Catalogue,
    histories: &Histories,
) -> Option<NetworkSetup> {
    let pattern = pattern(point, catalogue)?.expect("the point was checked");
    let NetworkParameters { engine, settings, flits } =
        NetworkParameters::new(|name| point.get(name).unwrap_or_default());
    let sending = point.get("sending").map(|sending| match sending {
        "sequential" => Sending::Sequential,
        "blocking" => Sending::Blocking,
        _ => Sending::Pipelined,
    });
    let rounds = point.get("rounds").map(|rounds| match rounds {
        "barrier" => Rounds::Barrier,
        _ => Rounds::Free,
    });
    let ranks = point.get("ranks").and_then(RankOrder::named).unwrap_or_default();
    let plan = TrafficPlan { pattern, sending, rounds, flits };
    let contention = match point.get("contention") {
        Some("estimated") => Contention::Estimated,
        _ => Contention::Simulated,
    };
    let histories = histories.clone();
    Some(NetworkSetup { engine, settings, plan, ranks, histories, contention })
}

/// What messages cost.
pub(super) fn energy(point: &Point) -> Energy {
    let usual = Energy::default();
    Energy {
        per_link: point.optional("link-energy").unwrap_or(usual.per_link),
        per_router: point.optional("router-energy").unwrap_or(usual.per_router),
    }
}

/// The pattern of a point whose jobs send messages; `order` sets the option of that name.
fn pattern(point: &Point, catalogue: &Catalogue) -> Option<Result<PatternSelection, BadName>> {
    let pattern = point.get("pattern")?;
    Some(match point.get("order") {
        None => catalogue.patterns.select(pattern),
        Some(order) => catalogue.patterns.select(&format!("{pattern}:order={order}")),
    })
}

/// Whether machine, pattern and network go together; if not, the parameter at fault, and why.
pub(super) fn check(
    point: &Point,
    keys: Keys,
    catalogue: &Catalogue,
) -> Result<(), (&'static str, String)> {
    let Some(pattern) = pattern(point, catalogue) else { return Ok(()) };
    let pattern = pattern.map_err(|bad| {
        let order = point.get("order").unwrap_or_default();
        ("order", format!("{} {order}: {}", keys.spell("order"), bad.reason))
    })?;
    pattern
        .supports(&point.value::<Grid>("machine"))
        .map_err(|error| ("pattern", error.to_string()))?;
    let service: Option<Selection<ServiceDistribution>> = point.optional("service");
    if service.is_none_or(|service| service.entry.name == "iterations") {
        pattern.supports_iterations().map_err(|error| ("pattern", error.to_string()))?;
    }
    let NetworkParameters { engine, settings, .. } =
        NetworkParameters::new(|name| point.get(name).unwrap_or_default());
    engine.check(&settings).map_err(|error| ("engine", error.to_string()))
}
