//! The sums by which the rows of a database hang together.

use postgres::{Client, Error, Transaction};

use super::frame;

/// The columns of the sums, which the tables of former programs lack.
pub(super) const SUMS: &str = "
    ALTER TABLE pavior_leader ADD COLUMN IF NOT EXISTS seq bigint;
    ALTER TABLE pavior_leader ADD COLUMN IF NOT EXISTS sum bigint;
    ALTER TABLE pavior_journal ADD COLUMN IF NOT EXISTS sum bigint;
    ALTER TABLE pavior_snapshot ADD COLUMN IF NOT EXISTS chain bigint;
    ALTER TABLE pavior_snapshot ADD COLUMN IF NOT EXISTS sum bigint;";

/// Rows that are summed at a time.
const ROWS: i64 = 5000;

/// The sum of a row: CRC-64/XZ over the sum of the row before it, its number, and its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain(pub(super) i64);

impl Chain {
    /// The sum before the first row.
    pub(super) const START: Chain = Chain(0);

    /// The sum of the row that comes next.
    pub(super) fn then(self, seq: u64, record: &str) -> Chain {
        let mut bytes = Vec::with_capacity(16 + record.len());
        bytes.extend(self.0.to_le_bytes());
        bytes.extend(seq.to_le_bytes());
        bytes.extend(record.as_bytes());
        Chain(frame::sum(&bytes) as i64)
    }
}

/// Adds the sums to tables of a former program, in one transaction under the own epoch.
///
/// The rows are taken as they are. What was before the first row is not known any more where older
/// ones have gone: the chain begins at the snapshot of it. From then on a row without a sum cannot
/// be inserted, which ends what a former program would write.
pub(super) fn begin(client: &mut Client, epoch: i64) -> Result<(), Error> {
    let mut transaction = client.transaction()?;
    // Held to the end: no other server takes over meanwhile.
    let query = "SELECT seq FROM pavior_leader WHERE epoch = $1 FOR UPDATE";
    let row = transaction.query_opt(query, &[&epoch])?;
    let Some(None) = row.map(|row| row.get::<_, Option<i64>>(0)) else {
        // It has the sums already; or the epoch has passed, which the next statement finds.
        return transaction.commit();
    };
    let (last, chain) = sum_up(&mut transaction)?;
    let query = "UPDATE pavior_leader SET seq = $2, sum = $3, beat = clock_timestamp()
        WHERE epoch = $1";
    transaction.execute(query, &[&epoch, &last, &chain.0])?;
    transaction.batch_execute(
        "UPDATE pavior_snapshot AS snapshot SET chain = journal.sum FROM pavior_journal AS journal
            WHERE journal.seq = snapshot.seq;
        ALTER TABLE pavior_journal ALTER COLUMN sum SET NOT NULL;",
    )?;
    let query = "SELECT seq, body, chain FROM pavior_snapshot WHERE chain IS NOT NULL";
    for row in transaction.query(query, &[])? {
        let (seq, body, chain): (i64, String, i64) = (row.get(0), row.get(1), row.get(2));
        let sum = Chain(chain).then(seq as u64, &body).0;
        transaction.execute("UPDATE pavior_snapshot SET sum = $2 WHERE seq = $1", &[&seq, &sum])?;
    }
    transaction.commit()
}

/// Sums up the rows that are there; the number and the sum of the last one.
fn sum_up(transaction: &mut Transaction<'_>) -> Result<(i64, Chain), Error> {
    let query = "SELECT coalesce((SELECT min(seq) - 1 FROM pavior_journal),
        (SELECT max(seq) FROM pavior_snapshot), 0)";
    let mut last: i64 = transaction.query_one(query, &[])?.get(0);
    let mut chain = Chain::START;
    transaction
        .execute("UPDATE pavior_snapshot SET chain = $1 WHERE seq = $2", &[&chain.0, &last])?;
    loop {
        let query = "SELECT seq, record FROM pavior_journal WHERE seq > $1 ORDER BY seq LIMIT $2";
        let rows = transaction.query(query, &[&last, &ROWS])?;
        let (mut numbers, mut sums) = (Vec::new(), Vec::new());
        for row in &rows {
            let (seq, record): (i64, String) = (row.get(0), row.get(1));
            chain = chain.then(seq as u64, &record);
            last = seq;
            numbers.push(seq);
            sums.push(chain.0);
        }
        if rows.is_empty() {
            return Ok((last, chain));
        }
        let query = "UPDATE pavior_journal AS journal SET sum = item.sum
            FROM unnest($1::bigint[], $2::bigint[]) AS item (seq, sum)
            WHERE journal.seq = item.seq";
        transaction.execute(query, &[&numbers, &sums])?;
    }
}
