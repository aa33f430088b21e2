//! Shortest Service Demand first: only the waiting job with the smallest demand may start.
//!
//! The demand is known in advance: it is the run time, the number of messages or, for logs, the
//! estimate. Ties go to the older job. If the shortest job does not fit, it blocks all others, as
//! the head does under FCFS. The papers leave this open; with this interpretation, SSD differs from
//! FCFS only in the order of jobs. Long jobs starve while shorter ones keep arriving. A decision
//! takes one query and O(log q) time for q waiting jobs, or O(q log q) after a failure.
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
