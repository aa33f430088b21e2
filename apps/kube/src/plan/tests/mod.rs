//! Plans for a model of a cluster: an API server with object versions, watches that lag, the Job
//! controller, a scheduler and nodes.

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
