//! Drawings of allocations, schedules and measurements as SVG, Vega-Lite and HTML.
//!
//! Every function in this crate turns plain data into text. No function reads or writes files, runs
//! simulations, or calls strategies. The same data always produces identical bytes.
//!
//! | Data | Drawn by |
//! |---|---|
//! | series of numbers with axes ([`Chart`]) | [`svg`], [`vega`]; [`cdf`] charts samples |
//! | a schedule over time ([`Placed`]) | [`schedule`], [`instant`], [`animation`] |
//! | differences and their intervals ([`Differences`]) | [`differences`] |
//! | a machine, its jobs and its failed nodes | [`state`] |
//! | strategies' answers in a given state | [`explanation`] |
//! | a state in which a strategy gives a wrong answer | [`counterexample`] |
//! | job moves that make room for a box | [`plan`] |
//! | load on a network's channels | [`heatmap`] |
//! | a report with figures and tables ([`Page`]) | [`html`] |
//!
//! Every SVG contains its light-mode colors in attributes, which all viewers understand, and its
//! dark-mode colors in a style sheet. Color is never the only distinction: series also differ in
//! shape and dashes, and nodes also differ in pattern. The `title` and `desc` elements describe the
//! drawing in words. All text passes through [`escape`], so no name can break a file.
//!
//! ```
//! # mod pavior { pub use pavior_draw as draw; }
//! use pavior::draw::{Chart, ChartAxis, Mark, Marks, Series, svg};
//! let chart = Chart {
//!     title: "Waiting by load".into(),
//!     x: ChartAxis::plain("load", false),
//!     y: ChartAxis::of("waiting", "s", false),
//!     categories: Vec::new(),
//!     marks: Marks::Lines,
//!     series: vec![Series {
//!         name: "ff <first>".into(),
//!         points: vec![
//!             Mark { x: 1.0, y: 2.0, interval: Some([1.5, 2.5]) },
//!             Mark { x: 2.0, y: 5.0, interval: None },
//!         ],
//!     }],
//!     stated: Vec::new(),
//!     note: String::new(),
//! };
//! let drawn = svg(&chart);
//! assert!(drawn.starts_with("<svg") && drawn.contains("ff &lt;first&gt;"));
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod axis;
mod canvas;
mod cdf;
mod chart;
mod coinciding;
mod counterexample;
mod description;
mod differences;
mod explanation;
mod heatmap;
mod html;
mod lines;
mod machine;
mod packing;
mod palette;
mod placements;
mod plan;
mod rows;
mod schedule;
mod state;
mod text;
mod time;
mod vega;
mod xml;

pub use axis::Unit;
pub use cdf::cdf;
pub use chart::{Chart, ChartAxis, Mark, Marks, Series};
pub use counterexample::counterexample;
pub use differences::{DifferenceRow, Differences, differences};
pub use explanation::explanation;
pub use heatmap::heatmap;
pub use html::{Drawing, Page, Section, SectionTable, html};
pub use lines::svg;
pub use machine::{animation, instant};
pub use placements::{DrawError, Placed};
pub use plan::{PlannedMove, plan};
pub use schedule::schedule;
pub use state::state;
pub use vega::vega;
pub use xml::escape;
