//! The write side of the database.

use std::sync::Arc;
use std::time::Duration;

use postgres::{Client, Config};

use super::chain::Chain;
use super::claim::{ClaimTimeouts, ServerClaim};
use super::rows::Rows;
use super::{ANOTHER_EPOCH, HEARTBEAT, column, connect, describe, failed, is_refusal};
use crate::core::ServiceRecord;
use crate::storage::disk::DiskFolder;
use crate::storage::{Claim, History, RecordStore, StoreError};

/// SQL statements that create missing tables.
const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(8087651234);
    CREATE TABLE IF NOT EXISTS pavior_leader (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        epoch bigint NOT NULL, holder text NOT NULL, beat timestamptz NOT NULL,
        seq bigint NOT NULL, sum bigint NOT NULL);
    CREATE TABLE IF NOT EXISTS pavior_journal (
        seq bigint PRIMARY KEY, epoch bigint NOT NULL, record text NOT NULL, sum bigint NOT NULL);
    CREATE TABLE IF NOT EXISTS pavior_snapshot (
        seq bigint PRIMARY KEY, body text NOT NULL, chain bigint NOT NULL, sum bigint NOT NULL);";

/// The SQL statement that inserts the leader's row, which names no leader at first.
const INSERT_LEADER: &str = "
    INSERT INTO pavior_leader (one, epoch, holder, beat, seq, sum)
    VALUES (true, 0, '', 'epoch', 0, 0) ON CONFLICT DO NOTHING";

/// The SQL statement that locks the leader's row and inserts records. It inserts nothing if this
/// server is no longer the leader.
const INSERT: &str = "
    WITH leader AS (
        UPDATE pavior_leader SET beat = clock_timestamp(), seq = $5, sum = $6
        WHERE epoch = $1 AND seq = $7 RETURNING epoch)
    INSERT INTO pavior_journal (seq, epoch, record, sum)
    SELECT item.seq, leader.epoch, item.record, item.sum
    FROM leader, unnest($2::bigint[], $3::text[], $4::bigint[]) AS item (seq, record, sum)";

/// The SQL statement for taking over when there is no leader or the leader is silent. It also
/// returns the total size of the records after the last snapshot, in bytes: a second query could
/// fail when this server already leads.
const TAKE_OVER: &str = "
    UPDATE pavior_leader SET epoch = epoch + 1, holder = $1, beat = clock_timestamp()
    WHERE holder = '' OR beat < clock_timestamp() - make_interval(secs => $2)
    RETURNING epoch, (SELECT coalesce(sum(octet_length(record)), 0) FROM pavior_journal
        WHERE seq > (SELECT coalesce(max(seq), 0) FROM pavior_snapshot))";

/// The write side of the database.
pub struct PostgresStore {
    config: Config,
    /// This server's name in the leader's row.
    holder: String,
    timeouts: ClaimTimeouts,
    client: Option<Client>,
    /// The epoch that this server uses for writing.
    epoch: Option<i64>,
    /// The number and checksum of the last row, if known.
    last: Option<(u64, Chain)>,
    claim: Arc<ServerClaim>,
    /// The total size of the records since the last rotation, in bytes.
    size: u64,
    history: Arc<Rows>,
    /// The data directory, which is also locked.
    folder: Option<DiskFolder>,
}

impl PostgresStore {
    /// Connects, creates missing tables, and becomes the writer if there is no other writer.
    ///
    /// # Errors
    /// Returns an error if the database is unreachable or rows were changed or removed.
    pub fn open(
        mut config: Config,
        holder: &str,
        timeouts: ClaimTimeouts,
    ) -> Result<PostgresStore, StoreError> {
        config.connect_timeout(Duration::from_secs(5));
        config.tcp_user_timeout(Duration::from_secs(10));
        config.application_name("pavior serve");
        let history = Arc::new(Rows::new(config.clone()));
        let claim = ServerClaim::start(config.clone(), timeouts)?;
        let mut store = PostgresStore {
            config,
            holder: holder.to_string(),
            timeouts,
            client: None,
            epoch: None,
            last: None,
            claim,
            size: 0,
            history,
            folder: None,
        };
        let mut transaction = store.client()?.transaction().map_err(|error| failed(&error))?;
        transaction.batch_execute(SCHEMA).map_err(|error| failed(&error))?;
        transaction.batch_execute(INSERT_LEADER).map_err(|error| failed(&error))?;
        transaction.commit().map_err(|error| failed(&error))?;
        // Check all rows, not only those that the state needs. Do this before becoming the leader,
        // because a leader must send heartbeats.
        store.history.verify()?;
        match store.retry() {
            Ok(()) | Err(StoreError::Fenced(_)) => Ok(store),
            Err(error) => Err(error),
        }
    }

    /// Keeps the data directory locked for the lifetime of this store.
    pub fn keep_locked(&mut self, folder: DiskFolder) {
        self.folder = Some(folder);
    }

    /// Returns true if this server is the writer.
    pub fn leads(&self) -> bool {
        self.epoch.is_some()
    }

