//! A bounded number of places for connections and watchers, shared fairly. Every place belongs to a
//! party: the tenant, the operator, or for an unauthenticated caller the peer's address. When all
//! places are taken, the party with the most places gives one up, so a party with less than an
//! equal share loses nothing.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::core::Caller;
use crate::core::shares::Shares;

/// A party that shares places with others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Party {
    /// An unauthenticated caller, by address; IPv6 addresses count by their 64-bit network.
    Unknown(IpAddr),
    /// A tenant.
    Tenant(String),
    /// The operator.
    Operator,
}

impl Party {
    /// Returns the party of an unauthenticated caller.
    pub(crate) fn at(address: IpAddr) -> Party {
        Party::Unknown(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns the party of an authenticated caller.
    pub(crate) fn of(caller: &Caller) -> Party {
        caller.tenant.clone().map_or(Party::Operator, Party::Tenant)
    }

    fn is_known(&self) -> bool {
        !matches!(self, Party::Unknown(_))
    }
}

type Taken = Shares<Party, Arc<Notify>, 1>;

/// A bounded number of places.
pub(crate) struct Places {
    most: usize,
    /// The places by party, with the signals that tell their holders to leave.
    taken: Mutex<Taken>,
    /// The number of holders that are still present, including those told to leave.
    held: AtomicUsize,
    left: Notify,
}

/// The bit that is set in a place's number while it is in use. A party first gives up places with
/// lower numbers.
const IN_USE: u64 = 1 << 63;

/// A place, held until it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    /// Changed only while the list of places is locked.
    number: AtomicU64,
    leave: Arc<Notify>,
    asked: AtomicBool,
}

/// Keeps a place marked as in use until this is dropped.
pub(crate) struct InUse(Arc<Place>);

impl Places {
    pub(crate) fn new(most: usize) -> Arc<Places> {
        let taken = Mutex::new(Taken::default());
        Arc::new(Places { most, taken, held: AtomicUsize::new(0), left: Notify::new() })
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns the number of holders, including those told to leave.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Returns a place. If none is free, the party with the most places, possibly `party` itself,
    /// gives one up.
    pub(crate) fn enter(self: &Arc<Places>, party: Party) -> Arc<Place> {
        let mut taken = self.taken.lock();
        if taken.total() >= [self.most]
            && let Some((_, number)) = self.victim(&taken, &party)
        {
            dismiss(&mut taken, number);
        }
        self.add(&mut taken, party)
    }

    /// Returns a place, unless only `party` itself could give one up.
    pub(crate) fn enter_if_fair(self: &Arc<Places>, party: Party) -> Option<Arc<Place>> {
        let mut taken = self.taken.lock();
        if taken.total() >= [self.most] {
            let (_, number) = self.victim(&taken, &party).filter(|(of, _)| **of != party)?;
            dismiss(&mut taken, number);
        }
        Some(self.add(&mut taken, party))
    }

    /// Waits until the number of holders is within the limit.
    pub(crate) async fn settled(&self) {
        self.down_to(self.most).await;
    }

    /// Waits until there are at most `most` holders.
    pub(crate) async fn down_to(&self, most: usize) {
        while self.held() > most {
            self.left.notified().await;
        }
    }

    fn add(self: &Arc<Places>, taken: &mut Taken, party: Party) -> Arc<Place> {
        self.held.fetch_add(1, Ordering::AcqRel);
        let leave = Arc::new(Notify::new());
        let number = taken.add(party, [1], leave.clone()).into();
        let places = self.clone();
        Arc::new(Place { places, number, leave, asked: AtomicBool::new(false) })
    }

    /// Chooses the place to give up. Returns its party and its number.
    ///
    /// The party with the most places gives up the one that has been unused for longest, or else
    /// its oldest. Unauthenticated callers come first while they have more than a quarter of all
    /// places. An eighth is reserved for the operator. Among parties with equally many places, the
    /// newcomer's gives one up, or else the one with the oldest first place.
    fn victim<'a>(&self, taken: &'a Taken, newcomer: &Party) -> Option<(&'a Party, u64)> {
        let unknown = taken.parties().filter(|(party, ..)| !party.is_known());
        let first_known = unknown.map(|(_, [count], _)| count).sum::<usize>() <= self.most / 4;
        let largest = |known: bool| {
            let of = taken.parties().filter(|(party, ..)| party.is_known() == known);
            let counted = of.map(|(party, [count], first)| {
                let own = if *party == Party::Operator { self.most / 8 } else { 0 };
                (count.saturating_sub(own), party == newcomer, Reverse(first), party)
            });
            let counted = counted.filter(|(count, ..)| *count > 0);
            counted.max_by_key(|&(count, same, first, _)| (count, same, first))
        };
        let (.., Reverse(first), party) = largest(first_known).or_else(|| largest(!first_known))?;
        Some((party, first))
    }
}

fn dismiss(taken: &mut Taken, number: u64) {
    if let Some((_, leave)) = taken.remove(number) {
        leave.notify_one();
    }
}

impl Place {
    /// Moves the place to another party.
    pub(crate) fn becomes(&self, party: &Party) {
        let mut taken = self.places.taken.lock();
        let number = self.number.load(Ordering::Relaxed);
        if taken.get(number).is_some_and(|(of, _)| of != party)
            && let Some((_, leave)) = taken.remove(number)
        {
            taken.insert(number, party.clone(), [1], leave);
        }
    }

