//! A bounded number of permits for connections and watchers, shared fairly. Every permit belongs to
//! a party: a tenant, the operator or, for an unauthenticated caller, the peer's address. When no
//! permits are left, one of the largest parties loses a permit, so no party can take all of them.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::core::Caller;
use crate::core::shares::Shares;

/// The bit that is set in a permit's number while the permit is in use. A party's lowest-numbered
/// permits, and thus unused ones, are lost first.
const IN_USE: u64 = 1 << 63;

/// One of the parties that share the permits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Party {
    /// An unauthenticated caller, identified by its IPv4 address or its 64-bit IPv6 network.
    Unknown(IpAddr),
    /// A tenant.
    Tenant(String),
    /// The operator.
    Operator,
}

/// The current permits by party, each with the signal that revokes it.
type Granted = Shares<Party, Arc<Notify>, 1>;

/// A bounded number of permits.
pub(crate) struct Permits {
    max: usize,
    granted: Mutex<Granted>,
    /// The number of outstanding permits, including revoked permits not yet dropped.
    held: AtomicUsize,
    dropped: Notify,
}

/// A permit, which is returned when dropped.
pub(crate) struct Permit {
    permits: Arc<Permits>,
    /// The permit's number. It changes only while `granted` is locked.
    number: AtomicU64,
    /// True while the permit is in use. Changes only while `granted` is locked.
    is_in_use: AtomicBool,
    revocation: Arc<Notify>,
    was_used: AtomicBool,
}

/// A guard that marks a permit as in use until the guard is dropped.
pub(crate) struct InUse(Arc<Permit>);

impl Party {
    /// Returns an unauthenticated caller's party.
    pub(crate) fn at(address: IpAddr) -> Party {
        Party::Unknown(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns an authenticated caller's party.
    pub(crate) fn of(caller: &Caller) -> Party {
        caller.tenant.clone().map_or(Party::Operator, Party::Tenant)
    }

    fn is_authenticated(&self) -> bool {
        !matches!(self, Party::Unknown(_))
    }
}

impl Permits {
    pub(crate) fn new(max: usize) -> Arc<Permits> {
        let granted = Mutex::new(Granted::default());
        Arc::new(Permits { max, granted, held: AtomicUsize::new(0), dropped: Notify::new() })
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// Returns the number of outstanding permits, including revoked permits not yet dropped.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Returns a permit. If none are left, the party with the most permits, possibly `party`
    /// itself, loses one.
    pub(crate) fn acquire(self: &Arc<Permits>, party: Party) -> Arc<Permit> {
        let mut granted = self.granted.lock();
        if granted.total() >= [self.max]
            && let Some((_, number)) = self.victim(&granted, &party)
        {
            revoke(&mut granted, number);
        }
        self.add(&mut granted, party)
    }

    /// Returns a permit, or `None` if `party` itself would have to lose one.
    pub(crate) fn acquire_if_fair(self: &Arc<Permits>, party: Party) -> Option<Arc<Permit>> {
        let mut granted = self.granted.lock();
        if granted.total() >= [self.max] {
            let victim = self.victim(&granted, &party);
            let (_, number) = victim.filter(|(loser, _)| **loser != party)?;
            revoke(&mut granted, number);
        }
        Some(self.add(&mut granted, party))
    }

    /// Waits until at most `count` permits are outstanding.
    pub(crate) async fn wait_at_most(&self, count: usize) {
        while self.held() > count {
            self.dropped.notified().await;
        }
    }

    fn add(self: &Arc<Permits>, granted: &mut Granted, party: Party) -> Arc<Permit> {
        self.held.fetch_add(1, Ordering::AcqRel);
        let revocation = Arc::new(Notify::new());
        let number = granted.add(party, [1], revocation.clone()).into();
        let (is_in_use, was_used) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Permit { permits: self.clone(), number, is_in_use, revocation, was_used })
    }

    /// Chooses the permit to revoke. Returns its party and its number.
    ///
    /// The party with the most permits loses the one that has been idle the longest or, if all are
    /// in use, its oldest. Unauthenticated callers lose permits first while they hold more than a
    /// quarter of all permits. An eighth is reserved for the operator. In a tie that includes the
    /// newcomer, the newcomer loses a permit; otherwise, the tied party with the oldest candidate
    /// permit does.
    fn victim<'a>(&self, granted: &'a Granted, newcomer: &Party) -> Option<(&'a Party, u64)> {
        let unknown = granted.parties().filter(|(party, ..)| !party.is_authenticated());
        let unknown_permits = unknown.map(|(_, [count], _)| count).sum::<usize>();
        let largest = |authenticated: bool| {
            let parties = granted.parties();
            let parties = parties.filter(|(party, ..)| party.is_authenticated() == authenticated);
            let unreserved = parties.map(|(party, [count], first)| {
                let reserved = if *party == Party::Operator { self.max / 8 } else { 0 };
                (count.saturating_sub(reserved), party == newcomer, Reverse(first), party)
            });
            let losers = unreserved.filter(|(count, ..)| *count > 0);
            losers.max_by_key(|&(count, is_newcomer, first, _)| (count, is_newcomer, first))
        };
        let authenticated = unknown_permits <= self.max / 4;
        let loser = largest(authenticated).or_else(|| largest(!authenticated));
        loser.map(|(.., Reverse(first), party)| (party, first))
    }
}

fn revoke(granted: &mut Granted, number: u64) {
    if let Some((_, revocation)) = granted.remove(number) {
        revocation.notify_one();
    }
}

impl Permit {
    /// Transfers the permit to another party.
    pub(crate) fn set_party(&self, party: &Party) {
        let mut granted = self.permits.granted.lock();
        let number = self.number.load(Ordering::Relaxed);
        if granted.get(number).is_some_and(|(current, _)| current != party) {
            self.insert_anew(&mut granted, party.clone());
        }
    }

