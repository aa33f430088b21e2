//! The channels of a network and their numbers. A channel is an injection channel, an ejection
//! channel, or a virtual channel on a link.

use pavior_mesh::{Grid, NodeId};

use crate::message::show;
use crate::path::Segment;

/// The number and kind of virtual channels on links along axes that wrap.
///
/// Dimension-order routing on a ring can deadlock if every link is a single channel. With two
/// channels per link, a message starts on virtual channel 0 and switches to virtual channel 1 at
/// the wrap link, so waiting messages cannot form a cycle (Dally & Seitz 1987). Links have only one
/// virtual channel on axes that do not wrap and on rings of two nodes, which count as meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VirtualChannels {
    /// A single virtual channel, useful for demonstrating deadlock.
    One,
    /// Two virtual channels, each with the link's full bandwidth.
    #[default]
    Two,
    /// Two virtual channels that share the link's bandwidth flit by flit, in round-robin order.
    Shared,
}

/// A channel's number, in `0..Channels::count`. Some numbers are unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

impl ChannelId {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A kind of channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    /// The channel from a node's processing element to its router.
    Injection,
    /// The channel from a node's router to its processing element.
    Ejection,
    /// A channel from a node's router to the next router along an axis.
    Link {
        /// The axis: 0, 1 or 2 for x, y or z.
        axis: usize,
        /// True if the link leads toward greater coordinates, or wraps around to coordinate 0.
        positive: bool,
        /// The virtual channel, which is always 0 on axes that have only one.
        virtual_channel: u8,
    },
}

/// A channel, identified by its kind and the node where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The kind of channel.
    pub kind: ChannelKind,
    /// The node where the channel starts. Ejection channels start and end at the same node.
    pub node: NodeId,
}

/// A numbering of the channels on a grid.
///
/// Every node has the same sequence of channels: injection, ejection and, for each axis longer than
/// 1, the positive link and the negative link, each with its virtual channels. The numbers of
/// corresponding channels at neighboring nodes on an axis therefore differ by a constant. As a
/// result, a header advances along a straight part of its path with one addition per channel.
///
/// ```text
///   node n:  n*slots + | 0 inj | 1 ej | 2 x+ | 3 x- | 4 y+ | 5 y- |       (a mesh with two axes)
/// ```
///
/// ```
/// # mod pavior { pub use pavior_network as network; pub use pavior_mesh::*; }
/// use pavior::network::{Channels, VirtualChannels};
/// use pavior::{Grid, NodeId};
/// let channels = Channels::new(Grid::mesh(&[4, 4])?, VirtualChannels::Two);
/// assert_eq!(channels.all().count(), 16 + 16 + 2 * (3 * 4) * 2);
/// let first = channels.injection(NodeId(0));
/// assert_eq!(channels.describe(first).unwrap().name(channels.grid()), "injection at [0,0]");
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Channels {
    grid: Grid,
    slots: u32,
    per_link: [u32; 3],
    first: [u32; 3],
    strides: [u32; 3],
    /// For each axis, the difference between channel numbers at neighboring nodes.
    steps: [i32; 3],
    rings: [bool; 3],
}

impl Channels {
    /// Numbers the channels on a grid.
    pub fn new(grid: Grid, virtual_channels: VirtualChannels) -> Channels {
        let mut slots = 2;
        let mut channels = Channels {
            grid,
            slots,
            per_link: [0; 3],
            first: [0; 3],
            strides: [1, grid.side(0).into(), u32::from(grid.side(0)) * u32::from(grid.side(1))],
            steps: [0; 3],
            rings: [0, 1, 2].map(|axis| Self::rings(&grid, axis)),
        };
        for axis in (0..3).filter(|&axis| grid.side(axis) > 1) {
            channels.per_link[axis] =
                if channels.rings[axis] && virtual_channels != VirtualChannels::One {
                    2
                } else {
                    1
                };
            channels.first[axis] = slots;
            slots += 2 * channels.per_link[axis];
        }
        channels.slots = slots;
        channels.steps = channels.strides.map(|stride| stride.wrapping_mul(slots) as i32);
        channels
    }

    /// Returns true if the links along an axis form a ring: the axis wraps and is longer than 2.
    fn rings(grid: &Grid, axis: usize) -> bool {
        grid.wraps(axis) && grid.side(axis) > 2
    }

    pub(crate) fn is_ring(&self, axis: usize) -> bool {
        self.rings[axis]
    }

