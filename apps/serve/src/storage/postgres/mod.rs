//! The PostgreSQL store. Several servers share a database, and one of them writes. The leader's row
//! names that server and contains its epoch. Every insert locks this row in the same statement and
//! requires the row's epoch to be the writer's own. A server is therefore fenced even if it is
//! paused for an hour and resumes in the middle of an insert, which a session lock could not
//! guarantee. Replies to readers are fenced by checking the epoch. A separate thread sends
//! heartbeats (`claim.rs`).
//!
//! Each row has a checksum over its record and the previous row's checksum, and the leader's row
//! contains the last row's number and checksum. Changed or removed rows are thus detected.

mod chain;
mod claim;
pub mod password;
mod rows;
mod store;

use postgres::error::Severity;
use postgres::types::FromSql;
use postgres::{Client, Config, NoTls, Row};

use super::StoreError;

pub use claim::ClaimTimeouts;
pub use store::PostgresStore;

/// The SQL statement that renews a claim.
const HEARTBEAT: &str = "UPDATE pavior_leader SET beat = clock_timestamp() WHERE epoch = $1";

/// The reason for losing a claim when the leader's row contains another epoch.
const ANOTHER_EPOCH: &str = "its epoch has ended";

fn connect(config: &Config) -> Result<Client, StoreError> {
    let mut client = config.connect(NoTls).map_err(|error| failed(&error))?;
    // Override the database's default, because acknowledged data must be on disk.
    client.batch_execute("SET synchronous_commit = on").map_err(|error| failed(&error))?;
    Ok(client)
}

/// Returns true if the database reports that it did not execute a statement. After any other error,
/// such as a lost connection, the statement may have been executed.
fn is_refusal(error: &postgres::Error) -> bool {
    error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// Formats an error and its cause, which never contain a password.
fn describe(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("PostgreSQL: {error}{}", cause.unwrap_or_default())
}

/// Returns a column of a row. The table may belong to another program, so its columns may have
/// other types.
fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(|error| failed(&error))
}

fn failed(error: &postgres::Error) -> StoreError {
    StoreError::Failed(describe(error))
}
