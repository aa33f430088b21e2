//! Tests of scheduling through the public interface.

mod agreement;
mod ahead;
mod backfilling;
mod dispatcher;
mod drawn;
mod easy_freedom;
mod estimates;
mod failures;
mod forward;
mod lock_step;
mod order;
mod plain;
mod plain_count;
mod priority;
mod reference;
mod registry;
mod withdrawals;
mod workloads;
mod world;
