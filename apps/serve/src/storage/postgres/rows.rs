//! Reads, verifies and removes rows, and saves snapshots.

use parking_lot::Mutex;
use postgres::types::ToSql;
use postgres::{Client, Config, Row};

use super::chain::Chain;
use super::{column, connect, failed};
use crate::core::{ServiceRecord, StateSnapshot};
use crate::storage::{Each, History, StoreError, read};

/// The number of rows fetched at a time.
const PAGE: i64 = 1000;
/// The table that contains the records, as shown in errors.
const JOURNAL: &str = "pavior_journal";
const SNAPSHOT: &str = "pavior_snapshot";
const NOT_LAST: &str = "this is not the last row written";

/// A connection for everything except appending records.
pub(super) struct Rows {
    config: Config,
    client: Mutex<Option<Client>>,
}

impl Rows {
    pub(super) fn new(config: Config) -> Rows {
        Rows { config, client: Mutex::new(None) }
    }

    /// Runs a query, connecting first if necessary.
    fn with<T>(
        &self,
        query: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let mut client = self.client.lock();
        if client.as_ref().is_none_or(Client::is_closed) {
            *client = Some(connect(&self.config)?);
        }
        let result = query(client.as_mut().expect("the client was just connected"));
        if result.is_err() {
            *client = None;
        }
        result.map_err(|error| failed(&error))
    }

    /// Returns the number that a query selects.
    fn count(&self, query: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, StoreError> {
        let row = self.with(|client| client.query_one(query, values))?;
        Ok(column::<i64>(&row, 0)? as u64)
    }

    /// Returns the checksum at a record, from its row or, if the row has been removed, from its
    /// snapshot.
    fn chain_at(&self, seq: u64) -> Result<Option<Chain>, StoreError> {
        if seq == 0 {
            return Ok(Some(Chain::START));
        }
        let query = "SELECT coalesce((SELECT sum FROM pavior_journal WHERE seq = $1),
            (SELECT chain FROM pavior_snapshot WHERE seq = $1))";
        let row = self.with(|client| client.query_one(query, &[&number(seq)]))?;
        Ok(column::<Option<i64>>(&row, 0)?.map(Chain))
    }

    /// Returns the last row's number and checksum, as recorded in the leader's row.
    fn head(&self) -> Result<(u64, Chain), StoreError> {
        let query = "SELECT seq, sum FROM pavior_leader";
        let row = self.with(|client| client.query_opt(query, &[]))?;
        let row = row.ok_or_else(|| StoreError::damaged("pavior_leader", 0, "it is empty"))?;
        Ok((column::<i64>(&row, 0)? as u64, Chain(column(&row, 1)?)))
    }

    /// Verifies the checksums of all rows and snapshots. Parses all rows and the last snapshot.
    pub(super) fn verify(&self) -> Result<(), StoreError> {
        let query = "SELECT seq, body, chain, sum FROM pavior_snapshot";
        for row in self.with(|client| client.query(query, &[]))? {
            verify_snapshot(&row)?;
        }
        loop {
            let oldest = self.oldest()?;
            let found = if self.chain_at(oldest)?.is_some() {
                self.rows(oldest, &mut |_| Ok(true))
            } else {
                let reason = "the snapshot of this record and the rows before it are missing";
                Err(StoreError::damaged(SNAPSHOT, oldest, reason))
            };
            // The leader may have removed old rows in the meantime.
            if found.is_ok() || self.oldest()? == oldest {
                return found.and_then(|()| self.snapshot(u64::MAX).map(drop));
            }
        }
    }

    /// Passes the records after a record to `each`, verifying their rows' checksums.
    fn rows(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        // Read the head first, because rows may be added in the meantime.
        let head = self.head()?;
        let mut last = Position { seq: after, chain: self.chain_at(after)? };
        if head.0 == after && last.chain.is_some_and(|chain| chain != head.1) {
            return Err(StoreError::damaged(JOURNAL, after, NOT_LAST));
        }
        let query =
            "SELECT seq, record, sum FROM pavior_journal WHERE seq > $1 ORDER BY seq LIMIT $2";
        loop {
            let rows = self.with(|client| client.query(query, &[&number(last.seq), &PAGE]))?;
            for row in &rows {
                if !each(last.advance(row, head)?)? {
                    return Ok(());
                }
            }
            if rows.len() < PAGE as usize {
                break;
            }
        }
        if last.seq < head.0 {
            let reason = format!("the rows after this one, up to {}, are missing", head.0);
            return Err(StoreError::damaged(JOURNAL, last.seq, reason));
        }
        Ok(())
    }
}

/// A row's number and its checksum, if known.
struct Position {
    seq: u64,
    chain: Option<Chain>,
}

