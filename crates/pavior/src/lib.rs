//! Processor allocation on meshes and tori: which nodes a job gets.
//!
//! A [`Machine`] is a [`Grid`] of nodes under an allocation strategy, chosen by name. It grants
//! [`Request`]s as [`Placement`]s, says why it refuses, and takes nodes back.
//!
//! ```
//! use pavior::{JobId, Machine, Refusal, Request};
//!
//! let mut machine = Machine::new("torus:8x8x8".parse()?, "tff")?;
//! let placement = machine.allocate(JobId(1), &Request::shape([4, 4, 2]))?;
//! assert_eq!(placement.parts()[0].sides, [4, 4, 2]);
//!
//! // Eight planes of the torus are too many now; turned or not, the box is nowhere free.
//! let refused = machine.allocate(JobId(2), &Request::shape([8, 8, 8])).unwrap_err();
//! assert_eq!(refused.refusal(), Some(Refusal::TooFewFreeNodes));
//!
//! machine.release(JobId(1))?;
//! assert_eq!(machine.free().count(), 512);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On a plane two sides are enough, and [`explain()`] says what is in the way:
//!
//! ```
//! use pavior::{Cuboid, JobId, Machine, Placement, Request, explain};
//!
//! let mut machine = Machine::new("mesh:4x2".parse()?, "bf")?;
//! machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([1, 0], [1, 2])))?;
//! let explanation = explain(&mut machine, &Request::shape([3, 2]));
//! let diagnosis = explanation.diagnosis.expect("a box was asked for");
//! assert_eq!(diagnosis.nearest, Some(Cuboid::new([2, 0], [2, 2])));
//! assert_eq!(diagnosis.blocked.expect("it fits the machine").jobs, [(JobId(7), 2)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`strategies`] has the registry, and what a strategy of one's own is written with. The rest is
//! behind features:
//!
//! | feature | gives |
//! |---|---|
//! | `planning` | `planning`: where a request could go, and which jobs to move for it |
//! | `simulation` | `workload`, `scheduling`, `simulation`: jobs, queues, and runs with metrics |
//! | `network` | `network`: the wormhole network and the messages of jobs |
//! | `experiments` | `experiments`: sweeps from experiment files; `simulation` and `network` too |
//! | `serde` | `Serialize` and `Deserialize` for grids, boxes, requests, placements and refusals |

pub use pavior_allocation::explain::{Diagnosis, Explanation, explain};
pub use pavior_allocation::{
    AllocateError, BuildError, Fork, Machine, Placement, PlacementError, Refusal, UnknownJob,
    UnknownNode,
};
pub use pavior_mesh::{
    Cuboid, Freedom, Grid, GridError, JobId, NameError, NodeId, Occupancy, Request, UnknownFreedom,
};

pub mod strategies {
    //! The strategies: their registry, and what one outside this library is written and judged
    //! with.
    //!
    //! ```
    //! use pavior::strategies::Registry;
    //! let names: Vec<&str> = Registry::new().entries().map(|entry| entry.name).collect();
    //! assert!(names.contains(&"tff") && names.contains(&"mbs"));
    //! ```

    pub use pavior_allocation::explain::{State, answer, index};
    pub use pavior_allocation::{
        ANY_GRID, BuildStrategy, Entry, MfaCandidate, MfaVerdict, Registry, Selection, Strategy,
        StrategyClosure, StrategyKind, Unsupported, Work, claim, conformance, contiguous,
        mfa_candidates, oracle,
    };
    pub use pavior_kernel::{
        BadEntry, BadName, CallerError, EntryHandle, OptionSpec, Options, Stream, Values,
        unknown_name,
    };
    pub use pavior_mesh::{BaseSet, Coordinates, Scan, Sides, orientations};
}

pub use pavior_kernel::Time;

#[cfg(feature = "experiments")]
pub use pavior_experiments as experiments;
#[cfg(feature = "network")]
pub use pavior_network as network;
#[cfg(feature = "planning")]
pub use pavior_planning as planning;
#[cfg(feature = "simulation")]
pub use pavior_scheduling as scheduling;
#[cfg(feature = "simulation")]
pub use pavior_simulation as simulation;
#[cfg(feature = "simulation")]
pub use pavior_workload as workload;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
