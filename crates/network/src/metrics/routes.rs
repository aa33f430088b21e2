//! The routes that messages take in one iteration of a job's pattern.

use pavior_kernel::Stream;
use pavior_mesh::Grid;

use crate::channel::{ChannelId, Channels, VirtualChannels};
use crate::path::Path;
use crate::patterns::{Pattern, PatternSelection, each_message, iteration};
use crate::traffic::Layout;

/// Statistics on the messages in one iteration of a job's pattern and the links that they cross.
///
/// The statistics depend only on the positions of the ranks, not on network contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationRoutes {
    /// The number of messages.
    pub messages: u64,
    /// The number of links crossed, summed over messages.
    pub hops: u64,
    /// The number of messages that cross the busiest link.
    pub link_load: u64,
}

impl IterationRoutes {
    /// Computes the routes for a job's layout. Returns `None` if the pattern has no iterations or
    /// the job sends nothing. Random values are drawn from a copy of `draw`.
    ///
    /// Cost: O(links crossed, summed over messages) time and memory.
    pub fn of(
        grid: &Grid,
        layout: &Layout,
        pattern: &PatternSelection,
        draw: &Stream,
    ) -> Option<IterationRoutes> {
        let pattern = iteration(pattern, &layout.shape, &mut draw.clone())?;
        // The virtual channels on a link are not distinguished here.
        let channels = Channels::new(*grid, VirtualChannels::One);
        let mut crossed = Vec::new();
        let messages = each_crossing(&channels, layout, &*pattern, |link, _| crossed.push(link));
        crossed.sort_unstable();
        let link_load = crossed.chunk_by(|a, b| a == b).map(<[ChannelId]>::len).max().unwrap_or(0);
        let hops = crossed.len() as u64;
        (messages > 0).then_some(IterationRoutes { messages, hops, link_load: link_load as u64 })
    }

    /// Returns the mean number of links that a message crosses.
    pub fn mean_hops(&self) -> f64 {
        self.hops as f64 / self.messages as f64
    }
}

/// Calls `see` for every link that a message in the iteration crosses, with the number of channels
/// that follow it on the path, including the ejection channel. Returns the number of messages.
pub(super) fn each_crossing(
    channels: &Channels,
    layout: &Layout,
    pattern: &dyn Pattern,
    mut see: impl FnMut(ChannelId, u32),
) -> u64 {
    let mut messages = 0;
    each_message(pattern, |from, to| {
        let [from, to] = [from, to].map(|rank| layout.nodes[rank as usize]);
        let path = Path::new(channels, from, to);
        // Select all channels on the path except the injection and ejection channels.
        let links = path.channels().skip(1).take(path.hops() as usize);
        for (link, behind) in links.zip((1..=path.hops()).rev()) {
            see(link, behind);
        }
        messages += 1;
    });
    messages
}
