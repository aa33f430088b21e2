//! Tests plans on a model cluster: an API server with versioned objects, the Job controller, a
//! scheduler, nodes, and lagging watches.

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
