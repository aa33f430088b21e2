//! The options of `pavior serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A machine, such as torus:8x8x8, or NAME=torus:8x8x8; may stand several times [default: those
    /// of the data, or mesh:16x16]
    #[arg(long, short)]
    pub(crate) machine: Vec<String>,
    /// The strategy of all machines; see `pavior strategies` [default: tff]
    #[arg(long, short)]
    pub(crate) strategy: Option<String>,
    /// Orders the requests that wait (those with wait=true); see `pavior schedulers`
    #[arg(long)]
    pub(crate) scheduler: Option<String>,
    /// The most waiting requests of a machine, from the oldest, that conservative backfilling plans
    /// for: it bounds the time of a decision, and the requests behind wait until they are among
    /// them; a depth in the name of the scheduler wins
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) depth: u64,
    /// How a number of nodes becomes a box
    #[arg(long, default_value = "compact")]
    pub(crate) shape_rule: String,
    /// The folder of the journal, made if there is none
    #[arg(long, default_value = "pavior-data")]
    pub(crate) data: PathBuf,
    /// Where records are kept: embedded (in --data), or postgres://USER@HOST/DATABASE, which
    /// several servers may share
    #[arg(long, default_value = "embedded")]
    pub(crate) store: String,
    /// A file with the password of the database, which no other user may read [default: PGPASSWORD,
    /// or the file that PGPASSFILE names]
    #[arg(long)]
    pub(crate) store_password_file: Option<PathBuf>,
    /// Where to listen: 127.0.0.1:8080 or unix:PATH [default: unix:DATA/pavior.sock]
    #[arg(long)]
    pub(crate) listen: Option<String>,
    /// A file of bearer tokens, a line each: TOKEN (the operator's) or TOKEN tenant=NAME
    /// [quota=NODES]; its owner alone may have access to it (chmod 600)
    #[arg(long)]
    pub(crate) token_file: Option<PathBuf>,
    /// The server's certificate (PEM)
    #[arg(long, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM); its owner alone may have access to it (chmod 600)
    #[arg(long, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Certificates that vouch for clients (PEM); a client's first DNS name is its tenant
    #[arg(long, requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// The most nodes that a tenant may hold and wait for
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) quota: Option<u64>,
    /// The most requests a second of a tenant; a batch counts as its operations
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// The most connections at a time; fewer where the limit of open files is lower
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// Records that are kept for looking back, at least, unless they pass --history-bytes
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) history: u64,
    /// The most bytes of records that are kept for looking back
    #[arg(long, default_value_t = 1 << 30)]
    pub(crate) history_bytes: u64,
    /// Records between snapshots
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) snapshot_every: u64,
    /// Seconds that the clock may be after the last record at the start: beyond that no lease ends
    /// by time until the clock is confirmed
    #[arg(long, default_value_t = 86_400)]
    pub(crate) max_clock_jump: u64,
    /// Believes the clock at the start, however far it is after the last record: the service was
    /// down for so long
    #[arg(long)]
    pub(crate) confirm_clock: bool,
    /// Shapes such as 4x4x4,8x8x8, at most 16: the metrics say how many such boxes can be placed
    /// side by side
    #[arg(long)]
    pub(crate) slots: Option<String>,
    /// The seed of random strategies
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}
