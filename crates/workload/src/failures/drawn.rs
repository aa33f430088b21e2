//! Failures and repairs drawn at random, given their mean times.

use std::collections::BTreeSet;
use std::iter::Peekable;

use pavior_kernel::{Agenda, Stream, Time};
use pavior_mesh::Grid;
use thiserror::Error;

use super::classes::MEANS;
use super::{Change, ComponentKind, FailureClass, FailureClasses, FailureEvent};
use crate::TimeUnit;

/// The reason why failures cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadFailures {
    /// A mean is out of range.
    #[error("the mean time to {what} must be from 1e-3 to 1e12 units, not {value}")]
    Mean {
        /// `failure` or `repair`.
        what: &'static str,
        /// The invalid mean.
        value: String,
    },
    /// The machine has no components of this kind.
    #[error("{machine} has no {}: it is not made of 4x4x4 cubes", kind.word())]
    Missing {
        /// The kind of component.
        kind: ComponentKind,
        /// The machine.
        machine: Grid,
    },
}

/// An endless stream of failures and repairs of a machine's components, in time order.
///
/// Each healthy component in a class fails after an exponentially distributed time, and repair
/// times are also exponential. Components are independent of each other.
///
/// Events are drawn on demand. Failures of the N components in a class form a single Poisson
/// process with rate N/MTTF, and a failure drawn for a component that is already down is dropped.
/// This does not change the distribution, because exponential times are memoryless.
///
/// With H healthy and F failed components, each event takes O(N / H) draws and O(log F) steps, and
/// only the failed components are kept in memory. If fewer than one component in 64 is healthy, the
/// healthy ones are listed and the next failure is drawn from that list. Each event then takes a
/// constant number of draws, however long repairs take. Only creating the list takes O(N) time.
///
/// Nodes use the random number streams "failures" and "repairs". Every other class has its own pair
/// of streams, so adding a class does not change the events in the other classes.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::{Change, Failures, TimeUnit};
/// use pavior::Grid;
/// let machine = Grid::torus(&[16, 16, 16])?;
/// let classes = "chip:mttf=1e6:mttr=10,cube:mttf=1000:mttr=10".parse()?;
/// let mut events = Failures::new(&machine, &classes, TimeUnit::TIME_UNIT, 1, 0)?;
/// assert_eq!(events.next().unwrap().change, Change::Fail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Failures {
    classes: Vec<Peekable<Drawn>>,
}

impl Failures {
    /// Creates the stream of events for the given replication.
    ///
    /// # Errors
    /// Returns an error if a mean is out of range, or if the machine has no components in one of
    /// the classes.
    pub fn new(
        machine: &Grid,
        classes: &FailureClasses,
        unit: TimeUnit,
        seed: u64,
        replication: u64,
    ) -> Result<Failures, BadFailures> {
        let drawn = classes.iter().map(|class| {
            let drawn = Drawn::new(machine, class, unit, seed, replication);
            drawn.map(Iterator::peekable)
        });
        Ok(Failures { classes: drawn.collect::<Result<_, _>>()? })
    }
}

impl Iterator for Failures {
    type Item = FailureEvent;

    /// Returns the next event in any class. If several events occur at the same time, repairs come
    /// before failures, and any remaining ties are broken by class order.
    fn next(&mut self) -> Option<FailureEvent> {
        let next = self.classes.iter_mut().enumerate().filter_map(|(index, class)| {
            let event = class.peek()?;
            Some(((event.at, event.change), index))
        });
        let (_, index) = next.min()?;
        self.classes[index].next()
    }
}

/// The failures and repairs in one class.
struct Drawn {
    kind: ComponentKind,
    count: u64,
    unit: TimeUnit,
    /// The mean time between failures while all components are healthy, followed by the mean time
    /// to repair, both in time units.
    between: f64,
    repair: f64,
    fail_draws: Stream,
    repair_draws: Stream,
    failed: BTreeSet<u32>,
    /// Pending repairs, as component numbers and repair times in time units.
    pending: Agenda<(u32, f64)>,
    /// The healthy components, if they are few enough to be listed.
    few: Option<Vec<u32>>,
    /// The time of the next failure, in time units. The component that fails is not drawn until
    /// then. If the healthy components are listed, the component is drawn from that list.
    next: f64,
}

