//! Channel loads and message energy.

use std::cmp::Reverse;
use std::fmt;

use pavior_mesh::NodeId;

use crate::channel::{Channel, ChannelId, ChannelKind, Channels};
use crate::message::Delivery;
use crate::path::Path;

/// The energy per flit, in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// The energy for crossing a link.
    pub per_link: f64,
    /// The energy for traversing a router. Every path has one more router than it has links.
    pub per_router: f64,
}

impl Default for Energy {
    /// Returns an energy of 1 per link and 1 per router.
    fn default() -> Energy {
        Energy { per_link: 1.0, per_router: 1.0 }
    }
}

impl Energy {
    /// Returns the energy that one message consumes.
    ///
    /// ```
    /// # mod pavior { pub use pavior_network as network; }
    /// let energy = pavior::network::Energy { per_link: 2.0, per_router: 0.5 };
    /// assert_eq!(energy.of(8, 3), 8.0 * (3.0 * 2.0 + 4.0 * 0.5));
    /// ```
    pub fn of(&self, flits: u32, hops: u32) -> f64 {
        let (flits, hops) = (u64::from(flits), u64::from(hops));
        self.sum(u128::from(flits * hops), u128::from(flits * (hops + 1)))
    }

    /// Returns the energy for the given numbers of link and router traversals by single flits.
    pub(super) fn sum(&self, links: u128, routers: u128) -> f64 {
        links as f64 * self.per_link + routers as f64 * self.per_router
    }
}

/// A channel and its load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelUse {
    /// The channel's number.
    pub id: ChannelId,
    /// The channel.
    pub channel: Channel,
    /// The number of cycles during which a flit crossed the channel.
    pub busy_cycles: u64,
    /// The fraction of cycles during which the channel was busy, from 0 to 1.
    pub utilization: f64,
}

/// The number of flits that have crossed each channel, computed from deliveries.
///
/// A message adds its flits to every channel on its path. To keep this at O(axes) per message, only
/// the two ends of each straight run are recorded. Sums along each line of the grid are computed on
/// demand.
///
/// ```
/// # mod pavior { pub use pavior_network as network; pub use pavior_mesh::*; }
/// use pavior::network::{ChannelLoad, Channels, VirtualChannels};
/// use pavior::{Grid, NodeId};
/// let channels = Channels::new(Grid::mesh(&[4, 4])?, VirtualChannels::Two);
/// let mut load = ChannelLoad::new(channels);
/// load.add(NodeId(0), NodeId(6), 8);
/// let hottest = load.hottest(100, 1)[0];
/// assert_eq!((hottest.busy_cycles, hottest.utilization), (8, 0.08));
/// assert_eq!((load.flit_hops(), load.router_traversals()), (24, 32));
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChannelLoad {
    channels: Channels,
    /// For each channel, the flits recorded individually rather than as part of a run of links.
    own: Vec<u64>,
    /// For each link, the flits of all runs that start at this link minus those of all runs that
    /// end just before it.
    rise: Vec<i64>,
    flit_hops: u128,
    router_traversals: u128,
}

impl ChannelLoad {
    /// Creates a record in which every channel has a load of zero.
    pub fn new(channels: Channels) -> ChannelLoad {
        let count = channels.count();
        let (own, rise) = (vec![0; count], vec![0; count]);
        ChannelLoad { channels, own, rise, flit_hops: 0, router_traversals: 0 }
    }

    /// Counts a delivered message.
    pub fn count(&mut self, delivery: &Delivery) {
        self.add(delivery.from, delivery.to, delivery.flits);
    }

    /// Counts a message, given its source, its destination and its length in flits.
    pub fn add(&mut self, from: NodeId, to: NodeId, flits: u32) {
        let path = Path::new(&self.channels, from, to);
        self.own[path.injection().index()] += u64::from(flits);
        for segment in path.segments() {
            if segment.count == 1 {
                self.own[segment.first as usize] += u64::from(flits);
            } else {
                // The link after a run is on the same line, because no run ends with a wrap link.
                let behind =
                    i64::from(segment.first) + i64::from(segment.step) * i64::from(segment.count);
                self.rise[segment.first as usize] += i64::from(flits);
                self.rise[behind as usize] -= i64::from(flits);
            }
        }
        self.flit_hops += u128::from(u64::from(flits) * u64::from(path.hops()));
        self.router_traversals += u128::from(u64::from(flits) * (u64::from(path.hops()) + 1));
    }

