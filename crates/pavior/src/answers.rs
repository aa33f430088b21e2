//! Answers questions about a machine, its queue and its running jobs: why a request does not fit,
//! how many copies of the request would fit, which jobs could be moved to make room now or by a
//! given time, and when jobs will start.
//!
//! Except for [`forecasts`], all answers are computed from a [`Snapshot`] of the running jobs and
//! their nodes. [`why`] combines several answers, and [`Words`] turns the result into sentences.
//! For jobs queued in a [`Dispatcher`](crate::scheduling::Dispatcher), [`waiting`] explains why one
//! job is waiting, and [`waits`] does the same for every job.
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
    //! Forecasts of job start times, given as intervals intended to be correct 90% of the time.
    //!
    //! A [`Forecaster`] is notified of events on a machine. It simulates the future of a
    //! [`Dispatcher`](crate::scheduling::Dispatcher) several times with run times drawn from past
    //! jobs. The default effort uses one thread.
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
    //! The JSON format in which every interface prints answers. The caller supplies job names and
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
