//! Draws machines, schedules and measurements as SVG, Vega-Lite and HTML.
//!
//! Each function deterministically converts plain data to text: equal data yields identical bytes.
//! No function reads or writes files. User-supplied names are always escaped with [`escape`].
//!
//! ```
//! use pavior::draw::state;
//! use pavior::strategies::explain::State;
//! use pavior::{Cuboid, Grid, JobId};
//!
//! let mut machine = State::new(Grid::mesh(&[4, 2])?);
//! machine.hold(JobId(7), &[Cuboid::new([1, 0, 0], [1, 2, 1])])?;
//! let svg = state(&machine, &|_| "a <b>".to_string());
//! assert!(svg.starts_with("<svg") && svg.contains("a &lt;b&gt;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_draw::{
    Chart, ChartAxis, DifferenceRow, Differences, DrawError, Drawing, Mark, Marks, Page, Placed,
    PlannedMove, Section, SectionTable, Series, Unit, animation, cdf, counterexample, differences,
    escape, explanation, heatmap, html, instant, plan, schedule, state, svg, vega,
};
