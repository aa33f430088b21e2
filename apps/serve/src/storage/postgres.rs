//! PostgreSQL as the store. Several servers share a database, and one of them writes. The leader's
//! row names that server and contains its epoch. Every insert locks this row in the same statement
//! and requires that the epoch is still the writer's. A server is thus fenced even if it was paused
//! for an hour and resumes in the middle of an insert, which a session lock could not guarantee.
//! Replies to readers are fenced by checking the epoch. A separate thread sends the heartbeats
//! ([`claim`](super::claim)).
//!
//! Each row has a checksum over its record and the previous row's checksum, and the leader's row
//! contains the last row's number and checksum. Changed or removed rows are thus detected. Tables
//! without checksums, from builds before 0.1.0, are refused.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls, Row};

use super::chain::Chain;
use super::claim::{Keeper, PASSED, Patience};
use super::disk::DiskFolder;
use super::{Claim, Each, History, RecordStore, StoreError, read};
use crate::core::{ServiceRecord, StateSnapshot};

/// The number of rows fetched at a time.
const ROWS: i64 = 1000;

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

/// A query that fails if a build before 0.1.0 created the tables.
const CURRENT: &str = "SELECT seq, sum FROM pavior_leader LIMIT 0";

const LEADER: &str = "
    INSERT INTO pavior_leader (one, epoch, holder, beat, seq, sum)
    VALUES (true, 0, '', 'epoch', 0, 0) ON CONFLICT DO NOTHING";

/// Inserts records and locks the leader's row in the same statement. Inserts nothing if this server
/// is no longer the leader.
const INSERT: &str = "
    WITH leader AS (
        UPDATE pavior_leader SET beat = clock_timestamp(), seq = $5, sum = $6
        WHERE epoch = $1 AND seq = $7 RETURNING epoch)
    INSERT INTO pavior_journal (seq, epoch, record, sum)
    SELECT item.seq, leader.epoch, item.record, item.sum
    FROM leader, unnest($2::bigint[], $3::text[], $4::bigint[]) AS item (seq, record, sum)";

pub(super) const BEAT: &str = "UPDATE pavior_leader SET beat = clock_timestamp() WHERE epoch = $1";

const TAKE: &str = "
    UPDATE pavior_leader SET epoch = epoch + 1, holder = $1, beat = clock_timestamp()
    WHERE holder = '' OR beat < clock_timestamp() - make_interval(secs => $2) RETURNING epoch";

/// The writer's side of the database.
pub struct PostgresStore {
    config: Config,
    /// This server's name in the leader's row.
    holder: String,
    patience: Patience,
    client: Option<Client>,
    /// The epoch that this server uses for writing.
    epoch: Option<i64>,
    /// The number and checksum of the last row, if known.
    last: Option<(u64, Chain)>,
    keeper: Arc<Keeper>,
    /// The number of bytes in the records since the last rotation.
    size: u64,
    history: Arc<Rows>,
    /// The data folder, which is also locked.
    folder: Option<DiskFolder>,
}

/// The readers' side of the database.
struct Rows {
    config: Config,
    client: Mutex<Option<Client>>,
}

impl PostgresStore {
    /// Connects, creates missing tables, and becomes the writer if there is no other.
    ///
    /// # Errors
    /// Returns an error if the database is unreachable, or rows were changed or removed.
    pub fn open(
        mut config: Config,
        holder: &str,
        patience: Patience,
    ) -> Result<PostgresStore, StoreError> {
        config.connect_timeout(Duration::from_secs(5));
        config.tcp_user_timeout(Duration::from_secs(10));
        config.application_name("pavior serve");
        let history = Arc::new(Rows { config: config.clone(), client: Mutex::new(None) });
        let keeper = Keeper::start(config.clone(), patience);
        let mut store = PostgresStore {
            config,
            holder: holder.to_string(),
            patience,
            client: None,
            epoch: None,
            last: None,
            keeper,
            size: 0,
            history,
            folder: None,
        };
        let mut transaction = store.client()?.transaction().map_err(|error| failed(&error))?;
        transaction.batch_execute(SCHEMA).map_err(|error| failed(&error))?;
        transaction.batch_execute(CURRENT).map_err(|error| match error.code() {
            Some(&SqlState::UNDEFINED_COLUMN) => StoreError::Former("pavior_leader".to_string()),
            _ => failed(&error),
        })?;
        transaction.batch_execute(LEADER).map_err(|error| failed(&error))?;
        transaction.commit().map_err(|error| failed(&error))?;
        // All rows are checked, not only those that the state needs. This happens before
        // leadership, because a leader must send heartbeats.
        store.history.verify()?;
        match store.retry() {
            Ok(()) | Err(StoreError::Fenced(_)) => Ok(store),
            Err(error) => Err(error),
        }
    }

