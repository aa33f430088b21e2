//! Conservative backfilling: every waiting job has a reservation, and none is delayed. There are
//! two ways to reserve.
//!
//! `geometry` (the default): a job is booked when it arrives: the earliest time t, and the nodes,
//! at which the strategy places it on a fork in which every node busy at any time of `[t, t +
//! estimate)` is taken once, be it by a running job until its expected end or by an earlier
//! booking. It starts at its time, on its nodes. When a job ends early, its nodes are free for the
//! rest of its time, and every waiting job, in the order of arrival, gives up its booking for an
//! earlier one, which the strategy finds or which has the same nodes; and so again, until no job
//! moves. A job said to take no time is booked for a tick.
//!
//! ```text
//!   x  0 1 2 3               a runs until 4; b (4 nodes for 2) is booked for 4 to 6;
//!      a a c c   0 to 4      c (2 nodes for 4) ends by then and starts beside a; d (2 nodes for 5)
//!      b b b b   4 to 6      would run into b, and is booked for 6 to 11
//!      d d . .   6 to 11
//! ```
//!
//! `count` is the classic rule, which looks at numbers of nodes alone: a booking is the earliest
//! time from which on enough nodes are free for as long as the job is estimated to run, and where
//! they are is the strategy's to say when the time has come. If it refuses, because they are
//! scattered, the younger jobs whose time has come are tried.
//!
//! With exact estimates no job starts later than its first booking, and none starves; by count that
//! holds for strategies that grant by count. When a running job outruns what was expected of it
//! (see `shared/ends.rs` for what then is), or a booking's time passes in vain, all bookings are
//! made anew, in the order of arrival. So they are when a node fails or is repaired, or a job is
//! started beside the scheduler, and what is promised then counts as the first promise. A job that
//! would not fit even if all others were gone (because nodes failed) has no booking until a repair;
//! a strategy that misses free nodes, and so may find some at another moment, is asked again for it
//! whenever a job departs.
//!
//! With `depth=N` only the oldest N waiting jobs have bookings, as in practice; the others wait
//! until they are among them, whatever is free. That bounds the cost, and what is lost is that a
//! younger job starts beside them.
//!
//! Cost for q waiting jobs (at most the depth) and r running ones: the profile has T <= 2(q + r) +
//! 1 segments, of which d <= q begin where nodes stop being free: dips. With a strategy that
//! refuses on fewer nodes what it refuses on more, a booking costs O(d + log T) questions of
//! O(N/64) words each, and one search; with another, one at each time at which enough nodes are
//! free throughout. An early end costs that for each job and stretch that can gain: enough nodes
//! are free throughout, and one of them became free. Where the strategy refuses only where none of
//! its boxes is free, only those boxes are looked at that share a node with what became free. The
//! strategy is forked once. By count the profile is a tree: a booking costs O(log T), and as much
//! for each stretch before it that is too short, and no question; see `shared/steps.rs`.
//!
//! Source: Feitelson & Mu'alem Weil, "Utilization and predictability in scheduling the IBM SP2 with
//! backfilling", IPPS 1998, for numbers of nodes. Reserving in space is ours.

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};

use crate::shared::plan::{ByCount, ByNodes, Ledger, Plan};
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "conservative",
    title: "Conservative backfilling",
    source: "Feitelson & Mu'alem Weil 1998",
    options: &[
        OptionSpec {
            key: "reserve",
            values: Values::OneOf(&["geometry", "count"]),
            default: "geometry",
            meaning: "whether a booking is nodes for a time, or a number of nodes",
            bare: true,
        },
        OptionSpec {
            key: "depth",
            values: Values::Text("all or an integer from 1", is_depth),
            default: "all",
            meaning: "the number of waiting jobs, from the oldest, that have bookings",
            bare: false,
        },
    ],
    variants: &["", "depth=3", "count", "count:depth=3"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            let depth = options.get("depth").parse().unwrap_or(usize::MAX);
            match options.get("reserve") {
                "count" => Box::new(Conservative::<ByCount> { plan: None, broken: 0, depth }),
                _ => Box::new(Conservative::<ByNodes> { plan: None, broken: 0, depth }),
            }
        }),
    },
};

fn is_depth(text: &str) -> bool {
    text == "all" || text.parse::<usize>().is_ok_and(|depth| depth > 0)
}

struct Conservative<L: Ledger> {
    plan: Option<Plan<L>>,
    broken: u64,
    /// The most bookings.
    depth: usize,
}

impl<L: Ledger> Scheduler for Conservative<L> {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let mut plan = self.plan.take().filter(|plan| plan.health == view.machine().health());
        if let Some(plan) = &mut plan {
            plan.advance(now, queue, running, view);
        }
        // Jobs that were started beside the scheduler may lie on booked nodes.
        let plan = plan.filter(|plan| plan.knows_all(running));
        let plan = plan.unwrap_or_else(|| Plan::new(now, queue, running, view.machine()));
        let plan = self.plan.insert(plan);
        plan.book_arrivals(now, queue, self.depth, view);
        let (start, promise) = plan.start_due(now, queue, view)?;
        self.broken += u64::from(promise < now);
        plan.state = view.machine().state() + 1;
        Some(start)
    }

    fn standing(&self, now: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(self.plan.as_ref()?.standing(now, queue))
    }

    fn broken_guarantees(&self) -> u64 {
        self.broken
    }
}
