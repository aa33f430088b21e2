//! Totals over delivered messages.

use super::Energy;
use crate::message::Delivery;

/// Totals over messages. All fields are integers, so means do not depend on the order in which
/// messages are counted or on how the messages are grouped.
///
/// A message has fewer than 2^32 flits, crosses fewer than 2^18 links and takes fewer than 2^63
/// cycles, so 64 and 128 bits suffice for the totals over fewer than 2^32 messages.
///
/// ```
/// # mod pavior { pub use pavior_network as network;
/// #     pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::network::{Delivery, MessageTotals, Tag};
/// use pavior::{NodeId, Time};
/// let delivery = Delivery {
///     id: 0,
///     from: NodeId(0),
///     to: NodeId(3),
///     flits: 8,
///     hops: 3,
///     created: Time(10),
///     delivered: Time(36),
///     tag: Tag::default(),
/// };
/// let mut totals = MessageTotals::default();
/// assert_eq!(totals.mean_latency(), None);
/// totals.count(&delivery);
/// assert_eq!(totals.mean_latency(), Some(26.0));
/// assert_eq!(totals.mean_blocking(3), Some(2.0)); // over (3 + 1)(3 + 1) + 8
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageTotals {
    /// The number of messages.
    pub messages: u64,
    /// The total number of cycles from creation to delivery.
    pub latency: u128,
    /// The total number of links crossed.
    pub hops: u64,
    /// The total number of flits.
    pub flits: u64,
    /// The number of flits times the number of links crossed, summed over all messages.
    pub flit_hops: u128,
}

impl MessageTotals {
    /// Adds a message.
    pub fn count(&mut self, delivery: &Delivery) {
        let (flits, hops) = (u64::from(delivery.flits), u64::from(delivery.hops));
        self.messages += 1;
        self.latency += u128::from(delivery.latency());
        self.hops += hops;
        self.flits += flits;
        self.flit_hops += u128::from(flits * hops);
    }

    /// Adds the totals over other messages. The 64-bit fields saturate.
    pub fn add(&mut self, other: &MessageTotals) {
        self.messages = self.messages.saturating_add(other.messages);
        self.latency += other.latency;
        self.hops = self.hops.saturating_add(other.hops);
        self.flits = self.flits.saturating_add(other.flits);
        self.flit_hops += other.flit_hops;
    }

    /// Returns the totals multiplied by `count`.
    #[must_use]
    pub fn times(&self, count: u64) -> MessageTotals {
        MessageTotals {
            messages: self.messages.saturating_mul(count),
            latency: self.latency * u128::from(count),
            hops: self.hops.saturating_mul(count),
            flits: self.flits.saturating_mul(count),
            flit_hops: self.flit_hops * u128::from(count),
        }
    }

    /// Returns the mean latency in cycles, or `None` if no messages have been counted.
    pub fn mean_latency(&self) -> Option<f64> {
        self.mean(self.latency as f64)
    }

    /// Returns the mean latency minus the mean latency on an empty network.
    pub fn mean_blocking(&self, routing_delay: u32) -> Option<f64> {
        let headers = u128::from(self.hops + self.messages);
        let zero_load = (u128::from(routing_delay) + 1) * headers + u128::from(self.flits);
        self.mean((self.latency - zero_load) as f64)
    }

    /// Returns the mean number of links crossed.
    pub fn mean_hops(&self) -> Option<f64> {
        self.mean(self.hops as f64)
    }

    /// Returns the mean energy per message.
    pub fn mean_energy(&self, energy: Energy) -> Option<f64> {
        self.mean(energy.sum(self.flit_hops, self.flit_hops + u128::from(self.flits)))
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.messages > 0).then(|| sum / self.messages as f64)
    }
}