    pub(crate) fn in_use(self: &Arc<Place>) -> InUse {
        self.asked.store(true, Ordering::Relaxed);
        self.set_in_use(true);
        InUse(self.clone())
    }

    /// Returns true if the place has ever been in use.
    pub(crate) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Waits until the place must be given up.
    pub(crate) async fn given_up(&self) {
        self.leave.notified().await;
    }

    fn set_in_use(&self, in_use: bool) {
        let mut taken = self.places.taken.lock();
        let number = self.number.load(Ordering::Relaxed);
        let changes = in_use == (number & IN_USE == 0);
        // Unauthenticated callers gain nothing by using their places: the oldest is given up.
        if changes
            && taken.get(number).is_some_and(|(party, _)| party.is_known())
            && let Some((party, leave)) = taken.remove(number)
        {
            let number = taken.number() | if in_use { IN_USE } else { 0 };
            taken.insert(number, party, [1], leave);
            self.number.store(number, Ordering::Relaxed);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.places.taken.lock().remove(self.number.load(Ordering::Relaxed)));
        self.places.held.fetch_sub(1, Ordering::AcqRel);
        self.places.left.notify_one();
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

    fn given_up(place: &Place) -> bool {
        place.given_up().now_or_never().is_some()
    }

    #[test]
    fn whoever_has_most_gives_up_the_oldest() {
        let places = Places::new(8);
        let crowd: Vec<_> = (0..7).map(|_| places.enter(at(1))).collect();
        let other = places.enter(at(2));
        let _third = places.enter(at(3));
        assert_eq!(crowd.iter().filter(|place| given_up(place)).count(), 1);
        let more: Vec<_> = (0..20).map(|_| places.enter(at(1))).collect();
        assert!(!given_up(&other));
        assert!(given_up(&more[0]) && !given_up(&more[19]));
        assert_eq!(places.held(), 29);
        drop((crowd, more));
        assert_eq!(places.held(), 2);
    }

    #[test]
    fn known_callers_stay_while_unknown_ones_have_more_than_a_quarter() {
        let places = Places::new(8);
        let known: Vec<_> = (0..5).map(|_| places.enter(tenant("a"))).collect();
        let _unknown: Vec<_> = (0..40).map(|last| places.enter(at(last))).collect();
        assert_eq!(known.iter().filter(|place| given_up(place)).count(), 0);
        // A tenant takes places back from unauthenticated callers, until a quarter remains.
        let other: Vec<_> = (0..20).map(|_| places.enter(tenant("b"))).collect();
        assert_eq!(known.iter().filter(|place| given_up(place)).count(), 2);
        let taken = places.taken.lock();
        let unknown = taken.parties().filter(|(party, ..)| !party.is_known());
        assert_eq!(unknown.count(), 2);
        drop(taken);
        assert_eq!(other.iter().filter(|place| !given_up(place)).count(), 3);
    }

    #[test]
    fn the_operator_keeps_an_eighth() {
        let places = Places::new(16);
        let operator: Vec<_> = (0..3).map(|_| places.enter(Party::Operator)).collect();
        let _others: Vec<_> =
            (0..200).map(|name| places.enter(tenant(&name.to_string()))).collect();
        assert!(operator.iter().filter(|place| given_up(place)).count() <= 1);
    }

    #[test]
    fn of_a_known_party_what_is_not_in_use_goes_first() {
        let places = Places::new(3);
        let all: Vec<_> = (0..3).map(|_| places.enter(tenant("a"))).collect();
        let first = all[0].in_use();
        let _second = all[1].in_use();
        let _more = places.enter(tenant("b"));
        assert!(given_up(&all[2]) && !given_up(&all[0]));
        drop(first);
        let _more = places.enter(tenant("b"));
        assert!(given_up(&all[0]) && !given_up(&all[1]));
    }

    #[test]
    fn a_place_changes_its_party() {
        let places = Places::new(4);
        let one = places.enter(at(1));
        one.becomes(&tenant("a"));
        let _more: Vec<_> = (0..10).map(|_| places.enter(at(1))).collect();
        assert!(!given_up(&one));
    }

    #[test]
    fn where_a_party_would_only_push_itself_out_it_is_refused() {
        let places = Places::new(4);
        let all: Vec<_> = (0..4).filter_map(|_| places.enter_if_fair(tenant("a"))).collect();
        assert_eq!(all.len(), 4);
        assert!(places.enter_if_fair(tenant("a")).is_none());
        assert!(places.enter_if_fair(tenant("b")).is_some());
        assert!(given_up(&all[0]));
    }

    #[test]
    fn addresses_of_a_network_are_one_party() {
        let of = |text: &str| Party::at(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
    }
}
