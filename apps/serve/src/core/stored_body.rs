//! Bodies of stored replies. Long bodies are compressed, because they are written to the journal
//! and, for a day, to every snapshot.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use pavior::Grid;
use serde::{Deserialize, Serialize};

/// The size in bytes above which a body is compressed.
const MAX_PLAIN_BYTES: usize = 2048;
/// The maximum size of a decompressed body in bytes: 64 bytes per node of the largest machine,
/// because a lease may consist of one-node boxes, and a box takes about 40 bytes. Only a body that
/// is this large uses as much memory.
const MAX_BODY_BYTES: usize = 64 * Grid::MAX_NODES as usize;

/// A stored body, which is restored byte for byte when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StoredBody {
    /// Uncompressed.
    Text(String),
    /// Compressed.
    Packed {
        /// The zlib-compressed body, encoded in base64.
        zlib: String,
    },
}

impl StoredBody {
    /// Stores a body, compressing it if it is long.
    ///
    /// # Panics
    /// Never panics, because writing to memory cannot fail.
    pub fn new(body: &str) -> StoredBody {
        if body.len() <= MAX_PLAIN_BYTES {
            return StoredBody::Text(body.to_string());
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body.as_bytes()).expect("writing to memory does not fail");
        let packed = BASE64.encode(encoder.finish().expect("writing to memory does not fail"));
        if packed.len() < body.len() {
            StoredBody::Packed { zlib: packed }
        } else {
            StoredBody::Text(body.to_string())
        }
    }

    /// Returns the stored size in bytes.
    pub fn stored_bytes(&self) -> usize {
        match self {
            StoredBody::Text(text) | StoredBody::Packed { zlib: text } => text.len(),
        }
    }

    /// Returns the body.
    ///
    /// # Errors
    /// Returns an error if the body cannot be decompressed, or would be larger than any reply,
    /// because the record was changed.
    pub fn read(&self) -> Result<String, String> {
        match self {
            StoredBody::Text(text) => Ok(text.clone()),
            StoredBody::Packed { zlib } => unpack(zlib, MAX_BODY_BYTES),
        }
    }
}

fn unpack(zlib: &str, max_bytes: usize) -> Result<String, String> {
    let bytes = BASE64.decode(zlib).map_err(|error| error.to_string())?;
    let mut body = String::new();
    let mut reader = ZlibDecoder::new(bytes.as_slice()).take(max_bytes as u64 + 1);
    reader.read_to_string(&mut body).map_err(|error| error.to_string())?;
    if body.len() > max_bytes {
        return Err(format!("the body is larger than {max_bytes} bytes"));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_byte_for_byte() {
        let noise: String = (0u32..5000).map(|i| char::from(b'!' + (i * i % 89) as u8)).collect();
        let answers = "{\"status\":409,\"body\":{\"reason\":\"no-free-submesh\"}},".repeat(4096);
        for body in ["{}", "\u{e9}\u{1f600}", &noise, &answers] {
            let stored = StoredBody::new(body);
            assert_eq!(stored.read().as_deref(), Ok(body));
            assert!(stored.stored_bytes() <= body.len());
            let text = serde_json::to_string(&stored).unwrap();
            assert_eq!(serde_json::from_str::<StoredBody>(&text).unwrap(), stored);
        }
        let boxes = r#"{"base":[4095,4095],"sides":[1,1]},"#.repeat(1 << 21);
        assert!(StoredBody::new(&boxes).read() == Ok(boxes), "a lease of many boxes");
        let packed = StoredBody::new(&answers);
        assert!(packed.stored_bytes() < answers.len() / 50);
        let StoredBody::Packed { zlib } = packed else { panic!("long bodies are compressed") };
        assert!(unpack(&zlib, answers.len()).is_ok());
        assert!(unpack(&zlib, answers.len() - 1).is_err(), "a body is never truncated");
        assert!(StoredBody::Packed { zlib: "?".into() }.read().is_err());
        assert!(StoredBody::Packed { zlib: "AAAA".into() }.read().is_err());
    }
}
