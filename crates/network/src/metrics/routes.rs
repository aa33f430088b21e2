//! What an iteration of a job's pattern asks of the links.

use pavior_kernel::Stream;
use pavior_mesh::Grid;

use crate::channel::{Channels, VirtualChannels};
use crate::path::Path;
use crate::patterns::{PatternSelection, SelectedPattern, each_message};
use crate::traffic::Layout;

/// The messages of one iteration of a job's pattern, and the links that they cross.
///
/// It depends on where the ranks are and on nothing that happens on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationRoutes {
    /// The messages.
    pub messages: u64,
    /// Links crossed, summed over messages.
    pub hops: u64,
    /// The messages that cross the link which most of them cross.
    pub link_load: u64,
}

impl IterationRoutes {
    /// Those of a job in a layout. None if its pattern has no iteration or it sends nothing. The pattern
    /// draws what it draws from a copy of `draw`.
    ///
    /// Cost: O(links crossed, summed over messages), with as many words of memory.
    pub fn of(
        grid: &Grid,
        layout: &Layout,
        pattern: &PatternSelection,
        draw: &Stream,
    ) -> Option<IterationRoutes> {
        if pattern.entry.does.quota_only {
            return None;
        }
        let pattern = pattern.build(&layout.shape, &mut draw.clone()).ok()?;
        // Virtual channels of a link are one here.
        let channels = Channels::new(*grid, VirtualChannels::One);
        let (mut messages, mut crossed) = (0, Vec::new());
        each_message(&*pattern, |from, to| {
            let [from, to] = [from, to].map(|rank| layout.nodes[rank as usize]);
            let path = Path::new(&channels, from, to);
            // Behind the injection channel, and without the ejection channel.
            let links = path.channels().skip(1).take(path.hops() as usize);
            crossed.extend(links.map(|link| link.0));
            messages += 1;
        });
        crossed.sort_unstable();
        let link_load = crossed.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0);
        let hops = crossed.len() as u64;
        (messages > 0).then_some(IterationRoutes { messages, hops, link_load: link_load as u64 })
    }

    /// Links crossed, mean over messages.
    pub fn mean_hops(&self) -> f64 {
        self.hops as f64 / self.messages as f64
    }
}
