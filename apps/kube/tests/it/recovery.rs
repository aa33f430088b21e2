//! Recovery: how soon a copy acts after the API server is back, where connections were refused and
//! where they swallowed everything.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::cluster::{Cluster, JOBS, PLACEMENTS, User, job, release};

/// A forwarder of connections that can swallow all bytes of those that are open.
pub(crate) struct Wire {
    pub(crate) port: u16,
    /// Connections that began at an earlier count are dead; while it is odd, new ones are, too.
    outages: Arc<AtomicU64>,
}

impl Wire {
    /// Forwards connections to a port, as long as the runtime lives.
    pub(crate) fn start(runtime: &Runtime, to: u16) -> Wire {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
        let port = listener.local_addr().unwrap().port();
        let outages = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&outages);
        runtime.spawn(async move {
            loop {
                let Ok((near, _)) = listener.accept().await else { continue };
                let (own, since) = (Arc::clone(&own), own.load(Ordering::SeqCst));
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(("127.0.0.1", to)).await else { return };
                    let ((from, back), (answers, asks)) = (near.into_split(), far.into_split());
                    tokio::join!(pump(from, asks, &own, since), pump(answers, back, &own, since));
                });
            }
        });
        Wire { port, outages }
    }

    fn toggle(&self) {
        self.outages.fetch_add(1, Ordering::SeqCst);
    }
}

/// Forwards bytes until the connection ends or is dead; a dead one is never closed.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, outages: &AtomicU64, since: u64) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        let now = outages.load(Ordering::SeqCst);
        if now != since || now % 2 == 1 {
            pending::<()>().await;
        }
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// Creates a Job and returns the time until it has a confirmed box.
fn placed(cluster: &Cluster, name: &str) -> Duration {
    let began = Instant::now();
    let body = job(name, "1x1x1", 600);
    let make = || cluster.ask(User::Alice, "POST", JOBS, &body);
    cluster.until("it is made", || matches!(make(), Ok(_) | Err((409, _))));
    cluster.until("it is placed", || {
        let all = cluster.ask(User::Admin, "GET", PLACEMENTS, &Value::Null).unwrap_or_default();
        let mut all = all["items"].as_array().into_iter().flatten();
        all.any(|one| one["spec"]["job"] == name && one["status"]["confirmed"] == true)
    });
    began.elapsed()
}

#[test]
fn a_copy_acts_soon_after_the_api_server_is_back() {
    let Some(mut cluster) = Cluster::start("recovery", release(), [4, 2, 1]) else { return };
    cluster.machine("mesh:4x2x1");
    let wire = cluster.wire();
    cluster.start_copy_as("spoilt", "lease", &[]);
    let before = placed(&cluster, "before");
    cluster.end_part("kube-apiserver");
    // The delays between attempts grow to their longest.
    std::thread::sleep(Duration::from_secs(10));
    cluster.run("kube-apiserver");
    let refused = placed(&cluster, "refused");
    // What was asked just before the end of an outage has the longest to wait.
    wire.toggle();
    std::thread::sleep(Duration::from_secs(3));
    wire.toggle();
    let swallowed = placed(&cluster, "swallowed");
    eprintln!(
        "placed after {before:.1?}; after a restart {refused:.1?}; after an outage that swallowed \
         {swallowed:.1?}"
    );
    assert!(refused < before + Duration::from_secs(5), "{refused:?}, before {before:?}");
    assert!(swallowed < before + Duration::from_secs(30), "{swallowed:?}, before {before:?}");
}
