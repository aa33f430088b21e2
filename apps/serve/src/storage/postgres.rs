//! PostgreSQL as the store: several servers share a database, and one of them writes.
//!
//! Who writes is a row with an epoch. Every insert carries the writer's epoch and takes the row
//! with it in the same statement: if another server has raised the epoch, no record is inserted. A
//! server that was paused for an hour and goes on in the middle of an insert is fenced by that, as
//! it could not be by a lock that its session holds. Replies to readers are fenced by asking for
//! the epoch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postgres::{Client, Config, NoTls};

use super::{Each, History, RecordStore, StoreError};
use crate::clock::ServiceClock;
use crate::core::{ServiceRecord, StateSnapshot};

/// Milliseconds between signs of life.
const BEAT_MS: u64 = 500;
/// Rows that are read at a time.
const ROWS: i64 = 1000;

const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(8087651234);
    CREATE TABLE IF NOT EXISTS pavior_leader (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        epoch bigint NOT NULL, holder text NOT NULL, beat timestamptz NOT NULL);
    CREATE TABLE IF NOT EXISTS pavior_journal (
        seq bigint PRIMARY KEY, epoch bigint NOT NULL, record text NOT NULL);
    CREATE TABLE IF NOT EXISTS pavior_snapshot (seq bigint PRIMARY KEY, body text NOT NULL);
    INSERT INTO pavior_leader VALUES (true, 0, '', 'epoch') ON CONFLICT DO NOTHING;";

/// The insert takes the leader's row and is one with it: no row, no records.
const INSERT: &str = "
    WITH leader AS (
        UPDATE pavior_leader SET beat = clock_timestamp() WHERE epoch = $1 RETURNING epoch)
    INSERT INTO pavior_journal (seq, epoch, record)
    SELECT item.seq, leader.epoch, item.record
    FROM leader, unnest($2::bigint[], $3::text[]) AS item (seq, record)";

const BEAT: &str = "UPDATE pavior_leader SET beat = clock_timestamp() WHERE epoch = $1";

const TAKE: &str = "
    UPDATE pavior_leader SET epoch = epoch + 1, holder = $1, beat = clock_timestamp()
    WHERE holder = '' OR beat < clock_timestamp() - make_interval(secs => $2) RETURNING epoch";

/// The writer's side of a database.
pub struct PostgresStore {
    config: Config,
    /// What the leader is called in the database.
    holder: String,
    /// Seconds without a sign of life after which another server takes over.
    patience_s: f64,
    client: Option<Client>,
    /// The epoch under which this server writes.
    epoch: Option<i64>,
    beat_ms: u64,
    clock: ServiceClock,
    history: Arc<Rows>,
}

/// The reader's side.
struct Rows {
    config: Config,
    client: Mutex<Option<Client>>,
}

impl PostgresStore {
    /// Connects, makes the tables if there are none, and writes if no other server does.
    ///
    /// # Errors
    /// If the address is wrong or the database cannot be reached.
    pub fn open(url: &str, holder: &str, patience_s: f64) -> Result<PostgresStore, StoreError> {
        let mut config: Config = url.parse().map_err(|error| failed(&error))?;
        config.connect_timeout(Duration::from_secs(5));
        config.application_name("pavior serve");
        let history = Arc::new(Rows { config: config.clone(), client: Mutex::new(None) });
        let mut store = PostgresStore {
            config,
            holder: holder.to_string(),
            patience_s,
            client: None,
            epoch: None,
            beat_ms: 0,
            clock: ServiceClock::new(),
            history,
        };
        let mut transaction = store.client()?.transaction().map_err(|error| failed(&error))?;
        transaction.batch_execute(SCHEMA).map_err(|error| failed(&error))?;
        transaction.commit().map_err(|error| failed(&error))?;
        match store.retry() {
            Ok(()) | Err(StoreError::Fenced(_)) => Ok(store),
            Err(error) => Err(error),
        }
    }

    /// Whether this server writes.
    pub fn leads(&self) -> bool {
        self.epoch.is_some()
    }

