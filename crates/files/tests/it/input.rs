use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use pavior_files::{Limits, open, read_if_there, read_text};

#[test]
fn a_compressed_file_that_unpacks_to_more_than_the_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.swf.gz");
    let mut encoder = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::best());
    let line = format!("{}\n", "; ".repeat(500));
    (0..8192).for_each(|_| encoder.write_all(line.as_bytes()).unwrap());
    encoder.finish().unwrap();
    let limits = Limits { line: 4096, total: 1 << 20 };
    let mut read = 0;
    let mut reader = open(&path, limits).unwrap();
    let error = loop {
        let mut buffer = [0; 1 << 14];
        match reader.read(&mut buffer) {
            Ok(0) => panic!("the whole file was read"),
            Ok(length) => read += length,
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(read, 1 << 20);
    assert!(error.contains("longer than 1 MiB (raise the limit with --max-input"), "{error}");
    let mut reader = open(&path, limits.with_total(Some(1 << 30))).unwrap();
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 8192 * 1001);
}

#[test]
fn directories_devices_without_end_and_bytes_that_are_no_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(folder.path(), Limits::LINES).map(drop).unwrap_err().to_string();
    assert!(error.ends_with("is a directory"), "{error}");
    if Path::new("/dev/zero").exists() {
        let error = read_text(Path::new("/dev/zero"), Limits::DOCUMENT).unwrap_err().to_string();
        assert!(error.contains("longer than 16 MiB"), "{error}");
    }
    let path = folder.path().join("a\u{1b}[2J.toml");
    std::fs::write(&path, b"a = 1\nb\xc3\xa9 = \xff\n").unwrap();
    let error = read_text(&path, Limits::DOCUMENT).unwrap_err().to_string();
    assert!(error.ends_with("line 2, column 6 is not UTF-8 text"), "{error}");
    assert!(!error.contains('\u{1b}') && error.contains("\\u{1b}[2J"), "{error}");
    // Only a file that is known to be missing counts as missing.
    assert!(read_if_there(&folder.path().join("none"), Limits::LINES).unwrap().is_none());
    assert!(read_if_there(&path.join("none"), Limits::LINES).is_err());
}

#[test]
fn truncated_and_corrupt_gzip_files_are_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.swf.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"1 2 3\n").unwrap();
    let whole = encoder.finish().unwrap();
    let mut damaged = whole.clone();
    // Change a byte of the checksum.
    damaged[whole.len() - 6] ^= 0xff;
    let text = b"a text that is not gzip";
    let wrong =
        [(&whole[..whole.len() - 9], "truncated"), (&damaged[..], "corrupt"), (text, "corrupt")];
    for (bytes, word) in wrong {
        std::fs::write(&path, bytes).unwrap();
        let error = read_text(&path, Limits::DOCUMENT).unwrap_err().to_string();
        assert!(error.ends_with(&format!("the gzip file is {word}")), "{error}");
    }
}
