//! Tests of the service: its core against models, its journal on a faulty disk, and real processes
//! that are killed and paused.

mod answers;
mod attacks;
mod bare_writer;
mod certificates;
mod client;
mod crashes;
mod decisions;
mod descriptors;
mod disk;
mod folder;
mod forecast_days;
mod forecasts;
mod freedom;
mod full;
mod http;
mod idempotency;
mod kills;
mod load;
mod openapi;
mod page;
mod random;
mod records;
mod refusals;
mod replies;
mod requests;
mod reservations;
mod server;
mod slots;
mod slow;
mod starts;
mod strangers;
mod takeover;
mod tenants;
mod waits;
mod workload;