    /// Returns the grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the exclusive upper bound on channel numbers.
    pub fn count(&self) -> usize {
        self.slots as usize * self.grid.nodes() as usize
    }

    /// Returns the number of virtual channels per link on an axis, or 0 if the axis has no links.
    pub fn virtual_channels(&self, axis: usize) -> u32 {
        self.per_link[axis]
    }

    /// Returns the difference between the channel numbers of neighboring nodes on an axis.
    pub(crate) fn apart(&self, axis: usize) -> u32 {
        self.strides[axis]
    }

    /// Returns a node's injection channel.
    pub fn injection(&self, node: NodeId) -> ChannelId {
        ChannelId(node.0 * self.slots)
    }

    /// Returns a node's ejection channel.
    pub fn ejection(&self, node: NodeId) -> ChannelId {
        ChannelId(node.0 * self.slots + 1)
    }

    /// Returns the link that leads from a node along an axis, which must be longer than 1. If the
    /// link would cross the grid's border, returns a number that no channel uses.
    pub fn link(
        &self,
        node: NodeId,
        axis: usize,
        positive: bool,
        virtual_channel: u32,
    ) -> ChannelId {
        debug_assert!(virtual_channel < self.per_link[axis], "the axis has this virtual channel");
        let slot =
            self.first[axis] + if positive { 0 } else { self.per_link[axis] } + virtual_channel;
        ChannelId(node.0 * self.slots + slot)
    }

    /// Returns `count` successive links along an axis, starting at a node. Only the last link may
    /// be a wrap link.
    #[inline]
    pub(crate) fn run(
        &self,
        node: NodeId,
        axis: usize,
        positive: bool,
        virtual_channel: u32,
        count: u32,
    ) -> Segment {
        let first = self.link(node, axis, positive, virtual_channel).0;
        let step = self.steps[axis];
        Segment { first, step: if positive { step } else { -step }, count }
    }

    /// Returns the channel with the given number, or `None` if the number is unused.
    pub fn describe(&self, channel: ChannelId) -> Option<Channel> {
        let node = NodeId(channel.0 / self.slots);
        let slot = channel.0 % self.slots;
        if node.0 >= self.grid.nodes() {
            return None;
        }
        let kind = match slot {
            0 => ChannelKind::Injection,
            1 => ChannelKind::Ejection,
            _ => {
                let axis =
                    (0..3).rfind(|&axis| self.per_link[axis] > 0 && self.first[axis] <= slot)?;
                let within = slot - self.first[axis];
                let positive = within < self.per_link[axis];
                let (at, side) = (self.grid.point(node)[axis], self.grid.side(axis));
                let border = if positive { side - 1 } else { 0 };
                if at == border && !self.is_ring(axis) {
                    return None;
                }
                ChannelKind::Link {
                    axis,
                    positive,
                    virtual_channel: (within % self.per_link[axis]) as u8,
                }
            }
        };
        Some(Channel { kind, node })
    }

    /// Returns the node at which a channel ends.
    pub fn end(&self, channel: Channel) -> NodeId {
        let ChannelKind::Link { axis, positive, .. } = channel.kind else {
            return channel.node;
        };
        let mut point = self.grid.point(channel.node);
        let side = self.grid.side(axis);
        point[axis] = match (positive, point[axis]) {
            (true, at) if at + 1 == side => 0,
            (true, at) => at + 1,
            (false, 0) => side - 1,
            (false, at) => at - 1,
        };
        self.grid.id(point)
    }

    /// Returns all existing channels, in order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (ChannelId, Channel)> + '_ {
        (0..self.count() as u32)
            .map(ChannelId)
            .filter_map(|id| self.describe(id).map(|channel| (id, channel)))
    }
}

impl Channel {
    /// Formats the channel's name, including coordinates, for example `link x+ lane 0 from [3,0]`.
    pub fn name(&self, grid: &Grid) -> String {
        let node = show(grid.point(self.node), grid);
        match self.kind {
            ChannelKind::Injection => format!("injection at {node}"),
            ChannelKind::Ejection => format!("ejection at {node}"),
            ChannelKind::Link { axis, positive, virtual_channel } => {
                let sign = if positive { '+' } else { '-' };
                format!("link {}{sign} lane {virtual_channel} from {node}", ['x', 'y', 'z'][axis])
            }
        }
    }
}