    /// Keeps the data folder locked while this store exists.
    pub fn keep(&mut self, folder: DiskFolder) {
        self.folder = Some(folder);
    }

    /// Returns true if this server writes.
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
        self.keeper.hold(None);
        StoreError::Fenced(reason.to_string())
    }

    /// Executes a statement under this server's epoch and returns the number of rows.
    fn under_epoch(
        &mut self,
        carry_out: impl FnOnce(&mut Client, i64) -> Result<u64, postgres::Error>,
    ) -> Result<u64, StoreError> {
        let Some(epoch) = self.epoch else {
            return Err(self.step_down("this server is a standby"));
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return Err(self.step_down(&error.to_string())),
        };
        carry_out(client, epoch).map_err(|error| {
            // Only the database knows whether the statement was carried out.
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
        let mut last = None;
        let query = "SELECT seq, sum FROM pavior_leader WHERE epoch = $1";
        self.under_epoch(|client, epoch| {
            let row = client.query_opt(query, &[&epoch])?;
            last = row.map(|row| (row.get::<_, i64>(0) as u64, Chain(row.get(1))));
            Ok(u64::from(last.is_some()))
        })?;
        let last = last.ok_or_else(|| self.step_down(PASSED))?;
        self.last = Some(last);
        Ok(last)
    }

    fn beat(&mut self) -> Result<(), StoreError> {
        let rows = self.under_epoch(|client, epoch| client.execute(BEAT, &[&epoch]))?;
        if rows == 1 { Ok(()) } else { Err(self.step_down(PASSED)) }
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
            Err(self.step_down(PASSED))
        }
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn confirm(&mut self) -> Result<(), StoreError> {
        self.beat()
    }

    fn idle(&mut self) -> Result<(), StoreError> {
        match self.keeper.lost().filter(|_| self.epoch.is_some()) {
            Some(reason) => Err(self.step_down(&reason)),
            None => Ok(()),
        }
    }

    fn decides(&self, begins: bool) {
        self.keeper.decides(begins);
    }

    fn claim(&self) -> Option<Arc<dyn Claim>> {
        Some(self.keeper.clone())
    }

    fn rotate(&mut self) -> Result<bool, StoreError> {
        self.size = 0;
        Ok(true)
    }

    fn retry(&mut self) -> Result<(), StoreError> {
        if self.epoch.is_some() {
            return Ok(());
        }
        let (holder, patience_s) = (self.holder.clone(), self.patience.silence.as_secs_f64());
        let taken = self.client()?.query_opt(TAKE, &[&holder, &patience_s]);
        match taken {
            Ok(Some(row)) => {
                let epoch: i64 = row.get(0);
                (self.epoch, self.last) = (Some(epoch), None);
                self.keeper.hold(self.epoch);
                Ok(())
            }
            Ok(None) => {
                let row = self.client()?.query_one("SELECT holder FROM pavior_leader", &[]);
                let holder: String = row.map_err(|error| failed(&error))?.get(0);
                Err(StoreError::Fenced(holder))
            }
            Err(error) => {
                self.client = None;
                Err(failed(&error))
            }
        }
    }

    fn close(&mut self) {
        self.keeper.end();
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
        self.keeper.end();
    }
}

impl Rows {
    fn with<T>(
        &self,
        ask: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let mut client = self.client.lock();
        if client.as_ref().is_none_or(Client::is_closed) {
            *client = Some(connect(&self.config)?);
        }
        let answer = ask(client.as_mut().expect("it was just connected"));
        if answer.is_err() {
            *client = None;
        }
        answer.map_err(|error| failed(&error))
    }
}

impl Rows {
    /// Returns the checksum at a record, from its row or, after the row's removal, from its
    /// snapshot.
    fn chain_at(&self, seq: u64) -> Result<Option<Chain>, StoreError> {
        if seq == 0 {
            return Ok(Some(Chain::START));
        }
        let query = "SELECT coalesce((SELECT sum FROM pavior_journal WHERE seq = $1),
            (SELECT chain FROM pavior_snapshot WHERE seq = $1))";
        let row = self.with(|client| client.query_one(query, &[&(seq as i64)]))?;
        Ok(row.get::<_, Option<i64>>(0).map(Chain))
    }

    /// Returns the last row's number and checksum, as recorded in the leader's row.
    fn head(&self) -> Result<(u64, Chain), StoreError> {
        let query = "SELECT seq, sum FROM pavior_leader";
        let row = self.with(|client| client.query_opt(query, &[]))?;
        let row = row.ok_or_else(|| StoreError::damaged("pavior_leader", 0, "it is empty"))?;
        Ok((row.get::<_, i64>(0) as u64, Chain(row.get(1))))
    }

    /// Verifies the checksums of all rows and snapshots, and parses the rows and the last snapshot.
    fn verify(&self) -> Result<(), StoreError> {
        let query = "SELECT seq, body, chain, sum FROM pavior_snapshot";
        for row in self.with(|client| client.query(query, &[]))? {
            whole(&row)?;
        }
        loop {
            let oldest = self.oldest()?;
            let found = match self.chain_at(oldest)? {
                Some(_) => self.rows(oldest, &mut |seq, text| {
                    read::parse_record("pavior_journal", seq, text.as_bytes()).map(|_| true)
                }),
                None => Err(StoreError::damaged(
                    "pavior_snapshot",
                    oldest,
                    "the snapshot of this record and the rows before it are missing",
                )),
            };
            // The leader may have removed old rows in the meantime.
            if found.is_ok() || self.oldest()? == oldest {
                return found.and_then(|()| self.snapshot(u64::MAX).map(drop));
            }
        }
    }

    /// Passes the rows after a record to `each`, verifying their checksums.
    fn rows(
        &self,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let table = "pavior_journal";
        // The head is read first, because rows may be added in the meantime.
        let head = self.head()?;
        let mut chain = self.chain_at(after)?;
        let not_last = "this is not the last row that was written";
        if head.0 == after && chain.is_some_and(|chain| chain != head.1) {
            return Err(StoreError::damaged(table, after, not_last));
        }
        let mut last = after;
        loop {
            let query =
                "SELECT seq, record, sum FROM pavior_journal WHERE seq > $1 ORDER BY seq LIMIT $2";
            let rows = self.with(|client| client.query(query, &[&(last as i64), &ROWS]))?;
            for row in &rows {
                let (seq, text): (i64, String) = (row.get(0), row.get(1));
                let (seq, stored) = (seq as u64, Chain(row.get(2)));
                if seq != last + 1 {
                    return Err(StoreError::damaged(
                        table,
                        seq,
                        format!("record {seq} follows {last}"),
                    ));
                }
                if chain.is_some_and(|chain| chain.then(seq, &text) != stored) {
                    let reason = "the row differs from the one that was written";
                    return Err(StoreError::damaged(table, seq, reason));
                }
                (last, chain) = (seq, Some(stored));
                if head.0 == seq && head.1 != stored {
                    return Err(StoreError::damaged(table, seq, not_last));
                }
                if !each(seq, &text)? {
                    return Ok(());
                }
            }
            if rows.len() < ROWS as usize {
                break;
            }
        }
        if last < head.0 && after <= head.0 {
            let reason = format!("the rows after it, up to {}, are missing", head.0);
            return Err(StoreError::damaged(table, last, reason));
        }
        Ok(())
    }
}

