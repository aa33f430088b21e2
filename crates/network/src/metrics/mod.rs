//! Metrics: channel load, job routes, and energy.

mod holds;
mod load;
mod routes;
mod totals;

pub use holds::LinkHolds;
pub use load::{ChannelLoad, ChannelUse, Energy};
pub use routes::IterationRoutes;
pub use totals::MessageTotals;
