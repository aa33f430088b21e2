//! Plans against a model of a cluster: an API server that keeps versions, watches that lag, the
//! controller of Jobs, a scheduler and nodes.

mod answers;
mod copies;
mod forecast;
mod limits;
mod model;
mod quota;
mod quota_storm;
mod races;
mod sets;
mod small;
mod speed;
