//! EASY backfilling: the head of the queue is promised a start time, and no other job may delay it.
//!
//! 1. If the head fits, it starts.
//! 2. Otherwise it gets a reservation: nodes from a given time on. To find them, the expected ends
//!    of the running jobs are replayed on a fork of the machine until the strategy places the head
//!    there.
//! 3. The other jobs are tried in order of arrival. A job that ends by the reserved time starts
//!    wherever the strategy places it. Any other job is placed by the strategy on a fork in which
//!    the reserved nodes are taken.
//!
//! `rule.rs` implements this rule. It asks a `Search` for reservations and candidates. The plain
//! search (`plain.rs`) caches nothing. Together with the rule, it defines the scheduler, and is
//! available as `easy:plain`. The fast search (`fast.rs`), which `easy` uses, finds the same
//! results with fewer questions to the strategy. Tests compare the decisions of both.
//!
//! `easy:count` (`count.rs`) is the classic rule: the reservation is a number of nodes. Promises
//! are always kept if the strategy grants by count, but not if it is contiguous, because the nodes
//! that are free at the reserved time may be scattered:
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. The head h requests 3 in a row; c requests 1 until 20.
//!      a a . . b b    By count, h fits at 4 with 1 to spare, so c starts at 2. At 4, three nodes
//!      . . c . b b    are free, but h must wait for b. Reserving nodes keeps 0 to 2 for h at 4,
//!      a a h c b b    and puts c at 3.
//! ```
//!
//! With exact estimates, no head starts later than first promised, with any strategy: the reserved
//! nodes are free at the reserved time, and the head can be placed there. Node failures void
//! promises. Only the head is protected: another job can be delayed until it becomes the head.
//!
//! Differences from the usual description of the rule:
//!
//! - A reservation is kept until the head changes, a job ends in a way that makes an earlier one
//!   possible, or its time passes without the head starting. A running job may outrun its estimate:
//!   see [`RunningJob::expected_end`](crate::RunningJob::expected_end).
//! - The head may also start before the reserved time, once all its reserved nodes are free.
//! - A job that was given nodes outside the queue voids the reservation only if it is expected to
//!   hold one of the reserved nodes at the reserved time.
//! - With `promise=holds`, if a job that overtook the head outruns its estimate, it is expected to
//!   end at any moment, so the promise to the head is not postponed for it.
//! - If the head would not fit on the empty machine because nodes have failed, it has no
//!   reservation, and the other jobs start freely.
//!
//! Cost, for q waiting and r running jobs: the expensive events are a new head, and the end of a
//! job that was expected to run at the reserved time, if the head fits on its nodes. They cost O(r)
//! changes to a fork, and O(log r) searches on it if every request that the strategy refuses is
//! also refused with fewer free nodes (`eve.rs`). With other strategies, each time a job ends, O(r)
//! searches are made on one fork. Each of these events is followed by O(q) lookups, and a search
//! for each distinct request. An arrival in between costs O(log q).
//!
//! Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem & Feitelson, IEEE TPDS
//! 12(6), 2001, for the rule by count. Reserving nodes instead of their number is our addition.

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
            meaning: "the head's reservation: specific nodes, or only a number of nodes; plain is \
                      geometry without shortcuts, for comparison",
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
