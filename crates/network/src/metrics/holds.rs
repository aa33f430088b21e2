//! Times for which the messages in an iteration would hold links without contention.

use pavior_kernel::Stream;
use pavior_mesh::Grid;

use super::routes::each_crossing;
use crate::channel::{ChannelId, Channels};
use crate::engine::Settings;
use crate::patterns::iteration;
use crate::traffic::{Layout, TrafficPlan};

/// The number of messages in an iteration that cross a link, and the time for which these messages
/// would hold the link without contention.
///
/// A message holds a link from the cycle in which the link is granted to its header until its tail
/// has left the buffer after the link. The hold time depends on the routing delay t_s, the message
/// length L, the buffer size B and a, the number of channels that follow the link on the message's
/// path, including the ejection channel. The hold time is the maximum of `(t_s+1)(1+b)+L-1-bB`
/// cycles over all b from 0 to the smaller of (L-1)/B and a-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkHolds {
    /// The link, represented by one of its virtual channels.
    pub link: ChannelId,
    /// The number of messages.
    pub messages: u64,
    /// The sum of the hold times, in cycles.
    pub cycles: u64,
    /// The sum of the squares of the hold times.
    pub squares: u64,
}

impl LinkHolds {
    /// Computes the hold times for a job's layout, with one entry per link, in order of link
    /// number. The result is empty if the pattern has no iterations or sends nothing. Random values
    /// are drawn from a copy of `draw`.
    ///
    /// Cost: O(links crossed, summed over messages) time and memory.
    pub fn of(
        grid: &Grid,
        layout: &Layout,
        plan: &TrafficPlan,
        settings: &Settings,
        draw: &Stream,
    ) -> Vec<LinkHolds> {
        let Some(pattern) = iteration(&plan.pattern, &layout.shape, &mut draw.clone()) else {
            return Vec::new();
        };
        let channels = Channels::new(*grid, settings.virtual_channels);
        let mut crossed: Vec<(ChannelId, u64)> = Vec::new();
        each_crossing(&channels, layout, &*pattern, |link, behind| {
            crossed.push((link, hold(settings, plan.flits, behind)));
        });
        crossed.sort_unstable();
        let of_link = |same: &[(ChannelId, u64)]| LinkHolds {
            link: same[0].0,
            messages: same.len() as u64,
            cycles: same.iter().map(|(_, held)| held).sum(),
            squares: same.iter().map(|(_, held)| held.saturating_mul(*held)).sum(),
        };
        crossed.chunk_by(|a, b| a.0 == b.0).map(of_link).collect()
    }
}

/// Returns the number of cycles that a message holds a link with `behind` channels after it.
fn hold(settings: &Settings, flits: u32, behind: u32) -> u64 {
    let (step, buffer) = (u64::from(settings.routing_delay) + 1, u64::from(settings.buffer));
    let tail = u64::from(flits) - 1;
    let most = (tail / buffer).min(u64::from(behind) - 1);
    // The expression is linear in b, so it has its maximum at one end of the range.
    let held = |b: u64| step * (1 + b) + tail - b * buffer;
    held(0).max(held(most))
}
