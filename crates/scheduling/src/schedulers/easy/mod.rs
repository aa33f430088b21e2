//! EASY backfilling: the head of the queue is promised a start time, and no other job may delay it.
//!
//! 1. If the head fits, it starts.
//! 2. Otherwise, it gets a reservation of specific nodes. To find them, the running jobs' expected
//!    ends are replayed on a fork of the machine until the strategy places the head.
//! 3. The other jobs are tried in order of arrival. A job that ends by the reserved time starts
//!    wherever the strategy places it. Other jobs are placed on a fork in which the reserved nodes
//!    are taken.
//!
//! This rule is implemented in `rule.rs`, which uses a `Search` for reservations and candidates.
//! The plain search (`plain.rs`), available as `easy:plain`, caches nothing and, with the rule,
//! defines the scheduler. The fast search (`fast.rs`), which `easy` uses, finds the same results
//! with fewer queries to the strategy. Tests compare their decisions.
//!
//! The classic rule, in which the reservation is a number of nodes, is available as `easy:count`
//! (`count.rs`). Promises are always kept if the strategy grants by count, but not if it is
//! contiguous, because the nodes free at the reserved time may be scattered:
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. The head h requests 3 in a row; c requests 1 until 20.
//!      a a . . b b    By count, h fits at 4 with 1 to spare, so c starts at 2. At 4, three nodes
//!      . . c . b b    are free, but h must wait for b. Reserving nodes keeps 0 to 2 for h at 4,
//!      a a h c b b    and puts c at 3.
//! ```
//!
//! With exact estimates and any strategy, no head starts later than first promised: the reserved
//! nodes are free at the reserved time, and the head can be placed there. Node failures void
//! promises. Only the head is protected: another job can be delayed until it becomes the head.
//!
//! Differences from the usual description of the rule:
//!
//! - A reservation is kept until the head changes, or until the end of a job makes an earlier one
//!   possible. It is also dropped if its time passes without the head starting because a job outran
//!   its estimate ([`RunningJob::expected_end`](crate::RunningJob::expected_end)).
//! - The head may also start before the reserved time, once all its reserved nodes are free.
//! - A job given nodes outside the queue voids the reservation only if it is expected to hold a
//!   reserved node at the reserved time.
//! - With `promise=holds`, a job that overtook the head and outran its estimate is expected to end
//!   at any moment, so it does not postpone the promise to the head.
//! - A head that would not fit on the empty machine because of failed nodes has no reservation, and
//!   the other jobs start freely.
//!
//! Cost, for q waiting and r running jobs: one expensive event is a new head. The other is the end
//! of a job that was expected to run at the reserved time, if the head fits on its nodes. Such
//! events cost O(r) changes to a fork, and O(log r) searches on it if the strategy's answers are
//! monotone (`eve.rs`). With other strategies, every end of a job costs O(r) searches on one fork.
//! Each of these events is followed by O(q) lookups and a search for each distinct request. An
//! arrival in between costs O(log q).
//!
//! Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem & Feitelson, IEEE TPDS
//! 12(6), 2001, for the rule by count. Reserving specific nodes is our addition.

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
            meaning: "reservation of specific nodes (geometry) or only of a number of nodes \
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
