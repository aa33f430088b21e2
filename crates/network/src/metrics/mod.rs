//! What to measure: load of the channels, and energy.

mod load;
mod totals;

pub use load::{ChannelLoad, ChannelUse, Energy};
pub use totals::MessageTotals;
