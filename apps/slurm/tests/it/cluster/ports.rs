//! Ports for a cluster.

use std::fs::{File, OpenOptions};
use std::net::TcpListener;

/// Consecutive free ports below the ephemeral range. File locks prevent other test runs on this
/// host from using them.
pub(super) struct Ports {
    pub(super) first: u16,
    _locks: Vec<File>,
}

impl Ports {
    /// The number of ports that a lock reserves.
    const BLOCK: u16 = 100;

    pub(super) fn free(count: u16) -> Ports {
        let blocks = count.div_ceil(Ports::BLOCK);
        // Each test run begins at a different port.
        let begin = (std::process::id() % 120) as u16;
        for block in (begin..120 - blocks).chain(0..begin) {
            let locks: Vec<File> = (block..block + blocks).map_while(Ports::lock).collect();
            let first = 20_000 + block * Ports::BLOCK;
            let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
            if locks.len() == usize::from(blocks) && (first..first + count).all(free) {
                return Ports { first, _locks: locks };
            }
        }
        panic!("no {count} free ports");
    }

    /// Locks the file for a block of ports.
    fn lock(block: u16) -> Option<File> {
        let path = std::env::temp_dir().join(format!("pavior-slurm-ports-{block}"));
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).ok()?;
        file.try_lock().is_ok().then_some(file)
    }
}
