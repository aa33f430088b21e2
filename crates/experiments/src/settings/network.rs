//! Settings for a network and for the messages that jobs send over it.

use pavior_mesh::Grid;
use pavior_network::{
    EngineKind, PatternSelection, RankOrder, Settings, TrafficPlan, supports_iterations,
};
use pavior_simulation::{Contention, Histories, NetworkSetup};

use super::Fault;
use crate::keys::Keys;
use crate::{Catalogue, Given};

/// The network without its traffic: the engine, its settings, and the default message length.
#[derive(Clone, Copy, Debug)]
pub struct NetworkParameters {
    /// The engine that simulates the network.
    pub engine: EngineKind,
    /// The engine's settings.
    pub settings: Settings,
    /// The message length in flits.
    pub flits: u32,
}

/// The default message length in flits.
const USUAL_FLITS: u32 = 8;

impl NetworkParameters {
    /// Creates parameters from the given values. Missing values default to those used in the
    /// papers.
    pub fn new(given: &Given) -> NetworkParameters {
        let usual = Settings::default();
        NetworkParameters {
            engine: given.engine.unwrap_or_default(),
            settings: Settings {
                routing_delay: given.routing_delay.unwrap_or(usual.routing_delay),
                buffer: given.buffer.unwrap_or(usual.buffer),
                virtual_channels: given.lanes.unwrap_or(usual.virtual_channels),
                release: given.release.unwrap_or(usual.release),
            },
            flits: given.flits.unwrap_or(USUAL_FLITS),
        }
    }
}

/// The messages that jobs send, and the network that carries them.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    /// The engine that simulates the network.
    pub engine: EngineKind,
    /// The engine's settings.
    pub settings: Settings,
    /// The messages that jobs send.
    pub plan: TrafficPlan,
    /// The order in which each job's ranks are numbered.
    pub ranks: RankOrder,
    /// The model of contention between jobs that share links.
    pub contention: Contention,
}

impl NetworkSettings {
    /// Returns the network, if jobs send messages.
    pub(super) fn new(
        given: &Given,
        machine: Grid,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<Option<NetworkSettings>, Fault> {
        let Some(pattern) = pattern(given, keys, catalogue)? else { return Ok(None) };
        let of_pattern = |error: pavior_network::UnsupportedPattern| ("pattern", error.to_string());
        pattern.supports(&machine).map_err(of_pattern)?;
        let iterates = |service: &str| service == "iterations";
        if given.service.as_ref().is_none_or(|service| iterates(service.entry.name)) {
            supports_iterations(&pattern).map_err(of_pattern)?;
        }
        let NetworkParameters { engine, settings, flits } = NetworkParameters::new(given);
        engine.check(&settings).map_err(|error| ("engine", error.to_string()))?;
        let (sending, rounds) = (given.sending, given.rounds);
        Ok(Some(NetworkSettings {
            engine,
            settings,
            plan: TrafficPlan { pattern, sending, rounds, flits },
            ranks: given.ranks.unwrap_or_default(),
            contention: given.contention.unwrap_or_default(),
        }))
    }

    /// Creates the network for a run. For jobs that are alone on the network, the run reuses the
    /// results in `histories` and adds new ones.
    pub(crate) fn setup(&self, histories: &Histories) -> NetworkSetup {
        NetworkSetup {
            engine: self.engine,
            settings: self.settings,
            plan: self.plan.clone(),
            ranks: self.ranks,
            histories: histories.clone(),
            contention: self.contention,
        }
    }
}

/// Returns the jobs' communication pattern. `order` sets the pattern's `order` option.
fn pattern(
    given: &Given,
    keys: Keys,
    catalogue: &Catalogue,
) -> Result<Option<PatternSelection>, Fault> {
    let (Some(pattern), Some(order)) = (&given.pattern, &given.order) else {
        return Ok(given.pattern.clone());
    };
    let selected = catalogue.patterns.select(&format!("{pattern}:order={order}"));
    let fault = |reason| ("order", format!("{} {order}: {reason}", keys.spell("order")));
    selected.map(Some).map_err(|bad| fault(bad.reason))
}
