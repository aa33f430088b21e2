//! Answers about a machine, its queue and its running jobs: the reason why a request does not fit,
//! the number of requests that fit, job moves that make room now or by a given time, and the starts
//! of jobs.
//!
//! All answers except [`forecasts`] are about a [`Snapshot`]: the jobs on a machine and their
//! nodes. [`why`] combines them into one answer, which [`Words`] turns into sentences. [`waiting`]
//! does the same for a job in the queue of a [`Dispatcher`](crate::scheduling::Dispatcher), and
//! [`waits`] returns the reason for every job in the queue.
//!
//! ```
//! use pavior::answers::{SearchLimits, Shape, Snapshot, Weights, slots, unblock};
//! use pavior::{Cuboid, JobId, Machine, Placement};
//!
//! // A 2x2 job in the middle of a 6x2 mesh: 8 nodes are free, but no 3x2 box.
//! let mut machine = Machine::new("mesh:6x2".parse()?, "ff")?;
//! machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([2, 0, 0], [2, 2, 1])))?;
//! let snapshot = Snapshot::of(&machine);
//! let weights = Weights::nodes(&snapshot);
//! let answer = unblock(&snapshot, Shape::new([3, 2, 1]), &weights, &SearchLimits::jobs(1));
//! let plan = answer.plan.expect("moving the job by a column is enough");
//! assert_eq!((plan.jobs, answer.proven), (vec![JobId(7)], true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_answers::{
    Blocked, Blockers, Cause, Defragmented, DelayedJob, Demand, Earliest, Move, MovePlan, NAMED,
    NextSlot, Planned, PlannedStart, Prospect, Question, Queued, Room, RoomBy, RoomError, RoomPlan,
    RoomQuestion, SearchLimits, Shape, Slots, SlotsAnswer, Snapshot, TooHeavy, Weights, Why, Words,
    blockers, defragment, drain, earliest, fit, nearest, next_slot, room_by, slots, unblock,
    unblock_any, waiting, waits, why,
};

pub mod forecasts {
    //! Forecasts of job starts, as intervals that should be correct 90 % of the time.
    //!
    //! A [`Forecaster`] is notified of events on a machine. It simulates the future of a
    //! [`Dispatcher`](crate::scheduling::Dispatcher) several times, with run times drawn from the
    //! past. The default effort uses one thread.
    //!
    //! ```
    //! use pavior::answers::forecasts::{Effort, HORIZON};
    //! use pavior::workload::TimeUnit;
    //!
    //! assert_eq!(HORIZON.0 / TimeUnit::SECOND.ticks, 60 * 24 * 3600);
    //! assert_eq!(Effort::default().threads, 1);
    //! ```

    pub use pavior_answers::forecasts::{
        Effort, Experience, Forecast, ForecastError, Forecaster, HORIZON, Judged, Kind, Linked,
        Obstacle, Past, QueueForecast, Record, Rivals, Score, Start, StartJson, StartQuestion,
        StartWords, Third, learn, replay, replay_linked,
    };
}

pub mod json {
    //! Answers in the JSON form that all interfaces print. The caller provides job names and
    //! formats times.
    //!
    //! ```
    //! # #[cfg(feature = "serde")] {
    //! use pavior::answers::json::Place;
    //! use pavior::{Cuboid, Grid};
    //!
    //! let place = Place::of(&Grid::mesh(&[8, 8])?, &Cuboid::new([2, 4], [3, 2]));
    //! assert_eq!(serde_json::to_string(&place)?, r#"{"base":[2,4],"sides":[3,2]}"#);
    //! # }
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use pavior_answers::json::{
        BlockedJson, MoveJson, NextSlotJson, Place, Point, SlotsAfterJson, SlotsAnswerJson,
        SlotsJson,
    };
}
