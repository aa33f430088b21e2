//! Experiments that repeat simulations until the means are precise enough.
//!
//! A [`Specification`] comes from an experiment file or individual settings, and contains one or
//! more [`Point`]s. It runs all points in parallel on the same jobs, adding replications until
//! every confidence interval is narrow enough. Use [`directory`] to store runs that can be resumed,
//! [`advice`] to compare alternatives on a job log, and [`Catalogue`] to add your own strategies.
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
    //! Reruns a log's jobs under alternative configurations and reports paired differences.

    pub use pavior_experiments::advice::{
        Advice, AdviceError, Alternative, BATCHES, Batch, Change, Measure, Run, Shown, Topic,
        advise, advise_among, cell, notes, page, recommendations, value,
    };
}

pub mod bench {
    //! Measures how long allocation takes for each strategy and machine.

    pub use pavior_experiments::bench::{
        Answers, BATCH, Bench, BenchError, BenchResults, BenchRow, Times,
    };
}

pub mod directory {
    //! Experiment directories, which support resuming, verifying and reproducing experiments.

    pub use pavior_experiments::directory::{
        Directory, DirectoryError, EXPERIMENT, Known, Note, OpenRun, Reproduced, Resume, Run,
        known, note, verify,
    };
}

pub mod parameters {
    //! The list of all experiment parameters and their help texts.
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
    //! Experiments that examine individual machine states instead of whole runs.

    pub use pavior_experiments::snapshot::METRICS;
}
