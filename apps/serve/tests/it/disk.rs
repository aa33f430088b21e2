//! A simulated disk that loses, tears and reorders unsynced writes, fills up and fails.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use pavior_serve::core::ServiceState;
use pavior_serve::storage::disk::{Disk, DiskFile};
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::storage::{History, RecordStore};
use pavior_serve::writer::recover;

use crate::decisions::limits;
use crate::random::Random;

/// The size of an atomic write, in bytes.
const SECTOR: usize = 64;

#[derive(Clone, Default)]
struct Content {
    durable: Vec<u8>,
    /// The contents as seen by the process.
    seen: Vec<u8>,
    /// Writes and truncations since the last sync.
    pending: Vec<Change>,
}

impl Content {
    fn durable(bytes: Vec<u8>) -> Content {
        Content { durable: bytes.clone(), seen: bytes, pending: Vec::new() }
    }
}

#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Cut(u64),
}

#[derive(Default)]
struct Inner {
    files: Vec<Content>,
    /// The names as seen by the process.
    seen: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    /// The remaining space in bytes; `None` means unlimited.
    room: Option<u64>,
    /// The number of operations until the next fault, and the fault itself.
    until_fault: Option<(u64, Fault)>,
    /// The number of further attempts to open a file that will fail.
    exhausted: u64,
    /// True once the power has failed.
    dead: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The power fails.
    Crash,
    /// One operation fails.
    Error,
    /// The disk stays full.
    Full,
    /// Opening a file fails this many times.
    Descriptors(u64),
    /// The operation panics.
    Panic,
}

/// A simulated disk, shared by its clones.
#[derive(Clone, Default)]
pub(crate) struct Simulated(Arc<Mutex<Inner>>);

/// Opens a journal and recovers its state.
pub(crate) fn opened(disk: impl Disk + 'static) -> Result<(JournalStore, ServiceState), String> {
    let (journal, _) = JournalStore::open(Arc::new(disk)).map_err(|error| error.to_string())?;
    let state = state_of(&*journal.history(), u64::MAX)?;
    Ok((journal, state))
}

/// Returns the state after a record.
pub(crate) fn state_of(history: &dyn History, seq: u64) -> Result<ServiceState, String> {
    recover(history, seq, &limits(), 1).map_err(|error| error.to_string())
}

/// Returns all files of a disk.
pub(crate) fn files(disk: &Simulated) -> BTreeMap<String, Vec<u8>> {
    let names = disk.list().unwrap().into_iter();
    names.map(|name| (name.clone(), disk.read(&name).unwrap())).collect()
}

struct Handle {
    disk: Simulated,
    file: usize,
}

impl Simulated {
    /// Makes the disk fail after `operations` more operations.
    pub(crate) fn fault_after(&self, operations: u64, fault: Fault) {
        self.0.lock().unwrap().until_fault = Some((operations, fault));
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.0.lock().unwrap().dead
    }

    /// Frees space and clears all faults.
    pub(crate) fn mend(&self) {
        let mut inner = self.0.lock().unwrap();
        (inner.room, inner.until_fault, inner.exhausted) = (None, None, 0);
    }

    /// Changes the bytes of a file, or removes it if `change` returns `None`.
    pub(crate) fn change(&self, name: &str, change: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) {
        let mut inner = self.0.lock().unwrap();
        let file = inner.seen[name];
        let changed = change(inner.files[file].seen.clone());
        if let Some(bytes) = changed {
            inner.files[file] = Content::durable(bytes);
        } else {
            inner.seen.remove(name);
            inner.durable.remove(name);
        }
    }

    /// Creates a durable file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let mut inner = self.0.lock().unwrap();
        inner.files.push(Content::durable(bytes.to_vec()));
        let file = inner.files.len() - 1;
        inner.seen.insert(name.to_string(), file);
        inner.durable.insert(name.to_string(), file);
    }

    /// Counts an operation that opens a file. Also fails if no file descriptors are left.
    fn open_another(&self) -> io::Result<()> {
        self.operate()?;
        let mut inner = self.0.lock().unwrap();
        if inner.exhausted == 0 {
            return Ok(());
        }
        inner.exhausted -= 1;
        // EMFILE
        Err(io::Error::from_raw_os_error(24))
    }

    /// Returns the disk after a power failure, with a random subset of the unsynced changes.
    pub(crate) fn after_crash(&self, random: &mut Random) -> Simulated {
        let inner = self.0.lock().unwrap();
        let mut after = Inner { durable: inner.durable.clone(), ..Inner::default() };
        // The most recent renames and removals may be lost.
        if random.one_in(2) {
            after.durable = inner.seen.clone();
        }
        for content in &inner.files {
            let mut bytes = content.durable.clone();
            for change in &content.pending {
                match change {
                    Change::Cut(length) if random.one_in(2) => bytes.truncate(*length as usize),
                    Change::Cut(_) => {}
                    Change::Write(offset, data) => tear(&mut bytes, *offset as usize, data, random),
                }
            }
            after.files.push(Content::durable(bytes));
        }
        after.seen = after.durable.clone();
        Simulated(Arc::new(Mutex::new(after)))
    }

    pub(crate) fn flip(&self, name: &str, bit: usize) {
        let mut inner = self.0.lock().unwrap();
        let file = inner.seen[name];
        let content = &mut inner.files[file];
        for bytes in [&mut content.durable, &mut content.seen] {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Returns an independent copy of the disk.
    pub(crate) fn copy(&self) -> Simulated {
        let inner = self.0.lock().unwrap();
        let (files, seen) = (inner.files.clone(), inner.seen.clone());
        let copy = Inner { files, durable: seen.clone(), seen, ..Inner::default() };
        Simulated(Arc::new(Mutex::new(copy)))
    }

    /// Counts an operation, which fails if a fault is due.
    fn operate(&self) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        if inner.dead {
            return Err(io::Error::other("the power has failed"));
        }
        let Some((left, fault)) = &mut inner.until_fault else { return Ok(()) };
        if *left > 0 {
            *left -= 1;
            return Ok(());
        }
        let fault = *fault;
        inner.until_fault = None;
        match fault {
            Fault::Crash => {
                inner.dead = true;
                return Err(io::Error::other("the power failed"));
            }
            Fault::Error => return Err(io::Error::other("the disk failed")),
            Fault::Full => inner.room = Some(40),
            Fault::Descriptors(calls) => inner.exhausted = calls,
            Fault::Panic => {
                // Release the lock, so that the panic does not poison it.
                drop(inner);
                panic!("the disk panics")
            }
        }
        Ok(())
    }
}

