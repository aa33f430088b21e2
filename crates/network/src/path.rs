//! Dimension-order paths: along x, then y, then z, going the shorter way around rings.

use pavior_mesh::NodeId;

use crate::channel::{ChannelId, Channels};

/// A run of channels whose numbers change by a constant step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The number of the first channel.
    pub first: u32,
    /// The difference between successive channel numbers.
    pub step: i32,
    /// The number of channels.
    pub count: u32,
}

/// The maximum number of segments in a path: three per axis, plus the ejection channel.
const MOST_SEGMENTS: usize = 10;

/// A message's path: the injection channel at its source, links along x, then y, then z, and the
/// ejection channel at its destination.
///
/// On a ring, the message takes the shorter way around, or goes toward greater coordinates if both
/// ways are equally long. With two virtual channels, the message enters each axis on virtual
/// channel 0 and switches to virtual channel 1 at the wrap link. The path is stored as straight
/// runs of links, so its size does not depend on the distance. There are at most three runs per
/// axis: the links before the wrap link, the wrap link itself, and the links after it.
///
/// ```
/// # mod pavior { pub use pavior_network as network; pub use pavior_mesh::*; }
/// use pavior::network::{Channels, Path, VirtualChannels};
/// use pavior::{Grid, NodeId};
/// let channels = Channels::new(Grid::mesh(&[4, 4])?, VirtualChannels::Two);
/// let path = Path::new(&channels, NodeId(0), NodeId(6)); // (0,0) to (2,1)
/// let names: Vec<String> =
///     path.channels().map(|id| channels.describe(id).unwrap().name(channels.grid())).collect();
/// assert_eq!(names, [
///     "injection at [0,0]",
///     "link x+ lane 0 from [0,0]",
///     "link x+ lane 0 from [1,0]",
///     "link y+ lane 0 from [2,0]",
///     "ejection at [2,1]",
/// ]);
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Path {
    injection: ChannelId,
    segments: [Segment; MOST_SEGMENTS],
    length: u8,
    hops: u32,
}

impl Path {
    /// Computes the path from one node to another.
    pub fn new(channels: &Channels, from: NodeId, to: NodeId) -> Path {
        let mut path = Path {
            injection: channels.injection(from),
            segments: [Segment::default(); MOST_SEGMENTS],
            length: 0,
            hops: 0,
        };
        path.hops = write_segments(channels, from, to, |segment| {
            path.segments[usize::from(path.length)] = segment;
            path.length += 1;
        });
        path
    }

    /// Returns the maximum number of segments, after the injection channel, of any path on a grid.
    pub fn segments_bound(channels: &Channels) -> usize {
        1 + (0..3)
            .map(|axis| match (channels.virtual_channels(axis), channels.is_ring(axis)) {
                (0, _) => 0,
                (_, true) => 3,
                (_, false) => 1,
            })
            .sum::<usize>()
    }

    /// Returns the number of links between the source and the destination.
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// Returns the injection channel.
    pub fn injection(&self) -> ChannelId {
        self.injection
    }

    /// Returns the straight runs after the injection channel. The last is the ejection channel.
    pub fn segments(&self) -> &[Segment] {
        &self.segments[..usize::from(self.length)]
    }

    /// Returns all `hops + 2` channels on the path, in order.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + '_ {
        let runs = self.segments().iter().flat_map(|run| {
            (0..run.count).map(|k| ChannelId((run.first as i32 + run.step * k as i32) as u32))
        });
        std::iter::once(self.injection).chain(runs)
    }
}

/// Calls `write` with each straight run on the path from one node to another, and finally with the
/// ejection channel. Returns the number of links.
#[inline]
pub(crate) fn write_segments(
    channels: &Channels,
    from: NodeId,
    to: NodeId,
    mut write: impl FnMut(Segment),
) -> u32 {
    let mut hops = 0;
    if from != to {
        let grid = channels.grid();
        let ([x, y, z], goal) = (grid.point(from), grid.point(to));
        // The node at which the path enters the current axis.
        let mut node = from;
        node = write_axis(channels, node, 0, [x, goal[0]], &mut hops, &mut write);
        node = write_axis(channels, node, 1, [y, goal[1]], &mut hops, &mut write);
        write_axis(channels, node, 2, [z, goal[2]], &mut hops, &mut write);
    }
    write(Segment { first: channels.ejection(to).0, step: 0, count: 1 });
    hops
}

/// Calls `write` with each straight run along one axis, and adds the number of links to `hops`.
/// Returns the node where the last link ends.
#[expect(clippy::inline_always, reason = "a call would take longer than the loop")]
#[inline(always)]
fn write_axis(
    channels: &Channels,
    node: NodeId,
    axis: usize,
    [start, goal]: [u16; 2],
    hops: &mut u32,
    write: &mut impl FnMut(Segment),
) -> NodeId {
    if start == goal {
        return node;
    }
    let [start, goal] = [start, goal].map(i32::from);
    let moved = (goal - start).wrapping_mul(channels.apart(axis) as i32);
    if channels.is_ring(axis) {
        for run in ring_runs(channels, node, axis, start, goal) {
            if run.count > 0 {
                *hops += run.count;
                write(run);
            }
        }
    } else {
        let count = goal.abs_diff(start);
        *hops += count;
        write(channels.run(node, axis, goal > start, 0, count));
    }
    NodeId(node.0.wrapping_add_signed(moved))
}

/// Returns the links along an axis that wraps, as up to three runs: those before the wrap link, the
/// wrap link itself, and those after it.
#[inline(never)]
fn ring_runs(
    channels: &Channels,
    node: NodeId,
    axis: usize,
    start: i32,
    goal: i32,
) -> [Segment; 3] {
    let side = i32::from(channels.grid().side(axis));
    let forward = (goal - start).rem_euclid(side);
    let (positive, count) =
        if 2 * forward <= side { (true, forward) } else { (false, side - forward) };
    // The number of links before the wrap link.
    let to_border = if positive { side - 1 - start } else { start };
    let straight = to_border.min(count);
    let behind = channels.virtual_channels(axis) - 1;
    let run = |moved: i32, virtual_channel, count: i32| {
        let moved = if positive { moved } else { -moved };
        let node = NodeId(node.0.wrapping_add_signed(moved * channels.apart(axis) as i32));
        channels.run(node, axis, positive, virtual_channel, count as u32)
    };
    let mut runs = [run(0, 0, straight), Segment::default(), Segment::default()];
    if count > straight {
        runs[1] = Segment { step: 0, ..run(straight, behind, 1) };
        runs[2] = run(straight - (side - 1), behind, count - straight - 1);
    }
    runs
}

/// Returns a message's latency without contention: `(t_s + 1)(hops + 1) + L` cycles.
///
/// ```
/// # mod pavior { pub use pavior_network as network; }
/// assert_eq!(pavior::network::zero_load_latency(5, 8, 3), 32);
/// ```
pub fn zero_load_latency(hops: u32, flits: u32, routing_delay: u32) -> u64 {
    (u64::from(routing_delay) + 1) * (u64::from(hops) + 1) + u64::from(flits)
}