    /// Marks the permit as in use.
    pub(crate) fn start_use(self: &Arc<Permit>) -> InUse {
        self.was_used.store(true, Ordering::Relaxed);
        self.set_in_use(true);
        InUse(self.clone())
    }

    /// Returns true if the permit has ever been in use.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }

    /// Waits until the permit is revoked.
    pub(crate) async fn revoked(&self) {
        self.revocation.notified().await;
    }

    fn set_in_use(&self, in_use: bool) {
        let mut granted = self.permits.granted.lock();
        let was_in_use = self.is_in_use.swap(in_use, Ordering::Relaxed);
        let current = granted.get(self.number.load(Ordering::Relaxed));
        // Unauthenticated callers gain nothing by using permits: they always lose their oldest
        // permit.
        if was_in_use != in_use
            && let Some(party) = current.map(|(party, _)| party.clone())
            && party.is_authenticated()
        {
            self.insert_anew(&mut granted, party);
        }
    }

    /// Makes the permit the newest of a party's used or unused permits, unless it was revoked.
    fn insert_anew(&self, granted: &mut Granted, party: Party) {
        let Some((_, revocation)) = granted.remove(self.number.load(Ordering::Relaxed)) else {
            return;
        };
        let is_marked = party.is_authenticated() && self.is_in_use.load(Ordering::Relaxed);
        let number = granted.number() | if is_marked { IN_USE } else { 0 };
        granted.insert(number, party, [1], revocation);
        self.number.store(number, Ordering::Relaxed);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        drop(self.permits.granted.lock().remove(self.number.load(Ordering::Relaxed)));
        self.permits.held.fetch_sub(1, Ordering::AcqRel);
        self.permits.dropped.notify_one();
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.set_in_use(false);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn at(last: u8) -> Party {
        Party::at(IpAddr::from([192, 0, 2, last]))
    }

    fn tenant(name: &str) -> Party {
        Party::Tenant(name.to_string())
    }

    fn is_revoked(permit: &Permit) -> bool {
        permit.revoked().now_or_never().is_some()
    }

    #[test]
    fn the_party_with_the_most_permits_loses_its_oldest() {
        let permits = Permits::new(8);
        let crowd: Vec<_> = (0..7).map(|_| permits.acquire(at(1))).collect();
        let other = permits.acquire(at(2));
        let _third = permits.acquire(at(3));
        assert_eq!(crowd.iter().filter(|permit| is_revoked(permit)).count(), 1);
        let more: Vec<_> = (0..20).map(|_| permits.acquire(at(1))).collect();
        assert!(!is_revoked(&other));
        assert!(is_revoked(&more[0]) && !is_revoked(&more[19]));
        assert_eq!(permits.held(), 29);
        drop((crowd, more));
        assert_eq!(permits.held(), 2);
    }

    #[test]
    fn unknown_callers_lose_permits_first_while_they_have_more_than_a_quarter() {
        let permits = Permits::new(8);
        let known: Vec<_> = (0..5).map(|_| permits.acquire(tenant("a"))).collect();
        let _unknown: Vec<_> = (0..40).map(|last| permits.acquire(at(last))).collect();
        assert_eq!(known.iter().filter(|permit| is_revoked(permit)).count(), 0);
        // Tenants reclaim permits from unauthenticated callers until these callers hold a quarter.
        let other: Vec<_> = (0..20).map(|_| permits.acquire(tenant("b"))).collect();
        assert_eq!(known.iter().filter(|permit| is_revoked(permit)).count(), 2);
        let granted = permits.granted.lock();
        let unknown = granted.parties().filter(|(party, ..)| !party.is_authenticated());
        assert_eq!(unknown.count(), 2);
        drop(granted);
        assert_eq!(other.iter().filter(|permit| !is_revoked(permit)).count(), 3);
    }

    #[test]
    fn the_operator_keeps_an_eighth() {
        let permits = Permits::new(16);
        let operator: Vec<_> = (0..3).map(|_| permits.acquire(Party::Operator)).collect();
        let _others: Vec<_> =
            (0..200).map(|name| permits.acquire(tenant(&name.to_string()))).collect();
        assert!(operator.iter().filter(|permit| is_revoked(permit)).count() <= 1);
    }

    #[test]
    fn an_authenticated_party_loses_its_unused_permit_first() {
        let permits = Permits::new(3);
        let all: Vec<_> = (0..3).map(|_| permits.acquire(tenant("a"))).collect();
        let first = all[0].start_use();
        let _second = all[1].start_use();
        let _more = permits.acquire(tenant("b"));
        assert!(is_revoked(&all[2]) && !is_revoked(&all[0]));
        drop(first);
        let _more = permits.acquire(tenant("b"));
        assert!(is_revoked(&all[0]) && !is_revoked(&all[1]));
    }

    #[test]
    fn a_request_that_authenticates_its_connection_counts_as_use() {
        let permits = Permits::new(2);
        let watching = permits.acquire(at(1));
        let _request = watching.start_use();
        watching.set_party(&tenant("a"));
        let idle = permits.acquire(tenant("a"));
        let _more = permits.acquire(tenant("b"));
        assert!(is_revoked(&idle) && !is_revoked(&watching));
    }

    #[test]
    fn a_permit_moves_to_another_party() {
        let permits = Permits::new(4);
        let permit = permits.acquire(at(1));
        permit.set_party(&tenant("a"));
        let _more: Vec<_> = (0..10).map(|_| permits.acquire(at(1))).collect();
        assert!(!is_revoked(&permit));
    }

    #[test]
    fn a_party_that_could_only_displace_itself_is_refused() {
        let permits = Permits::new(4);
        let all: Vec<_> = (0..4).filter_map(|_| permits.acquire_if_fair(tenant("a"))).collect();
        assert_eq!(all.len(), 4);
        assert!(permits.acquire_if_fair(tenant("a")).is_none());
        assert!(permits.acquire_if_fair(tenant("b")).is_some());
        assert!(is_revoked(&all[0]));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_party() {
        let of = |text: &str| Party::at(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
    }
}
