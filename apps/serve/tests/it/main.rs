//! The service, from outside: its core against a model, its journal on a bad disk, and real
//! processes that are killed, paused and looked at.

mod attacks;
mod browser;
mod certificates;
mod client;
mod crashes;
mod decisions;
mod disk;
mod freedom;
mod full;
mod http;
mod kills;
mod load;
mod page;
mod random;
mod server;
mod takeover;
mod tenants;
