//! Conservative backfilling: every waiting job has a booking, which no other job may delay.
//!
//! 1. A job is booked when it arrives. It gets nodes at the earliest time t at which the strategy
//!    can place it. The strategy is queried on a fork in which a node is taken if a running job or
//!    an earlier booking uses it at any time in `[t, t + estimate)`.
//! 2. A job starts at its booked time, on its booked nodes.
//! 3. If a job ends early, its nodes become free for the rest of its slot. The waiting jobs then
//!    move up in order of arrival: if possible, each exchanges its booking for an earlier one,
//!    either on nodes that the strategy finds or on the same nodes. This is repeated until no job
//!    moves.
//! 4. All bookings are remade in order of arrival if a booked job cannot start at its booked time,
//!    or if a running job outruns its expected end, which
//!    [`RunningJob::expected_end`](crate::RunningJob::expected_end) then extends.
//! 5. If a job was granted nodes outside the queue, any booking that needs one of these nodes
//!    before that job's expected end gives way. These bookings are remade in order of arrival, and
//!    then all jobs move up. All other bookings are kept (`granted.rs`).
//! 6. If a node fails or is repaired, or if nodes are reserved in advance, all bookings are remade.
//!
//! Promises made after step 5 or 6 count as first promises.
//!
//! ```text
//!   x  0 1 2 3              a runs until 4; b (4 nodes for 2) is booked for 4 to 6;
//!      a a c c   0 to 4     c (2 nodes for 4) ends by then and starts next to a; d (2 nodes for 5)
//!      b b b b   4 to 6     would run into b, and is booked for 6 to 11
//!      d d . .   6 to 11
//! ```
//!
//! This rule is implemented in `rule.rs`, which gets bookings from a `Profile` that tracks the free
//! nodes over time. The plain profile (`plain.rs`), available as `conservative:plain`, is a list.
//! Together with the rule, it defines the scheduler. The fast profile (`fast.rs`), which
//! `conservative` uses, finds the same bookings with fewer queries to the strategy. Tests compare
//! the two.
//!
//! The classic rule is available as `conservative:count`: a booking is a number of nodes that are
//! free for the whole estimated run time. The strategy chooses the nodes when the job is due. If
//! the strategy cannot place the job because the free nodes are scattered, younger jobs that are
//! due are tried.
//!
//! With exact estimates, no job starts later than its first booking, and no job starves. With
//! `count`, this holds only if the strategy grants by count. A job with a zero estimate is booked
//! for one tick. A job has no booking if node failures keep it from fitting on the empty machine,
//! or if no nodes are free for it until the end of time ([`Time::MAX`](pavior_kernel::Time::MAX)).
//! Such a job is tried again whenever a job ends, is given nodes or leaves the queue.
//!
//! With `promise=holds`, a job that overtook the oldest waiting job and outran its estimate is
//! expected to end at any moment, so it does not postpone bookings.
//!
//! With `depth=N`, only the oldest N waiting jobs have bookings, as is usual in practice. Younger
//! jobs wait until they are among the oldest N. This bounds the cost, but the younger jobs do not
//! start even if they would fit alongside the bookings.
//!
//! Cost, for q bookings and r running jobs: the timeline of free nodes (`timeline/`) has T <=
//! 2(q+r)+1 segments, of which d <= q begin when nodes stop being free. If the strategy's answers
//! are monotone, a booking costs one search and O(d + log T) comparisons of O(N/64) words each. For
//! boxes, if a job that is no larger and no longer is known to be refused until some time, d
//! excludes the segments before the latest such time (`refusals.rs`). With other strategies, a
//! booking costs one search for each time at which enough nodes are free throughout. When a job
//! ends early, the same cost is incurred again for each job that can benefit. Jobs at least as
//! large and long as one refused near the same freed slot cannot benefit (`freed.rs`). With
//! `count`, the timeline is a tree (`steps.rs`): a booking costs O(log T), plus O(log T) for each
//! earlier gap that is too short.
//!
//! Source: Feitelson & Mu'alem Weil, "Utilization and predictability in scheduling the IBM SP2 with
//! backfilling", IPPS 1998, for node counts. Booking specific nodes is our addition.

mod by_count;
mod by_nodes;
mod fast;
mod freed;
mod granted;
mod plain;
mod question;
mod refusals;
mod rule;
mod slot;
mod steps;
mod timeline;
#[cfg(test)]
mod unaided;

use pavior_kernel::{OptionSpec, Values};

use crate::shared::promise;
use crate::{BuildScheduler, Entry, SchedulerKind};
use by_count::ByCount;
use by_nodes::ByNodes;
use fast::Fast;
use plain::Plain;
use rule::Conservative;

pub(crate) static ENTRY: Entry = Entry {
    name: "conservative",
    title: "Conservative backfilling",
    source: "Feitelson & Mu'alem Weil 1998",
    options: &[
        OptionSpec {
            key: "reserve",
            values: Values::OneOf(&["geometry", "count", "plain"]),
            default: "geometry",
            meaning: "the kind of booking: for specific nodes (geometry) or just a node count \
                (count); plain is geometry without shortcuts, for comparison",
            bare: true,
        },
        OptionSpec {
            key: "depth",
            values: Values::Text("all, or a positive integer", is_depth),
            default: "all",
            meaning: "the number of waiting jobs, oldest first, that get bookings",
            bare: false,
        },
        promise::OPTION,
    ],
    variants: &["", "depth=3", "count", "count:depth=3", "plain", "promise=holds"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            let depth = options.get("depth").parse().unwrap_or(usize::MAX);
            let holds = promise::holds(options);
            match options.get("reserve") {
                "count" => Box::new(Conservative::<Fast<ByCount>>::new(depth, holds)),
                "plain" => Box::new(Conservative::<Plain>::new(depth, holds)),
                _ => Box::new(Conservative::<Fast<ByNodes>>::new(depth, holds)),
            }
        }),
    },
};

fn is_depth(text: &str) -> bool {
    text == "all" || text.parse::<usize>().is_ok_and(|depth| depth > 0)
}
