//! Tests plans on a model cluster: an API server with object versions, lagging watches, the Job
//! controller, a scheduler and nodes.

mod answers;
mod draw;
mod forecast;
mod kueue;
mod limits;
mod model;
mod queries;
mod quota;
mod quota_storm;
mod races;
mod replicas;
mod sets;
mod small;
mod speed;
mod view;
