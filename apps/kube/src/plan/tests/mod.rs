//! Plans against a model of a cluster: an API server that keeps versions, watches that lag, the
//! controller of Jobs, a scheduler and nodes.

mod foretold;
mod model;
mod races;
mod sets;
mod small;
mod speed;
