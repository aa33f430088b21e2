//! Job requests, synthetic job streams, job logs, and component failures.
//!
//! - [`Ask`] parses a caller's request, and [`Shaper`] chooses a shape for a request without one.
//! - [`SyntheticJobs`] is an endless stream of random jobs. [`traces`] reads and writes job logs,
//!   [`inspect`] summarizes them, and a [`Generator`] creates synthetic ones.
//! - [`Failures`] generates random component failures and repairs.
//!
//! ```
//! use pavior::workload::traces::{ReadOptions, Record, swf};
//! use pavior::workload::{Synthetic, SyntheticJobs};
//!
//! let jobs = SyntheticJobs::new(&Synthetic::at_load(0.8), &"mesh:16x16".parse()?, 1, 0)?;
//! assert_eq!(jobs.take(3).count(), 3);
//!
//! let log = "; UnixStartTime: 0\n1 0 5 60 4 -1 -1 4 90 -1 1 1 1 -1 1 -1 -1 -1\n";
//! let trace = swf::read(log.as_bytes(), &ReadOptions::default())?;
//! assert_eq!(trace.records.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_workload::{
    ArrivalProcess, Arrivals, Ask, AskFault, BadFailures, Change, Class, Component, ComponentKind,
    Condition, DrawService, DrawSides, FailureClass, FailureClasses, FailureEvent, Failures,
    Family, FreedomRule, Gaps, Generator, Job, JobRule, Lublin, LublinJobs, ReservedNodes,
    SWITCHES, Selection, Service, ServiceDistribution, ShapeRule, Shaper, SideDistribution,
    Synthetic, SyntheticError, SyntheticJobs, TimeUnit, freedom_named, read_failures,
    read_reservations,
};

pub mod hosts {
    //! Node names, and patterns that expand to lists of names.

    pub use pavior_workload::hosts::{Hosts, expand, of_pattern};
}

pub mod inspect {
    //! Summaries of logs: sizes, run times, arrivals, and skipped lines.

    pub use pavior_workload::inspect::{
        Arrivals, Bin, Class, ClassCount, Clock, DependencyCounts, LineNumbers, LogSummary,
        NameCount, Skipped, Spread, Week,
    };
}

pub mod traces {
    //! Job logs: their formats, their records, and the jobs replayed from them.
    //!
    //! Readers accept any `BufRead` and never open files. Use the `files` feature to open them.

    pub use pavior_workload::traces::{
        Dependencies, Dependency, Estimates, Event, Field, Filter, Format, Header, LineCount,
        LineError, Lines, Link, Names, Note, Predecessor, ReadError, ReadOptions, Record, Replay,
        Report, Skip, Tags, Trace, TraceJobs, link_sessions,
    };

    pub mod batsim {
        //! Batsim workloads, in JSON.
        pub use pavior_workload::traces::batsim::{Version, read, write};
    }
    pub mod kubectl {
        //! The output of `kubectl get jobs,pods -o json`.
        pub use pavior_workload::traces::kubectl::read;
    }
    pub mod pbs {
        //! Accounting logs from Torque, PBS Pro and OpenPBS.
        pub use pavior_workload::traces::pbs::read;
    }
    pub mod sacct {
        //! The output of Slurm's `sacct --parsable2`.
        pub use pavior_workload::traces::sacct::read;
    }
    pub mod sacct_json {
        //! The output of Slurm's `sacct --json`.
        pub use pavior_workload::traces::sacct_json::read;
    }
    pub mod sim {
        //! Pavior's own log format, in which jobs have shapes.
        pub use pavior_workload::traces::sim::{read, write};
    }
    pub mod swf {
        //! The Parallel Workloads Archive's Standard Workload Format.
        pub use pavior_workload::traces::swf::{Scheduled, read, write, write_schedule};
    }
}
