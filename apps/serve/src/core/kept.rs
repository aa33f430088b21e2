//! Bodies of stored replies. Long bodies are compressed, because they are written to the journal
//! and, for a day, to every snapshot.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

/// The size in bytes above which a body is compressed.
const LONG: usize = 2048;
/// The maximum size of a body in bytes, far more than the reply to a batch needs.
const MAX_BODY_BYTES: u64 = 64 << 20;

/// A body, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptBody {
    /// Uncompressed.
    Text(String),
    /// Compressed.
    Packed {
        /// In zlib format, encoded in base64.
        zlib: String,
    },
}

impl KeptBody {
    /// Stores a body, compressed if it is long.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    pub fn new(body: &str) -> KeptBody {
        if body.len() <= LONG {
            return KeptBody::Text(body.to_string());
        }
        let mut packing = ZlibEncoder::new(Vec::new(), Compression::fast());
        packing.write_all(body.as_bytes()).expect("writing to memory does not fail");
        let packed = BASE64.encode(packing.finish().expect("writing to memory does not fail"));
        if packed.len() < body.len() {
            KeptBody::Packed { zlib: packed }
        } else {
            KeptBody::Text(body.to_string())
        }
    }

    /// Returns the stored size in bytes.
    pub fn len(&self) -> usize {
        match self {
            KeptBody::Text(text) | KeptBody::Packed { zlib: text } => text.len(),
        }
    }

    /// Returns true if the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the body.
    ///
    /// # Errors
    /// Returns an error if it cannot be decompressed because the record was changed.
    pub fn read(&self) -> Result<String, String> {
        let packed = match self {
            KeptBody::Text(text) => return Ok(text.clone()),
            KeptBody::Packed { zlib } => zlib,
        };
        let bytes = BASE64.decode(packed).map_err(|error| error.to_string())?;
        let mut body = String::new();
        let mut reader = ZlibDecoder::new(bytes.as_slice()).take(MAX_BODY_BYTES);
        reader.read_to_string(&mut body).map_err(|error| error.to_string())?;
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_byte_for_byte() {
        let noise: String = (0u32..5000).map(|i| char::from(b'!' + (i * i % 89) as u8)).collect();
        let answers = "{\"status\":409,\"body\":{\"reason\":\"no-free-submesh\"}},".repeat(4096);
        for body in ["{}", "\u{e9}\u{1f600}", &noise, &answers] {
            let kept = KeptBody::new(body);
            assert_eq!(kept.read().as_deref(), Ok(body));
            assert!(kept.len() <= body.len());
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<KeptBody>(&text).unwrap(), kept);
        }
        assert!(KeptBody::new(&answers).len() < answers.len() / 50);
        assert!(KeptBody::Packed { zlib: "?".into() }.read().is_err());
        assert!(KeptBody::Packed { zlib: "AAAA".into() }.read().is_err());
    }
}
