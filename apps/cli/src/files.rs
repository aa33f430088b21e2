//! Reading files, also compressed ones, and writing them whole or not at all.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::failure::Failure;

/// Opens a file for reading; a name that ends in `.gz` is decompressed.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read {}: {error}", path.display()))
    };
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let metadata = file.metadata().map_err(|error| cannot(&error))?;
    if metadata.is_dir() {
        return Err(cannot(&"it is a directory"));
    }
    let gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let reader: Box<dyn Read> =
        if gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(Box::new(BufReader::with_capacity(1 << 16, reader)))
}

/// Writes a file beside its place and renames it when it is whole, so that nobody takes a part for
/// the whole. What is not a regular file (`/dev/stdout`, a pipe) is written as it is.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot =
        |error: io::Error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    // A place that cannot be written is bad usage; a disk that fills up is not.
    let failed =
        |error: io::Error| Failure::Other(format!("cannot write {}: {error}", path.display()));
    if path.exists() && !path.is_file() {
        if path.is_dir() {
            return Err(cannot(io::Error::other("it is a directory")));
        }
        let mut file = BufWriter::new(File::create(path).map_err(cannot)?);
        return write(&mut file).and_then(|()| file.flush()).map_err(failed);
    }
    let beside = beside(path);
    let mut file = BufWriter::new(File::create(&beside).map_err(cannot)?);
    let result =
        write(&mut file).and_then(|()| file.flush()).and_then(|()| file.get_ref().sync_all());
    let result = result.and_then(|()| std::fs::rename(&beside, path));
    result.map_err(|error| {
        // The partial file is of no use; that it cannot be removed either changes nothing.
        let _ = std::fs::remove_file(&beside);
        failed(error)
    })
}

/// Fails early if a file could not be written later.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot write {}: {error}", path.display()))
    };
    if path.is_dir() {
        return Err(cannot(&"it is a directory"));
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let beside = beside(path);
    File::create(&beside).map_err(|error| cannot(&error))?;
    std::fs::remove_file(&beside).map_err(|error| cannot(&error))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
