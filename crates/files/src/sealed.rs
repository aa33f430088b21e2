//! Lines with checksums.

use pavior_kernel::Digest;

/// A line with a checksum behind it: `TEXT HEX`, without its end. The checksum covers a key as
/// well, so that a line of another run is as wrong as a changed one.
///
/// ```
/// use pavior_files::{seal, unseal};
/// let line = seal("run 7", "3 0 12");
/// assert_eq!(unseal("run 7", &line), Some("3 0 12"));
/// assert_eq!(unseal("run 8", &line), None);
/// assert_eq!(unseal("run 7", &line.replace("12", "13")), None);
/// ```
pub fn seal(key: &str, text: &str) -> String {
    format!("{text} {}", checksum(key, text))
}

/// The text of a line that [`seal`] made; none if any byte is another.
pub fn unseal<'l>(key: &str, line: &'l str) -> Option<&'l str> {
    let (text, found) = line.rsplit_once(' ')?;
    (found == checksum(key, text).to_string()).then_some(text)
}

fn checksum(key: &str, text: &str) -> Digest {
    let mut digest = Digest::of(key.as_bytes());
    digest.add(b"\n");
    digest.add(text.as_bytes());
    digest
}
