//! Shortest Service Demand first: only the waiting job with the smallest demand may start.
//!
//! The demand is known in advance: the run time, the number of messages or, for logs, the estimate.
//! Ties go to the older job. If the shortest job does not fit, it blocks all others, as the head
//! does under FCFS. The papers do not specify this; with this interpretation, SSD differs from FCFS
//! only in the order. Long jobs starve while shorter ones keep arriving. A decision takes O(log q)
//! time for q waiting jobs, or O(q log q) after a failure, and one query.
//!
//! Source: the GABL paper, which attributes the rule to Krueger, Lai & Dixit-Radiya, IEEE TPDS
//! 5(5), 1994 (whose contribution is [Scan](super::scan)).

use crate::priority::LeastFirst;
use crate::{BuildScheduler, Entry, SchedulerKind};

pub(crate) static ENTRY: Entry = Entry {
    name: "ssd",
    title: "Shortest service demand first",
    source: "Krueger, Lai & Dixit-Radiya 1994",
    options: &[],
    variants: &[""],
    does: SchedulerKind {
        build: BuildScheduler::Function(|_| Box::new(LeastFirst::new(|job| job.estimate))),
    },
};
