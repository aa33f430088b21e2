//! Names, options and invalid-name errors, shared by the registries of strategies, schedulers,
//! shape rules and patterns.
//!
//! An entry declares its options as [`OptionSpec`]s and is built from the user's [`Options`]; see
//! the `own_scheduler` example. Invalid names produce a [`BadName`](crate::BadName) error.
//!
//! ```
//! use pavior::names::{bare_name, unknown_name};
//!
//! assert_eq!(bare_name("random:seed=3"), "random");
//! let message = unknown_name("scheduler", "esay", &["fcfs", "easy"]).to_string();
//! assert!(message.contains("easy"), "{message}");
//! ```

pub use pavior_kernel::{
    BadEntry, CallerError, EntryHandle, OptionSpec, Options, Values, bare_name, unknown_name,
};
