//! Checks that the journal works without free file descriptors, and creates new files once it can.

use std::sync::Arc;

use pavior_serve::storage::RecordStore;
use pavior_serve::storage::journal::JournalStore;

use crate::disk::{Fault, Simulated, opened, state_of};
use crate::records;

/// The minimum number of records retained before the latest group.
const HISTORY: u64 = 30;

#[test]
fn records_are_stored_without_descriptors_and_files_are_created_later() {
    let (groups, state) = records::groups(4, 40);
    let (mut put_off, mut unsaved) = (0, 0);
    // Writing all groups takes fewer than 150 disk operations.
    for operation in 0..150 {
        let disk = Simulated::default();
        let (mut journal, _) = JournalStore::open(Arc::new(disk.clone())).unwrap();
        disk.fault_after(operation, Fault::Descriptors(4));
        for (index, group) in groups.iter().enumerate() {
            journal.append(group).expect("records are kept without a new descriptor");
            journal.idle().expect("the mark is written without a new descriptor");
            if index % 4 != 3 {
                continue;
            }
            if !journal.rotate().expect("a rotation is postponed without an error") {
                put_off += 1;
                continue;
            }
            let history = journal.history();
            let at = state_of(&*history, u64::MAX);
            let saved = at.is_ok_and(|at| history.save(&at.snapshot()).is_ok());
            let saved = saved && history.compact(group[0].seq.saturating_sub(HISTORY)).is_ok();
            unsaved += u32::from(!saved);
        }
        disk.mend();
        assert!(journal.rotate().expect("descriptors are available again"));
        journal.close();
        drop(journal);
        let (journal, found) = opened(disk.clone()).unwrap();
        assert_eq!(found.snapshot(), state, "operation {operation}");
        assert!(journal.history().oldest().is_ok());
    }
    println!("{put_off} rotations postponed, {unsaved} snapshots not saved");
    assert!(put_off > 0 && unsaved > 0);
}
