//! Asymptotic costs of strategies, specified as formulas in an experiment and used in snapshots.
//!
//! The `orders` key in an experiment file specifies the formulas, and the `printed_order` metric
//! reports their values. A formula may use the names N (nodes in the machine), h (rows), B (busy
//! submeshes) and K (nodes per submesh).

use crate::settings::Asked;
use crate::{Formula, Point};

/// The names that formulas may use.
pub(crate) const NAMES: [&str; 4] = ["N", "h", "B", "K"];

/// The formulas, by strategy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Orders(pub(crate) Vec<(String, Formula)>);

impl Orders {
    /// Returns the value of the formula for the point's strategy, or `None` if the strategy has no
    /// formula or the point is not a snapshot.
    pub(crate) fn value(&self, point: &Point) -> Option<f64> {
        let settings = point.settings();
        let strategy = &settings.strategy.to_string();
        // Options rarely change the asymptotic cost, so `ff:plain` uses the formula for `ff` unless
        // it has its own.
        let plain = settings.strategy.entry.name;
        let of = |name: &str| self.0.iter().find(|(known, _)| known == name);
        let (_, formula) = of(strategy).or_else(|| of(plain))?;
        let grid = settings.machine;
        let Asked::Snapshot(snapshot) = &settings.asked else { return None };
        let sizes = snapshot.busy.sizes();
        let busy = sizes.len() as f64;
        let names = |name: &str| {
            Some(match name {
                "N" => f64::from(grid.nodes()),
                "h" => f64::from(grid.side(1)),
                "B" => busy,
                "K" => sizes.iter().sum::<u64>() as f64 / busy.max(1.0),
                _ => return None,
            })
        };
        formula.value(&names).ok()
    }
}
