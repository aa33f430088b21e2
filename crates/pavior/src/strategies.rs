//! The strategy registry, and everything needed to write and test a strategy of your own.
//!
//! A [`Selection`] is a strategy selected by name, together with its options. An [`Entry`] builds a
//! [`Strategy`] and declares its [claims](claim), which [`conformance`] tests.
//!
//! ```
//! use pavior::strategies::{Registry, Selection};
//!
//! let names: Vec<&str> = Registry::new().entries().map(|entry| entry.name).collect();
//! assert!(names.contains(&"tff") && names.contains(&"mbs"));
//! let selection: Selection = "tff".parse()?;
//! assert!("tfff".parse::<Selection>().unwrap_err().to_string().contains("tff"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_allocation::{
    ANY_GRID, Entry, MfaCandidate, MfaSide, MfaVerdict, Registry, Selection, Strategy,
    StrategyKind, Unsupported, Work, mfa_candidates, tbl_most_pieces,
};
pub use pavior_mesh::{BaseSet, Scan, ScanError};

pub mod claim {
    //! Claims, expressed as data, about which placements a strategy grants and when it refuses a
    //! request.

    pub use pavior_allocation::claim::{
        BoxGroup, Claim, Grants, Over, Question, Recognition, Scene, by_count,
    };
}

pub mod conformance {
    //! Tests that check a strategy's claims against the [`oracle`](super::oracle).
    //!
    //! ```
    //! use pavior::strategies::conformance;
    //!
    //! conformance::every_occupancy(&"bf".parse()?, &"mesh:3x2".parse()?)?;
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use pavior_allocation::conformance::{
        Counterexample, Flaw, every_occupancy, freedoms, history, judge, lock_step, plain_of,
        random_boxes, requests, suite, walks,
    };
}

pub mod contiguous {
    //! Strategies that grant a single box, each built from a rule that places a box.

    pub use pavior_allocation::contiguous::{
        BoxRule, Contiguous, Scored, TURN_BEST_OFF, TURN_BEST_ON, TURN_OFF, TURN_ON, Turn, View,
        box_family, complete, entry, first_base, turn_over,
    };
}

pub mod explain {
    //! Explains which placement a strategy chooses in a given machine state, and formats boxes.
    //!
    //! ```
    //! use pavior::strategies::explain::{State, answer, words};
    //! use pavior::{Cuboid, Grid, JobId, Request};
    //!
    //! let mut state = State::new(Grid::mesh(&[4, 2])?);
    //! state.hold(JobId(7), &[Cuboid::new([1, 0, 0], [1, 2, 1])])?;
    //! let answer = answer(&state, &"ff".parse()?, &Request::shape([2, 1]), 1)?;
    //! let choice = answer.outcome.expect("there is room on the right");
    //! assert_eq!(words(state.grid(), &choice.placement.parts()[0]), "2x1 at 2,0");
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use pavior_allocation::explain::{
        Answer, Choice, Clash, State, answer, index, perfect_index, words,
    };
}

pub mod oracle {
    //! Exhaustive searches that define the correct answers.

    pub use pavior_allocation::oracle::{best, first, is_connected, largest_connected, placements};
}