    fn client(&mut self) -> Result<&mut Client, StoreError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(connect(&self.config)?);
        }
        Ok(self.client.as_mut().expect("it was just connected"))
    }

    /// Gives up leadership. This server does not write until it takes over again.
    fn step_down(&mut self, reason: &str) -> StoreError {
        (self.epoch, self.last) = (None, None);
        self.claim.set_epoch(None);
        StoreError::Fenced(reason.to_string())
    }

    /// Executes a statement in this server's epoch and returns its result.
    fn under_epoch<T>(
        &mut self,
        carry_out: impl FnOnce(&mut Client, i64) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let Some(epoch) = self.epoch else {
            return Err(self.step_down("it is a standby"));
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return Err(self.step_down(&error.to_string())),
        };
        carry_out(client, epoch).map_err(|error| {
            // Drop the client: only the database knows whether the statement was executed.
            self.client = None;
            let known = is_refusal(&error);
            let fenced = self.step_down(&describe(&error));
            if known { fenced } else { StoreError::Unknown(Box::new(fenced)) }
        })
    }

    /// Returns the last row's number and checksum, as recorded in the leader's row.
    fn last(&mut self) -> Result<(u64, Chain), StoreError> {
        if let Some(last) = self.last {
            return Ok(last);
        }
        let query = "SELECT seq, sum FROM pavior_leader WHERE epoch = $1";
        let row = self.under_epoch(|client, epoch| client.query_opt(query, &[&epoch]));
        let row = row.map_err(|error| match error {
            // A query writes nothing, even if its outcome is unknown.
            StoreError::Unknown(known) => *known,
            error => error,
        })?;
        let row = row.ok_or_else(|| self.step_down(ANOTHER_EPOCH))?;
        let last = (column::<i64>(&row, 0)? as u64, Chain(column(&row, 1)?));
        self.last = Some(last);
        Ok(last)
    }
}

impl RecordStore for PostgresStore {
    fn append(&mut self, records: &[ServiceRecord]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let numbers: Vec<i64> = records.iter().map(|record| record.seq as i64).collect();
        let texts: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
        let texts = texts.expect("a record can be written");
        let (before, mut chain) = self.last()?;
        let link = |(record, text): (&ServiceRecord, &String)| {
            chain = chain.then(record.seq, text);
            chain.0
        };
        let sums: Vec<i64> = records.iter().zip(&texts).map(link).collect();
        let (seq, before) = (records.last().map_or(0, |last| last.seq), before as i64);
        let sizes: u64 = texts.iter().map(|text| text.len() as u64).sum();
        let rows = self.under_epoch(|client, epoch| {
            let last = seq as i64;
            client.execute(INSERT, &[&epoch, &numbers, &texts, &sums, &last, &chain.0, &before])
        })?;
        if rows == records.len() as u64 {
            self.last = Some((seq, chain));
            self.size += sizes;
            Ok(())
        } else {
            Err(self.step_down(ANOTHER_EPOCH))
        }
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn confirm(&mut self) -> Result<(), StoreError> {
        let rows = self.under_epoch(|client, epoch| client.execute(HEARTBEAT, &[&epoch]))?;
        if rows == 1 { Ok(()) } else { Err(self.step_down(ANOTHER_EPOCH)) }
    }

    fn idle(&mut self) -> Result<(), StoreError> {
        match self.claim.lost().filter(|_| self.epoch.is_some()) {
            Some(reason) => Err(self.step_down(&reason)),
            None => Ok(()),
        }
    }

    fn begin_decision(&self) {
        self.claim.begin_decision();
    }

    fn end_decisions(&self) {
        self.claim.end_decisions();
    }

    fn claim(&self) -> Option<Arc<dyn Claim>> {
        Some(self.claim.clone())
    }

    fn rotate(&mut self) -> Result<bool, StoreError> {
        self.size = 0;
        Ok(true)
    }

    fn retry(&mut self) -> Result<(), StoreError> {
        if self.epoch.is_some() {
            return Ok(());
        }
        let (holder, silence_s) = (self.holder.clone(), self.timeouts.silence.as_secs_f64());
        let taken = self.client()?.query_opt(TAKE_OVER, &[&holder, &silence_s]);
        match taken {
            Ok(Some(row)) => {
                let epoch: i64 = column(&row, 0)?;
                // An earlier leader may have stopped before a snapshot was due.
                self.size = column::<i64>(&row, 1)? as u64;
                (self.epoch, self.last) = (Some(epoch), None);
                self.claim.set_epoch(self.epoch);
                Ok(())
            }
            Ok(None) => {
                let row = self.client()?.query_one("SELECT holder FROM pavior_leader", &[]);
                let row = row.map_err(|error| failed(&error))?;
                let leader: String = column(&row, 0)?;
                Err(StoreError::Fenced(format!("the leader is {leader}")))
            }
            Err(error) => {
                self.client = None;
                Err(failed(&error))
            }
        }
    }

    fn close(&mut self) {
        self.claim.close();
        let Some(epoch) = self.epoch.take() else { return };
        if let Some(client) = &mut self.client {
            let release = "UPDATE pavior_leader SET holder = '' WHERE epoch = $1";
            if let Err(error) = client.execute(release, &[&epoch]) {
                tracing::warn!(error = describe(&error), "cannot hand over leadership");
            }
        }
    }

    fn history(&self) -> Arc<dyn History> {
        self.history.clone()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.claim.close();
    }
}
