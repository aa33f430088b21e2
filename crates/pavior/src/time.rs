//! Dates, and time series that use bounded memory. For simulated time, see [`Time`](crate::Time).
//!
//! Nothing in this module reads a clock.
//!
//! ```
//! use pavior::time::{Date, Range};
//!
//! let date: Date = "2026-11-22T01:36:30Z".parse()?;
//! assert_eq!(date.0.as_secs(), 1_795_311_390);
//! assert!("yesterday".parse::<Date>().is_err());
//!
//! // The number of free nodes during two intervals, merged into one.
//! let free = Range::of(12).then(Range::of(7));
//! assert_eq!((free.least, free.most, free.last), (7, 12, 7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_kernel::{BadDate, Date, Range, Stretch, Stretches};
