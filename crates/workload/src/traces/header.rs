//! The comments at the beginning of a log: `; Key: value`.
//!
//! Real headers are untidy. Values have text after the number (`MaxNodes: 400 (48 interactive`).
//! Keys are missing, or repeated with different values. The space after the semicolon may be
//! missing, and many comments are not keys. Keys and values are kept unchanged, and other comments
//! are ignored. Only a header that is too long is an error.

/// The keys of a log's header in the order of the log, including repeated ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    entries: Vec<(String, String)>,
    /// The number of bytes of all keys and values, and of their memory.
    length: usize,
}

/// The maximum length of a header, in bytes: hundreds of times the longest of real logs.
const LONGEST_HEADER: usize = 1 << 20;

impl Header {
    /// Reads a comment line, without its semicolon. Comments other than `Key: value` are ignored.
    ///
    /// # Errors
    /// Returns the reason if the header becomes longer than that of any log.
    pub(crate) fn take(&mut self, comment: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.split_once(':') else { return Ok(()) };
        let (key, value) = (key.trim(), value.trim());
        let word = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric());
        // `http://...` on a line of its own continues the value above it.
        if word && !value.starts_with("//") {
            self.push(key, value);
        }
        if self.length > LONGEST_HEADER {
            return Err(format!("the header is longer than {LONGEST_HEADER} bytes: not a job log"));
        }
        Ok(())
    }

    /// Adds a key, for writing.
    pub fn push(&mut self, key: &str, value: &str) {
        self.entries.push((key.to_string(), value.to_string()));
        // The memory that a short key and value need in addition to their bytes is also counted.
        self.length += key.len() + value.len() + 2 * size_of::<String>();
    }

    /// Returns every key with its value.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the first value of a key, ignoring case.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Returns the integer at the beginning of a key's first value that has one.
    pub fn integer(&self, key: &str) -> Option<i64> {
        self.entries().filter(|(k, _)| k.eq_ignore_ascii_case(key)).find_map(|(_, value)| {
            let sign = usize::from(value.starts_with('-'));
            let digits = value[sign..].bytes().take_while(u8::is_ascii_digit).count();
            value[..sign + digits].parse().ok()
        })
    }

    /// Returns the number of processors: `MaxProcs`, or `MaxNodes` if that is missing.
    pub fn machine_size(&self) -> Option<u64> {
        let size = self.integer("MaxProcs").or_else(|| self.integer("MaxNodes"))?;
        u64::try_from(size).ok().filter(|&size| size > 0)
    }

    /// Returns the second of the Unix epoch at which the log's clock is 0.
    pub fn start(&self) -> Option<i64> {
        self.integer("UnixStartTime").filter(|&start| start > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untidy_headers_are_read() {
        let mut header = Header::default();
        for line in [
            "   --- SWF file converted from SACCT ---",
            " MaxNodes: 400 (48 interactive, 352 batch)",
            "MaxQueues: 2",
            " MaxQueues: 12",
            " Version: SWF v2",
            "              http://www.cs.huji.ac.il/labs/parallel/workload/",
            "\tsee: http://www-hpc.cea.fr/",
            " filters used:    user=2",
            " TimeZone: -28800",
            " UnixStartTime:",
            "",
        ] {
            header.take(line.as_bytes()).unwrap();
        }
        assert_eq!(header.machine_size(), Some(400));
        assert_eq!(header.integer("MaxQueues"), Some(2));
        assert_eq!((header.integer("Version"), header.get("version")), (None, Some("SWF v2")));
        assert_eq!(header.integer("TimeZone"), Some(-28_800));
        assert_eq!(header.start(), None);
        assert_eq!(header.get("http"), None);
        assert_eq!(header.entries().count(), 7);
    }
}
