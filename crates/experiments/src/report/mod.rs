//! Figures and reports: SVG, Vega-Lite, HTML.
//!
//! Everything here turns tables into text and touches no file. The drawings are our own few hundred
//! lines: they carry both a light and a dark dress in one file, which no library at hand does.

mod axis;
mod canvas;
mod cdf;
mod chart;
mod figure;
mod html;
mod lines;
mod machine;
mod placements;
mod schedule;
mod times;
mod vega;

pub use cdf::cdf;
pub use chart::{Chart, ChartAxis, Mark, Marks, Series};
pub use figure::draw;
pub use html::{Drawing, Page, Section, SectionTable, html};
pub use lines::svg;
pub use machine::{animation, instant};
pub use placements::{Placed, read_placements};
pub use schedule::schedule;
pub use times::{TimesChart, TimesGroup, times};
pub use vega::vega;