impl Position {
    /// Verifies the next row, moves to it, and returns its record.
    fn advance(&mut self, row: &Row, head: (u64, Chain)) -> Result<ServiceRecord, StoreError> {
        let (seq, text) = (column::<i64>(row, 0)? as u64, column::<&str>(row, 1)?);
        let stored = Chain(column(row, 2)?);
        if seq != self.seq + 1 {
            let reason = format!("record {seq} follows {}", self.seq);
            return Err(StoreError::damaged(JOURNAL, seq, reason));
        }
        if self.chain.is_some_and(|chain| chain.then(seq, text) != stored) {
            let reason = "the row differs from the one that was written";
            return Err(StoreError::damaged(JOURNAL, seq, reason));
        }
        if head.0 == seq && head.1 != stored {
            return Err(StoreError::damaged(JOURNAL, seq, NOT_LAST));
        }
        let record = read::parse_record(JOURNAL, seq, text.as_bytes())?;
        if record.seq != seq {
            let reason = format!("it contains record {}", record.seq);
            return Err(StoreError::damaged(JOURNAL, seq, reason));
        }
        *self = Position { seq, chain: Some(stored) };
        Ok(record)
    }
}

impl History for Rows {
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError> {
        let most = number(seq);
        let query = "SELECT seq, body, chain, sum FROM pavior_snapshot WHERE seq <= $1
            ORDER BY seq DESC LIMIT 1";
        let row = self.with(|client| client.query_opt(query, &[&most]))?;
        let Some(row) = row else {
            let oldest = self.oldest()?;
            return if oldest == 0 { Ok(None) } else { Err(StoreError::Compacted(oldest)) };
        };
        let (seq, body) = verify_snapshot(&row)?;
        read::parse_snapshot(SNAPSHOT, seq, seq, body.as_bytes()).map(Some)
    }

    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        let check = || match self.oldest()? {
            oldest if after < oldest => Err(StoreError::Compacted(oldest)),
            _ => Ok(()),
        };
        check()?;
        let found = self.rows(after, each);
        // The leader may have removed rows in the meantime.
        if matches!(found, Err(StoreError::Damaged { .. })) {
            check()?;
        }
        found
    }

    fn oldest(&self) -> Result<u64, StoreError> {
        let query = "SELECT coalesce((SELECT min(seq) - 1 FROM pavior_journal),
            (SELECT max(seq) FROM pavior_snapshot), 0)";
        self.count(query, &[])
    }

    fn within(&self, bytes: u64) -> Result<u64, StoreError> {
        let most = number(bytes);
        let query = "SELECT coalesce(max(seq), 0) FROM (
            SELECT seq, sum(pg_column_size(record)) OVER (ORDER BY seq DESC) AS size
            FROM pavior_journal) AS sizes WHERE size > $1";
        self.count(query, &[&most])
    }

    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError> {
        let body = serde_json::to_string(snapshot).expect("a snapshot can be written");
        let chain = self.chain_at(snapshot.seq)?.ok_or_else(|| {
            StoreError::damaged(JOURNAL, snapshot.seq, "the snapshot's row is missing")
        })?;
        let sum = chain.then(snapshot.seq, &body).0;
        let query = "INSERT INTO pavior_snapshot (seq, body, chain, sum) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING";
        let seq = number(snapshot.seq);
        self.with(|client| client.execute(query, &[&seq, &body, &chain.0, &sum])).map(drop)
    }

    fn compact(&self, seq: u64) -> Result<(), StoreError> {
        let most = number(seq);
        let base = "SELECT max(seq) FROM pavior_snapshot WHERE seq <= $1";
        let row = self.with(|client| client.query_one(base, &[&most]))?;
        let base: Option<i64> = column(&row, 0)?;
        let Some(base) = base else { return Ok(()) };
        self.with(|client| {
            let mut transaction = client.transaction()?;
            transaction.execute("DELETE FROM pavior_journal WHERE seq <= $1", &[&base])?;
            transaction.execute("DELETE FROM pavior_snapshot WHERE seq < $1", &[&base])?;
            transaction.commit()
        })
    }
}

/// Converts a record number or size to the database's type.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Verifies the checksum of a snapshot's row (number, body, record checksum, row checksum). Returns
/// the row's number and body.
fn verify_snapshot(row: &Row) -> Result<(u64, &str), StoreError> {
    let (seq, body) = (column::<i64>(row, 0)? as u64, column(row, 1)?);
    let (chain, sum) = (Chain(column(row, 2)?), Chain(column(row, 3)?));
    if sum == chain.then(seq, body) {
        return Ok((seq, body));
    }
    Err(StoreError::damaged(SNAPSHOT, seq, "its checksum does not match"))
}