impl History for Rows {
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError> {
        let most = i64::try_from(seq).unwrap_or(i64::MAX);
        let query = "SELECT seq, body, chain, sum FROM pavior_snapshot WHERE seq <= $1
            ORDER BY seq DESC LIMIT 1";
        let row = self.with(|client| client.query_opt(query, &[&most]))?;
        let Some(row) = row else {
            let oldest = self.oldest()?;
            return if oldest == 0 { Ok(None) } else { Err(StoreError::Compacted(oldest)) };
        };
        let (found, body): (i64, String) = (row.get(0), row.get(1));
        whole(&row)?;
        let found = found as u64;
        read::parse_snapshot("pavior_snapshot", found, found, body.as_bytes()).map(Some)
    }

    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        let oldest = self.oldest()?;
        if after < oldest {
            return Err(StoreError::Compacted(oldest));
        }
        self.rows(after, &mut |seq, text| {
            let record = read::parse_record("pavior_journal", seq, text.as_bytes())?;
            if record.seq != seq {
                return Err(StoreError::damaged(
                    "pavior_journal",
                    seq,
                    format!("it contains record {}", record.seq),
                ));
            }
            Ok(each(record)?)
        })
    }

    fn oldest(&self) -> Result<u64, StoreError> {
        let query = "SELECT coalesce((SELECT min(seq) - 1 FROM pavior_journal),
            (SELECT max(seq) FROM pavior_snapshot), 0)";
        let row = self.with(|client| client.query_one(query, &[]))?;
        Ok(row.get::<_, i64>(0) as u64)
    }

    fn within(&self, bytes: u64) -> Result<u64, StoreError> {
        let most = i64::try_from(bytes).unwrap_or(i64::MAX);
        let query = "SELECT coalesce(max(seq), 0) FROM (
            SELECT seq, sum(pg_column_size(record)) OVER (ORDER BY seq DESC) AS size
            FROM pavior_journal) AS sizes WHERE size > $1";
        let row = self.with(|client| client.query_one(query, &[&most]))?;
        Ok(row.get::<_, i64>(0) as u64)
    }

    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError> {
        let body = serde_json::to_string(snapshot).expect("a snapshot can be written");
        let chain = self.chain_at(snapshot.seq)?.ok_or_else(|| {
            StoreError::damaged("pavior_journal", snapshot.seq, "the snapshot's row is missing")
        })?;
        let sum = chain.then(snapshot.seq, &body).0;
        let query = "INSERT INTO pavior_snapshot (seq, body, chain, sum) VALUES ($1, $2, $3, $4)
            ON CONFLICT DO NOTHING";
        let seq = snapshot.seq as i64;
        self.with(|client| client.execute(query, &[&seq, &body, &chain.0, &sum])).map(drop)
    }

    fn compact(&self, seq: u64) -> Result<(), StoreError> {
        let most = seq as i64;
        let base = "SELECT max(seq) FROM pavior_snapshot WHERE seq <= $1";
        let base: Option<i64> = self.with(|client| client.query_one(base, &[&most]))?.get(0);
        let Some(base) = base else { return Ok(()) };
        self.with(|client| {
            let mut transaction = client.transaction()?;
            transaction.execute("DELETE FROM pavior_journal WHERE seq <= $1", &[&base])?;
            transaction.execute("DELETE FROM pavior_snapshot WHERE seq < $1", &[&base])?;
            transaction.commit()
        })
    }
}