    /// Returns the number of links crossed, summed over flits.
    pub fn flit_hops(&self) -> u128 {
        self.flit_hops
    }

    /// Returns the number of routers traversed, summed over flits.
    pub fn router_traversals(&self) -> u128 {
        self.router_traversals
    }

    /// Returns the energy of all counted messages.
    pub fn energy(&self, energy: Energy) -> f64 {
        energy.sum(self.flit_hops, self.router_traversals)
    }

    /// Returns the channel numbering.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Computes the number of busy cycles for each channel number.
    pub fn busy_cycles(&self) -> Vec<u64> {
        let grid = *self.channels.grid();
        let mut busy = self.own.clone();
        for axis in 0..3 {
            for virtual_channel in 0..self.channels.virtual_channels(axis) {
                for first in (0..grid.nodes()).filter(|&n| grid.point(NodeId(n))[axis] == 0) {
                    for positive in [true, false] {
                        self.sum_line(&mut busy, NodeId(first), axis, positive, virtual_channel);
                    }
                }
            }
        }
        busy
    }

    fn sum_line(
        &self,
        busy: &mut [u64],
        first: NodeId,
        axis: usize,
        positive: bool,
        virtual_channel: u32,
    ) {
        let grid = self.channels.grid();
        let mut point = grid.point(first);
        let mut level = 0;
        for step in 0..grid.side(axis) {
            point[axis] = if positive { step } else { grid.side(axis) - 1 - step };
            let link = self.channels.link(grid.id(point), axis, positive, virtual_channel).index();
            level += self.rise[link];
            busy[link] += level as u64;
        }
    }

    /// Returns each existing channel's load over a run of `cycles` cycles, in order of channel
    /// number.
    pub fn table(&self, cycles: u64) -> Vec<ChannelUse> {
        let busy = self.busy_cycles();
        let row = |(id, channel): (ChannelId, Channel)| {
            let busy_cycles = busy[id.index()];
            let utilization = busy_cycles as f64 / cycles.max(1) as f64;
            ChannelUse { id, channel, busy_cycles, utilization }
        };
        self.channels.all().map(row).collect()
    }

    /// Returns the `count` busiest channels, busiest first. Breaks ties by channel number.
    pub fn hottest(&self, cycles: u64, count: usize) -> Vec<ChannelUse> {
        let mut table = self.table(cycles);
        table.sort_by_key(|row| (Reverse(row.busy_cycles), row.id));
        table.truncate(count);
        table
    }

    /// Writes the table as CSV, with the columns
    /// `kind,x,y,z,axis,direction,lane,busy_cycles,utilization`. The coordinates are those of the
    /// node where the channel starts, one per axis of the machine.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write_csv(&self, out: &mut impl fmt::Write, cycles: u64) -> fmt::Result {
        let grid = self.channels.grid();
        let axes = &["x", "y", "z"][..grid.axes()];
        writeln!(out, "kind,{},axis,direction,lane,busy_cycles,utilization", axes.join(","))?;
        for ChannelUse { channel, busy_cycles, utilization, .. } in self.table(cycles) {
            let point = grid.point(channel.node);
            let place: Vec<String> = point[..axes.len()].iter().map(u16::to_string).collect();
            let place = place.join(",");
            match channel.kind {
                ChannelKind::Injection => write!(out, "injection,{place},,,0")?,
                ChannelKind::Ejection => write!(out, "ejection,{place},,,0")?,
                ChannelKind::Link { axis, positive, virtual_channel } => {
                    let sign = if positive { '+' } else { '-' };
                    write!(out, "link,{place},{},{sign},{virtual_channel}", axes[axis])?;
                }
            }
            writeln!(out, ",{busy_cycles},{utilization}")?;
        }
        Ok(())
    }
}
