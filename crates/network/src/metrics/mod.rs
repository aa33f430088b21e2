//! What to measure: load of the channels, energy, and a picture of the machine.

mod heatmap;
mod load;
mod totals;

pub use heatmap::write_heatmap;
pub use load::{ChannelLoad, ChannelUse, Energy};
pub use totals::MessageTotals;