/// Verifies the checksum of a snapshot's row (number, body, record's sum, own sum).
fn whole(row: &Row) -> Result<(), StoreError> {
    let (seq, body): (i64, String) = (row.get(0), row.get(1));
    let (chain, sum): (i64, i64) = (row.get(2), row.get(3));
    if sum == Chain(chain).then(seq as u64, &body).0 {
        return Ok(());
    }
    Err(StoreError::damaged("pavior_snapshot", seq as u64, "its checksum is wrong"))
}

/// Parses an address. The error does not repeat it, because it may include a password.
///
/// # Errors
/// Returns an error if the text is not an address.
pub fn address(url: &str) -> Result<Config, StoreError> {
    url.parse().map_err(|_| {
        let form = "postgres://USER@HOST:PORT/DATABASE";
        StoreError::Failed(format!("--store: invalid address: it must be {form}"))
    })
}

pub(super) fn connect(config: &Config) -> Result<Client, StoreError> {
    let mut client = config.connect(NoTls).map_err(|error| failed(&error))?;
    // Overrides the database's default, because acknowledged data must be on the disk.
    client.batch_execute("SET synchronous_commit = on").map_err(|error| failed(&error))?;
    Ok(client)
}

/// Returns true if the database reports that it did not carry out a statement. After any other
/// error, such as a lost connection, it may have done so.
fn is_refusal(error: &postgres::Error) -> bool {
    use postgres::error::Severity;
    error.as_db_error().is_some_and(|said| said.parsed_severity() == Some(Severity::Error))
}

/// Formats an error and its cause, which never contain a password.
pub(super) fn describe(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("PostgreSQL: {error}{}", cause.unwrap_or_default())
}

fn failed(error: &postgres::Error) -> StoreError {
    StoreError::Failed(describe(error))
}