/// Writes all, some or none of the sectors. Unless all are written, a sector may be torn.
fn tear(bytes: &mut Vec<u8>, offset: usize, data: &[u8], random: &mut Random) {
    if random.one_in(3) {
        return;
    }
    let all = random.one_in(3);
    for (index, sector) in data.chunks(SECTOR).enumerate() {
        if !all && random.one_in(2) {
            continue;
        }
        let torn = !all && random.one_in(5);
        let kept = if torn { random.below(sector.len() as u64) as usize } else { sector.len() };
        let start = offset + index * SECTOR;
        if bytes.len() < start + kept {
            // Unwritten sectors contain zeros or old data.
            let old = if random.one_in(2) { 0 } else { random.below(256) as u8 };
            bytes.resize(start + kept, old);
        }
        bytes[start..start + kept].copy_from_slice(&sector[..kept]);
    }
}

impl Disk for Simulated {
    fn list(&self) -> io::Result<Vec<String>> {
        self.open_another()?;
        Ok(self.0.lock().unwrap().seen.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.open_another()?;
        let inner = self.0.lock().unwrap();
        let file = inner.seen.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(inner.files[*file].seen.clone())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.open_another()?;
        let mut inner = self.0.lock().unwrap();
        let existing = inner.seen.get(name).copied();
        let file = existing.unwrap_or_else(|| {
            inner.files.push(Content::default());
            let file = inner.files.len() - 1;
            inner.seen.insert(name.to_string(), file);
            file
        });
        Ok(Box::new(Handle { disk: self.clone(), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate()?;
        let mut inner = self.0.lock().unwrap();
        let file = inner.seen.remove(from).ok_or(io::ErrorKind::NotFound)?;
        inner.seen.insert(to.to_string(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.operate()?;
        self.0.lock().unwrap().seen.remove(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.operate()?;
        let mut inner = self.0.lock().unwrap();
        inner.durable = inner.seen.clone();
        Ok(())
    }
}

impl DiskFile for Handle {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let fault = self.disk.operate();
        let mut inner = self.disk.0.lock().unwrap();
        let fits = inner.room.map_or(bytes.len(), |room| bytes.len().min(room as usize));
        // A failed write may have written part of the data.
        let done = if fault.is_err() { bytes.len() / 2 } else { fits };
        if let Some(room) = &mut inner.room {
            *room -= done.min(*room as usize) as u64;
        }
        let content = &mut inner.files[self.file];
        let end = offset as usize + done;
        if content.seen.len() < end {
            content.seen.resize(end, 0);
        }
        content.seen[offset as usize..end].copy_from_slice(&bytes[..done]);
        // After a failure, any part of the write may reach the disk.
        let sent = if fault.is_err() { bytes } else { &bytes[..done] };
        content.pending.push(Change::Write(offset, sent.to_vec()));
        fault?;
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.disk.operate()?;
        let mut inner = self.disk.0.lock().unwrap();
        let content = &mut inner.files[self.file];
        content.seen.truncate(length as usize);
        content.pending.push(Change::Cut(length));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let fault = self.disk.operate();
        let mut inner = self.disk.0.lock().unwrap();
        let dead = inner.dead;
        let content = &mut inner.files[self.file];
        let pending = if dead { Vec::new() } else { std::mem::take(&mut content.pending) };
        // After an error, the kernel treats unwritten pages as written, so the next sync does not
        // retry them.
        fault?;
        for change in pending {
            match change {
                Change::Cut(length) => content.durable.truncate(length as usize),
                Change::Write(offset, data) => {
                    let (start, end) = (offset as usize, offset as usize + data.len());
                    content.durable.resize(content.durable.len().max(end), 0);
                    content.durable[start..end].copy_from_slice(&data);
                }
            }
        }
        Ok(())
    }

    fn in_place(&self) -> io::Result<()> {
        if self.disk.0.lock().unwrap().seen.values().any(|&file| file == self.file) {
            Ok(())
        } else {
            Err(io::Error::other("it was removed"))
        }
    }
}