    fn client(&mut self) -> Result<&mut Client, StoreError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(connect(&self.config)?);
        }
        Ok(self.client.as_mut().expect("it was just connected"))
    }

    /// Ends what this server took itself for: it writes no more until it takes over again.
    fn step_down(&mut self, reason: &str) -> StoreError {
        self.epoch = None;
        StoreError::Fenced(reason.to_string())
    }

    /// Carries out a statement under the own epoch; returns the number of rows.
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
        match carry_out(client, epoch) {
            Ok(rows) => {
                self.beat_ms = self.clock.now_ms();
                Ok(rows)
            }
            Err(error) => {
                // Whether it was carried out is not known: what is in the database decides.
                self.client = None;
                Err(self.step_down(&describe(&error)))
            }
        }
    }

    fn beat(&mut self) -> Result<(), StoreError> {
        let rows = self.under_epoch(|client, epoch| client.execute(BEAT, &[&epoch]))?;
        if rows == 1 { Ok(()) } else { Err(self.step_down("its epoch has passed")) }
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
        let rows =
            self.under_epoch(|client, epoch| client.execute(INSERT, &[&epoch, &numbers, &texts]))?;
        if rows == records.len() as u64 {
            Ok(())
        } else {
            Err(self.step_down("its epoch has passed"))
        }
    }

    fn confirm(&mut self) -> Result<(), StoreError> {
        self.beat()
    }

    fn idle(&mut self) -> Result<(), StoreError> {
        if self.epoch.is_none() || self.clock.now_ms() < self.beat_ms + BEAT_MS {
            return Ok(());
        }
        self.beat()
    }

    fn rotate(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn retry(&mut self) -> Result<(), StoreError> {
        if self.epoch.is_some() {
            return Ok(());
        }
        let (holder, patience_s) = (self.holder.clone(), self.patience_s);
        let taken = self.client()?.query_opt(TAKE, &[&holder, &patience_s]);
        match taken {
            Ok(Some(row)) => {
                self.epoch = Some(row.get(0));
                self.beat_ms = self.clock.now_ms();
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
        let Some(epoch) = self.epoch.take() else { return };
        if let Some(client) = &mut self.client {
            let release = "UPDATE pavior_leader SET holder = '' WHERE epoch = $1";
            if let Err(error) = client.execute(release, &[&epoch]) {
                tracing::warn!(error = describe(&error), "the lead could not be handed over");
            }
        }
    }

    fn history(&self) -> Arc<dyn History> {
        self.history.clone()
    }
}

impl Rows {
    fn with<T>(
        &self,
        ask: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let mut client: MutexGuard<'_, Option<Client>> =
            self.client.lock().unwrap_or_else(PoisonError::into_inner);
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

impl History for Rows {
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError> {
        let most = i64::try_from(seq).unwrap_or(i64::MAX);
        let query =
            "SELECT seq, body FROM pavior_snapshot WHERE seq <= $1 ORDER BY seq DESC LIMIT 1";
        let row = self.with(|client| client.query_opt(query, &[&most]))?;
        let Some(row) = row else {
            let oldest = self.oldest()?;
            return if oldest == 0 { Ok(None) } else { Err(StoreError::Compacted(oldest)) };
        };
        let (found, body): (i64, String) = (row.get(0), row.get(1));
        serde_json::from_str(&body).map(Some).map_err(|error| StoreError::Damaged {
            file: "pavior_snapshot".to_string(),
            offset: found as u64,
            reason: error.to_string(),
        })
    }

    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        let oldest = self.oldest()?;
        if after < oldest {
            return Err(StoreError::Compacted(oldest));
        }
        let mut last = after as i64;
        loop {
            let query =
                "SELECT seq, record FROM pavior_journal WHERE seq > $1 ORDER BY seq LIMIT $2";
            let rows = self.with(|client| client.query(query, &[&last, &ROWS]))?;
            for row in &rows {
                let (seq, text): (i64, String) = (row.get(0), row.get(1));
                let damaged = |reason: String| StoreError::Damaged {
                    file: "pavior_journal".to_string(),
                    offset: seq as u64,
                    reason,
                };
                let record: ServiceRecord =
                    serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
                if record.seq != seq as u64 || seq != last + 1 {
                    return Err(damaged(format!("record {} follows {last}", record.seq)));
                }
                last = seq;
                if !each(record)? {
                    return Ok(());
                }
            }
            if rows.len() < ROWS as usize {
                return Ok(());
            }
        }
    }

    fn oldest(&self) -> Result<u64, StoreError> {
        let query = "SELECT coalesce((SELECT min(seq) - 1 FROM pavior_journal),
            (SELECT max(seq) FROM pavior_snapshot), 0)";
        let row = self.with(|client| client.query_one(query, &[]))?;
        Ok(row.get::<_, i64>(0) as u64)
    }

    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError> {
        let body = serde_json::to_string(snapshot).expect("a snapshot can be written");
        let query = "INSERT INTO pavior_snapshot VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.with(|client| client.execute(query, &[&(snapshot.seq as i64), &body])).map(drop)
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

fn connect(config: &Config) -> Result<Client, StoreError> {
    let mut client = config.connect(NoTls).map_err(|error| failed(&error))?;
    // Whatever the database's own default: what is acknowledged is on the disk.
    client.batch_execute("SET synchronous_commit = on").map_err(|error| failed(&error))?;
    Ok(client)
}

/// The error and what is behind it; it never holds a password.
fn describe(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("PostgreSQL: {error}{}", cause.unwrap_or_default())
}

fn failed(error: &postgres::Error) -> StoreError {
    StoreError::Failed(describe(error))
}
