//! Network metrics: channel loads, link holds, routes, energy and message totals.

mod holds;
mod load;
mod routes;
mod totals;

pub use holds::LinkHolds;
pub use load::{ChannelLoad, ChannelUse, Energy};
pub use routes::IterationRoutes;
pub use totals::MessageTotals;