/// The ratio of all components to healthy ones above which the healthy ones are listed.
const LISTED: u64 = 64;

impl Drawn {
    fn new(
        machine: &Grid,
        class: &FailureClass,
        unit: TimeUnit,
        seed: u64,
        replication: u64,
    ) -> Result<Drawn, BadFailures> {
        let FailureClass { kind, mttf, mttr } = *class;
        for (what, mean) in [("failure", mttf), ("repair", mttr)] {
            if !MEANS.contains(&mean) {
                return Err(BadFailures::Mean { what, value: mean.to_string() });
            }
        }
        let missing = || BadFailures::Missing { kind, machine: *machine };
        let count = u64::from(kind.count(machine).ok_or_else(missing)?);
        let [failures, repairs] = match kind {
            ComponentKind::Node => ["failures", "repairs"],
            ComponentKind::Cube => ["failures of cubes", "repairs of cubes"],
            ComponentKind::Switch => ["failures of switches", "repairs of switches"],
        };
        let between = mttf / count as f64;
        let mut fail_draws = Stream::new(seed, replication, failures);
        let next = fail_draws.exponential(between);
        Ok(Drawn {
            kind,
            count,
            unit,
            between,
            repair: mttr,
            fail_draws,
            repair_draws: Stream::new(seed, replication, repairs),
            failed: BTreeSet::new(),
            pending: Agenda::new(),
            few: None,
            next,
        })
    }

    fn event(&self, at: Time, number: u32, change: Change) -> FailureEvent {
        FailureEvent { at, component: self.kind.numbered(number), change }
    }

    /// Lists the healthy components if few of them remain.
    fn list(&mut self) {
        let healthy = self.count - self.failed.len() as u64;
        if self.few.is_none() && healthy * LISTED < self.count {
            let all = 0..self.count as u32;
            self.few = Some(all.filter(|number| !self.failed.contains(number)).collect());
        }
    }

    /// If the healthy components are listed, redraws the next failure so that it is after `now`.
    /// The earlier draw may be discarded at any time because exponential times are memoryless.
    fn draw_from(&mut self, now: f64) {
        let Some(few) = &self.few else { return };
        let healthy = few.len() as f64;
        if few.len() as u64 * LISTED > 2 * self.count {
            self.few = None;
            self.next = now + self.fail_draws.exponential(self.between);
        } else if few.is_empty() {
            self.next = f64::INFINITY;
        } else {
            let between = self.between * self.count as f64 / healthy;
            self.next = now + self.fail_draws.exponential(between);
        }
    }
}

impl Iterator for Drawn {
    type Item = FailureEvent;

    fn next(&mut self) -> Option<FailureEvent> {
        loop {
            let at = self.unit.time(self.next);
            if self.pending.next_time().is_some_and(|repair| repair <= at) {
                let (at, (number, now)) = self.pending.pop()?;
                self.failed.remove(&number);
                if let Some(few) = &mut self.few {
                    few.push(number);
                    self.draw_from(now);
                }
                return Some(self.event(at, number, Change::Repair));
            }
            let now = self.next;
            let number = match &mut self.few {
                None => {
                    let number = self.fail_draws.below(self.count) as u32;
                    self.next += self.fail_draws.exponential(self.between);
                    number
                }
                Some(few) => few.swap_remove(self.fail_draws.below(few.len() as u64) as usize),
            };
            if self.failed.insert(number) {
                // A repair takes at least one tick, so every failure precedes its repair.
                let back = now + self.repair_draws.exponential(self.repair);
                let tick = at.saturating_add(Time(1));
                self.pending.schedule(self.unit.time(back).max(tick), 0, (number, back));
                self.list();
                self.draw_from(now);
                return Some(self.event(at, number, Change::Fail));
            }
        }
    }
}
