//! Options of `pavior serve`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A machine, such as torus:8x8x8, or NAME=torus:8x8x8; can be repeated [default: the machines
    /// in --data, or mesh:16x16]
    #[arg(long, short)]
    pub(crate) machine: Vec<String>,
    /// The strategy for all machines; see `pavior strategies` [default: tff]
    #[arg(long, short)]
    pub(crate) strategy: Option<String>,
    /// The scheduler for waiting requests (those with wait=true); see `pavior schedulers`
    #[arg(long)]
    pub(crate) scheduler: Option<String>,
    /// The number of waiting requests per machine, oldest first, for which conservative backfilling
    /// plans a start. This number limits how long a decision takes. Later requests must wait until
    /// they are among the oldest. A depth given in the scheduler's name takes precedence
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) depth: u64,
    /// The rule that turns a number of nodes into a box [default: compact]
    #[arg(long)]
    pub(crate) shape_rule: Option<String>,
    /// The directory for the journal, created if missing
    #[arg(long, default_value = "pavior-data")]
    pub(crate) data: PathBuf,
    /// The store for records: embedded (in --data), or postgres://USER@HOST/DATABASE, which several
    /// servers may share
    #[arg(long, default_value = "embedded")]
    pub(crate) store: String,
    /// A file with the database password, accessible only to its owner [default: PGPASSWORD, or the
    /// file given by PGPASSFILE]
    #[arg(long)]
    pub(crate) store_password_file: Option<PathBuf>,
    /// The address to listen on: 127.0.0.1:8080 or unix:PATH [default: unix:DATA/pavior.sock]
    #[arg(long)]
    pub(crate) listen: Option<String>,
    /// A file of bearer tokens, one per line: TOKEN (the operator's) or TOKEN tenant=NAME
    /// [quota=NODES]; must be accessible only to its owner (chmod 600)
    #[arg(long)]
    pub(crate) token_file: Option<PathBuf>,
    /// The server's certificate (PEM)
    #[arg(long, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM); must be accessible only to its owner (chmod 600)
    #[arg(long, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// CA certificates (PEM) to authenticate clients; a client certificate's first DNS name is the
    /// tenant
    #[arg(long, requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// The maximum number of nodes a tenant may hold and request in total
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) quota: Option<u64>,
    /// The maximum number of requests per second from a tenant; each operation in a batch counts as
    /// a request
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// The maximum number of open connections; reduced to fit the open-file limit
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// The minimum number of records kept as history, unless their size exceeds --history-bytes
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) history: u64,
    /// The maximum size of the records kept as history, in bytes
    #[arg(long, default_value_t = 1 << 30)]
    pub(crate) history_bytes: u64,
    /// The number of records between snapshots
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) snapshot_every: u64,
    /// The maximum number of seconds by which the clock at startup may be ahead of the last record.
    /// If the clock is further ahead, no lease expires until the clock is confirmed
    #[arg(long, default_value_t = 86_400)]
    pub(crate) max_clock_jump: u64,
    /// Accepts the clock at startup, however far it is ahead of the last record
    #[arg(long)]
    pub(crate) confirm_clock: bool,
    /// Up to 16 shapes, such as 4x4x4,8x8x8. For each shape, the metrics report how many boxes fit
    /// at the same time
    #[arg(long)]
    pub(crate) slots: Option<String>,
    /// The seed for random strategies
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}
