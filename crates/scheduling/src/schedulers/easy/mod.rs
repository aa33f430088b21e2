//! EASY backfilling: the head of the queue is promised a start time, and no other job may delay it.
//!
//! 1. If the head fits, it starts.
//! 2. Otherwise, the head gets a reservation of specific nodes. These are found by replaying the
//!    running jobs' expected ends on a fork of the machine until the strategy can place the head.
//! 3. The other jobs are tried in order of arrival. A job that would end by the reserved time
//!    starts wherever the strategy places it. Any other job is placed on a fork in which the
//!    reserved nodes are taken.
//!
//! The rule is implemented in `rule.rs`, which uses a `Search` to find reservations and candidates.
//! The plain search (`plain.rs`), available as `easy:plain`, caches nothing. Together with the
//! rule, it defines the scheduler. The fast search (`fast.rs`), which `easy` uses, returns the same
//! results with fewer queries to the strategy. Tests compare the two.
//!
//! The classic rule, in which the reservation is a number of nodes, is available as `easy:count`
//! (`count.rs`). It keeps all promises if the strategy grants by count. With a contiguous strategy,
//! it may break some because the nodes free at the reserved time may be scattered:
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. The head h requests 3 in a row; c requests 1 until 20.
//!      a a . . b b    By count, h fits at 4 with 1 to spare, so c starts at 2. At 4, three nodes
//!      . . c . b b    are free, but h must wait for b. Reserving nodes keeps 0 to 2 for h at 4,
//!      a a h c b b    and puts c at 3.
//! ```
//!
//! With exact estimates and any strategy, no head starts later than first promised: the reserved
//! nodes are free at the reserved time, and the head can be placed on them. Node failures void
//! promises. Only the head is protected: another job can be delayed until it becomes the head.
//!
//! This rule differs from its usual description in these ways:
//!
//! - A reservation is kept until the head changes, or until a job's end makes an earlier
//!   reservation possible. It is also dropped if a job outruns its estimate and the reserved time
//!   therefore passes before the head can start
//!   ([`RunningJob::expected_end`](crate::RunningJob::expected_end)).
//! - The head may also start before the reserved time if all its reserved nodes are free.
//! - A job that was granted nodes outside the queue voids the reservation only if that job is
//!   expected to hold a reserved node at the reserved time.
//! - With `promise=holds`, a job that overtook the head and outran its estimate is expected to end
//!   at any moment, so it does not postpone the head's promised start.
//! - If the head would not fit on the empty machine because of failed nodes, it has no reservation,
//!   and the other jobs start freely.
//!
//! Cost, for q waiting and r running jobs: two events are expensive. One is a new head; the other
//! is the end of a job that was expected to run at the reserved time, if the head fits once that
//! job's nodes are free. Each costs O(r) changes to a fork and, if the strategy's answers are
//! monotone, O(log r) searches on that fork (`eve.rs`). With other strategies, every end of a job
//! costs O(r) searches on one fork. Each of these events is followed by O(q) lookups and a search
//! for each distinct request. An arrival in between costs O(log q).
//!
//! Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; for the count rule, Mu'alem &
//! Feitelson, IEEE TPDS 12(6), 2001. Reserving specific nodes is our addition.

mod count;
mod eve;
mod fast;
mod plain;
mod replay;
mod rule;

use pavior_kernel::{OptionSpec, Values};

use crate::shared::promise;
use crate::{BuildScheduler, Entry, SchedulerKind};
use count::EasyByCount;
use fast::Fast;
use plain::Plain;
use rule::Easy;

pub(crate) static ENTRY: Entry = Entry {
    name: "easy",
    title: "EASY backfilling",
    source: "Lifka 1995; Mu'alem & Feitelson 2001",
    options: &[
        OptionSpec {
            key: "reserve",
            values: Values::OneOf(&["geometry", "count", "plain"]),
            default: "geometry",
            meaning: "the kind of reservation: for specific nodes (geometry) or just a node count \
                (count); plain is geometry without shortcuts, for comparison",
            bare: true,
        },
        promise::OPTION,
    ],
    variants: &["", "count", "plain", "promise=holds", "count:promise=holds"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            let holds = promise::holds(options);
            match options.get("reserve") {
                "count" => Box::new(EasyByCount::new(holds)),
                "plain" => Box::new(Easy::<Plain>::new(holds)),
                _ => Box::new(Easy::<Fast>::new(holds)),
            }
        }),
    },
};
