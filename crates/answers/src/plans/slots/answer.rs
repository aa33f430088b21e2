//! Slot counts: the current count, the next increase, and the count after moves.

use pavior_kernel::Time;
use pavior_mesh::JobId;

use super::{NextSlot, Slots, next_slot, slots};
use crate::{Defragmented, SearchLimits, Shape, Snapshot, Weights, defragment};

/// The disjoint free boxes of the given shapes that fit now and later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotsAnswer {
    /// The boxes free now.
    pub now: Slots,
    /// The first time at which more boxes fit, if known.
    pub next: Option<NextSlot>,
    /// The boxes of the first shape that are free after some jobs move, if requested.
    pub after: Option<Defragmented>,
}

impl SlotsAnswer {
    /// Counts the boxes that fit, in any mixture of the shapes. `budget` limits each count, and
    /// `end` returns a job's expected end. `moves` limits the job moves to plan; if it is `None`,
    /// no moves are planned. The cost is that of [`slots`], [`next_slot`] and [`defragment`].
    ///
    /// ```
    /// # mod pavior { pub use pavior_answers as answers;
    /// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
    /// use pavior::answers::{SearchLimits, Shape, SlotsAnswer, Snapshot};
    /// use pavior::{Cuboid, JobId, Machine, Placement, Time};
    ///
    /// let mut machine = Machine::new("mesh:4x2".parse()?, "bf")?;
    /// machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([1, 0], [1, 2])))?;
    /// let (snapshot, limits) = (Snapshot::of(&machine), SearchLimits::jobs(1));
    /// let (shapes, end) = ([Shape::new([3, 2, 1])], |_| Some(Time(9)));
    /// let answer = SlotsAnswer::of(&snapshot, &shapes, end, limits.budget, Some(limits));
    /// assert_eq!((answer.now.bound, answer.next.map(|next| next.at)), (0, Some(Time(9))));
    /// assert_eq!(answer.after.map(|after| after.slots().boxes.len()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(
        snapshot: &Snapshot,
        shapes: &[Shape],
        end: impl Fn(JobId) -> Option<Time>,
        budget: u64,
        moves: Option<SearchLimits>,
    ) -> SlotsAnswer {
        let now = slots(snapshot.free(), shapes, budget);
        let next = next_slot(snapshot, shapes, &now, end, budget);
        let after = moves.zip(shapes.first()).map(|(limits, &shape)| {
            defragment(snapshot, shape, &Weights::nodes(snapshot), &limits)
        });
        SlotsAnswer { now, next, after }
    }

    /// Describes the answer in sentences: the number of boxes that fit now, after the moves, and
    /// later. `size` is the requested size, such as `size 4x2` or `8 nodes`.
    pub fn lines(&self, size: &str, time: impl Fn(Time) -> String) -> Vec<String> {
        let mut lines = vec![format!("Now: {}.", self.now.clause(size))];
        lines.extend(self.after.as_ref().map(|after| match after.plan.moves.as_slice() {
            [] => "No moves were found that free more boxes.".to_string(),
            _ => format!("After the moves: {}.", after.slots().clause(size)),
        }));
        lines.extend(self.next.as_ref().map(|next| {
            let latest = if next.proven { "" } else { " or earlier" };
            format!("At {}{latest}: {}.", time(next.at), next.slots.clause(size))
        }));
        lines
    }
}

impl Slots {
    fn clause(&self, size: &str) -> String {
        match (self.boxes.len(), self.bound as usize) {
            (0, 0) => format!("no box of {size} is free"),
            (1, 1) => format!("1 box of {size} is free"),
            (found, bound) if found == bound => {
                format!("{found} boxes of {size} fit simultaneously")
            }
            (found, bound) => {
                format!("at least {found} and at most {bound} boxes of {size} fit simultaneously")
            }
        }
    }
}
