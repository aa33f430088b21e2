//! Experiments, which repeat simulations until their means are precise enough.
//!
//! A [`Specification`] has many [`Point`]s, from an experiment file or from individual settings. It
//! runs them in parallel, with the same jobs, and adds replications until the interval of each mean
//! is narrow enough. [`directory`] stores an interruptible run; [`advice`] compares alternatives on
//! a log's jobs. A [`Catalogue`] adds your own strategies, schedulers and patterns.
//!
//! ```
//! use pavior::experiments::{Catalogue, Environment, NoStore, Shard, Specification};
//!
//! let file = "
//! machine = 'mesh:8x8'
//! strategy = ['ff', 'tff']
//! load = 1
//! jobs = 100
//! replications = 2
//! metrics = ['turnaround']
//! ";
//! let experiment = Specification::parse_with(file, "example", &Catalogue::default())?;
//! let samples = experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)?;
//! let [ff, tff] = [&samples[0], &samples[1]].map(|samples| samples[0].values[0]);
//! assert!(ff > tff);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_experiments::{
    Asked, Axis, BUILD, BusyBoxes, Catalogue, Difference, Environment, FIRST_INSTANT,
    FailureSettings, FailureSource, Figure, Folder, Formula, Given, InputError, InputFiles,
    InputRequest, JobSettings, JobSource, JournalEntry, Keys, LeftOut, Line, ListRequest, LogError,
    LogForecastError, LogRequest, LogScore, LogSettings, MeasuredTime, Median, MigrationSettings,
    NetworkParameters, NetworkSettings, NoFiles, NoProgress, NoStore, Orders, Paired, PlacedCounts,
    Point, PointResult, Policy, Progress, Provenance, Publication, Recording, Replications,
    RunRecord, RunSettings, Sample, Samples, Scenario, Setting, SettingError, Shard,
    SnapshotSettings, Span, Specification, StatedMark, Store, Summary, SweepError, Table, chart,
    differences, forecast_log, forecast_points, half_width, heading, learn_log, mean, median,
    read_log, read_log_from, schema, student_t, summarize_log, target_missed, write_differences,
};

pub mod advice {
    //! Reruns of a log's jobs under alternative configurations, with paired differences.

    pub use pavior_experiments::advice::{
        Advice, AdviceError, Alternative, BATCHES, Batch, Change, Measure, Run, Shown, Topic,
        advise, advise_among, cell, notes, page, recommendations, value,
    };
}

pub mod bench {
    //! Measurements of allocation time, by strategy and machine.

    pub use pavior_experiments::bench::{
        Answers, BATCH, Bench, BenchError, BenchResults, BenchRow, Times,
    };
}

pub mod directory {
    //! Experiment directories, which can be resumed after an interruption, verified and reproduced.

    pub use pavior_experiments::directory::{
        Directory, DirectoryError, EXPERIMENT, Known, Note, OpenRun, Reproduced, Resume, Run,
        known, note, verify,
    };
}

pub mod parameters {
    //! The list of all experiment parameters, with their help texts.
    //!
    //! ```
    //! use pavior::experiments::parameters::{ALL, MACHINE};
    //!
    //! assert!(ALL.iter().any(|parameter| parameter.name == MACHINE.name));
    //! ```

    pub use pavior_experiments::parameters::{
        ALL, Applies, COMMUNICATION, CONTROLS, Control, ControlKind, Heading, LOAD, MACHINE,
        Parameter, REQUEST, Reading, SCHEDULER, SERVICE, SKIP_UNSUPPORTED, STRATEGY, TRACE,
        ValueType, declaration, experiment, help, of_reading, page,
    };
}

pub mod snapshot {
    //! Experiments on individual states of a machine instead of runs.

    pub use pavior_experiments::snapshot::METRICS;
}
