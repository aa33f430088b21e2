//! Shortest Service Demand first: the waiting job with the least demand, or none.
//!
//! The demand is known beforehand: the run time or the number of messages, on logs the estimate.
//! Ties go to the older job. A shortest job that does not fit blocks all others, as the head does
//! under FCFS; the papers do not say, and this is the reading that changes the order alone. Long
//! jobs starve while shorter ones keep coming. O(log q) for q waiting jobs and one question, a
//! decision; O(q log q) after a failure.
//!
//! Source: named by the GABL paper after Krueger, Lai & Dixit-Radiya, IEEE TPDS 5(5), 1994 (whose
//! own contribution is [Scan](super::scan)).

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
