//! The geometry of a machine. A [`Grid`] has one to three axes, each of which may wrap. A
//! [`Cuboid`] is a box of nodes, and [`orientations`] lists the rotations of a shape. [`order`]
//! contains node orders. An [`Occupancy`] is the set of free nodes, with one bit per node.
//!
//! The axes x, y and z are numbered 0, 1 and 2. Missing axes have side 1, so every algorithm is
//! written only once, for three axes. Nodes are numbered in row-major order, with x varying
//! fastest.
//!
//! This crate knows nothing about strategies, job lifecycles, or time.
//!
//! Arguments are checked. For example, a box outside the grid is not free, and trying to take it
//! changes nothing and returns an [`OccupancyError`].
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod bases;
mod bits;
mod cubes;
mod cuboid;
mod grid;
mod largest;
mod name;
mod occupancy;
pub mod order;
mod orientation;
pub mod picture;
mod request;
mod scan;
mod search;
mod tile;

pub use bases::BaseSet;
pub use cubes::Cubes;
pub use cuboid::Cuboid;
pub use grid::{Coordinates, Grid, GridError, NodeId, PerAxis, Sides, read_sides, volume};
pub use occupancy::{Occupancy, OccupancyError};
pub use orientation::{ascending, orientations};
pub use request::{Freedom, JobId, Pool, Request, UnknownFreedom};
pub use scan::{Scan, ScanError};
pub use search::{BoxSearch, RefusalKey, SearchMethods, SearchWork};
pub use tile::{tile, tile_rows};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
