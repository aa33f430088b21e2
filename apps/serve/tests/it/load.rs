//! Checks under load that every operation gets the right answer, that memory does not grow, and
//! that a killed server recovers many records. `benches/load.rs` measures the speed. The long
//! version performs ten million operations.

use serde_json::json;

use crate::client::has;
use crate::server::fresh;
use crate::workload::{in_batches, one_by_one};

#[test]
fn operations_under_load_are_all_answered() {
    let (server, _) = fresh(|setup| setup.machine = "mesh:64x64".into());
    let address = &server.address;
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(move || one_by_one(address, |count| count >= 100));
        }
        for _ in 0..4 {
            scope.spawn(move || in_batches(address, 512, |count| count >= 8_192));
        }
    });
    let machine = server.client().get("/v1/machine").json();
    has(&machine, &json!({ "free": 4096, "jobs": 0 }));
}

#[test]
fn memory_does_not_grow() {
    let total: u64 = pavior_trials::size(20_000, 60_000, 10_000_000);
    let (server, _) = fresh(|setup| {
        setup.machine = "mesh:32x32".into();
        (setup.snapshot_every, setup.history) = (total.div_ceil(20).min(100_000), 100_000);
    });
    let part = total / 4;
    let mut seen = Vec::new();
    for _ in 0..4 {
        in_batches(&server.address, 256, |count| count >= part);
        seen.push(server.memory());
    }
    println!("{total} operations, memory after each quarter: {seen:?} KiB");
    // Bounded structures fill up in the first quarter. After that, memory must not grow much.
    let grown = seen[3].saturating_sub(seen[0]);
    assert!(grown < 32 * 1024, "{grown} KiB more after three more quarters");
}

#[test]
fn a_killed_server_with_many_records_recovers() {
    let (mut server, setup) = fresh(|setup| setup.machine = "mesh:32x32".into());
    in_batches(&server.address, 512, |count| count >= 30_000);
    let before = server.client().get("/readyz").json();
    server.restart(&setup);
    let after = server.client().get("/readyz").json();
    assert_eq!(before["seq"], after["seq"]);
}
