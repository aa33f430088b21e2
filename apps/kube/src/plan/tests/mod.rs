//! Plans for a model cluster: an API server with object versions, lagging watches, the Job
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
