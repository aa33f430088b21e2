//! The comments at the start of a log: `; Key: value`.
//!
//! Real headers are untidy. A value may have text after the number
//! (`MaxNodes: 400 (48 interactive`), and keys may be missing, or repeated with different values.
//! The space after the semicolon may be missing, and many comments have no key. Keys and values are
//! kept as written, and all other comments are ignored. Only an oversized header is an error.

/// The keys in a log's header and their values, in log order. Keys may be repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    entries: Vec<(String, String)>,
    /// The memory used by keys and values, in bytes.
    length: usize,
}

/// The maximum size of a header, in bytes. Real headers are hundreds of times smaller.
const LONGEST_HEADER: usize = 1 << 20;

impl Header {
    /// Reads a comment line without its semicolon. Anything but `Key: value` is ignored.
    ///
    /// # Errors
    /// Returns an error message if the header becomes too large.
    pub(crate) fn take(&mut self, comment: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.split_once(':') else { return Ok(()) };
        let (key, value) = (key.trim(), value.trim());
        let word = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric());
        // A line that begins with `http://...` continues the previous value.
        if word && !value.starts_with("//") {
            self.push(key, value);
        }
        if self.length > LONGEST_HEADER {
            return Err(format!("not a job log: the header is longer than {LONGEST_HEADER} bytes"));
        }
        Ok(())
    }

    /// Adds a key and its value, for writing.
    pub fn push(&mut self, key: &str, value: &str) {
        self.entries.push((key.to_string(), value.to_string()));
        // Each string's fixed size also counts toward the limit.
        self.length += key.len() + value.len() + 2 * size_of::<String>();
    }

    /// Returns all keys with their values.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the first value for a key, ignoring case.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Returns the integer at the start of the key's value. If the key is repeated, uses the first
    /// value that starts with an integer.
    pub fn integer(&self, key: &str) -> Option<i64> {
        self.entries().filter(|(k, _)| k.eq_ignore_ascii_case(key)).find_map(|(_, value)| {
            let sign = usize::from(value.starts_with('-'));
            let digits = value[sign..].bytes().take_while(u8::is_ascii_digit).count();
            value[..sign + digits].parse().ok()
        })
    }

    /// Returns the positive number, such as `9216`, `1,024`, `1e3` or `9216*4`, at the start of the
    /// key's value. If the key is repeated, uses the first value that starts with such a number.
    pub fn count(&self, key: &str) -> Option<u64> {
        let values = self.entries().filter(|(k, _)| k.eq_ignore_ascii_case(key));
        values.map(|(_, value)| value).find_map(count)
    }

    /// Returns the number of processors: `MaxProcs` or, if `MaxProcs` is missing or not positive,
    /// `MaxNodes`.
    pub fn machine_size(&self) -> Option<u64> {
        self.count("MaxProcs").or_else(|| self.count("MaxNodes"))
    }

    /// Returns the machine sizes in the header that do not start with a number.
    pub(crate) fn unreadable_sizes(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_size =
            |key: &str| ["MaxProcs", "MaxNodes"].iter().any(|k| k.eq_ignore_ascii_case(key));
        let digit = |c: char| c.is_ascii_digit() || c == '-';
        self.entries().filter(move |(key, value)| {
            is_size(key) && !value.is_empty() && !value.starts_with(digit)
        })
    }

    /// Converts the number of processors to a number of nodes, rounding up.
    pub(crate) fn divide(&mut self, by: u64) {
        let Some(size) = self.count("MaxProcs") else { return };
        let of_procs = |entry: &&mut (String, String)| entry.0.eq_ignore_ascii_case("MaxProcs");
        for (_, value) in self.entries.iter_mut().filter(of_procs) {
            *value = size.div_ceil(by).to_string();
        }
    }

    /// Returns the Unix time, in seconds, at which the log's clock is 0.
    pub fn start(&self) -> Option<i64> {
        self.integer("UnixStartTime").filter(|&start| start > 0)
    }
}

/// Parses the positive number at the start of a value.
fn count(value: &str) -> Option<u64> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || ",.eE*".contains(c)));
    let text = value[..end.unwrap_or(value.len())].trim_end_matches([',', '.', '*']);
    let product = text.split('*').map(factor).try_fold(1u64, |all, one| all.checked_mul(one?));
    // If the text is not a product of whole numbers, only its leading digits are used.
    let digits = || value.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    product.or_else(digits).filter(|&count| count > 0)
}

/// Parses a whole number, such as `1024`, `1,024` or `1e3`.
fn factor(text: &str) -> Option<u64> {
    let groups: Vec<&str> = text.split(',').collect();
    let is_grouped = groups.len() > 1
        && (1..=3).contains(&groups[0].len())
        && groups[1..].iter().all(|group| group.len() == 3);
    if is_grouped {
        return groups.concat().parse().ok();
    }
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_many_ways() {
        for (value, size) in [
            ("1024", Some(1024)),
            ("1,024", Some(1024)),
            ("163,840 cores", Some(163_840)),
            ("1,234,567", Some(1_234_567)),
            ("1e3", Some(1000)),
            ("9216*4", Some(36_864)),
            ("1,024*2 (two each)", Some(2048)),
            ("184  ( 6,  171,   7)", Some(184)),
            ("400, of which 48 interactive", Some(400)),
            ("128nodes", Some(128)),
            ("64.", Some(64)),
            ("12,34", Some(12)),
            ("0", None),
            ("-1", None),
            ("lots", None),
            ("", None),
            ("99999999999*99999999999", Some(99_999_999_999)),
        ] {
            let mut header = Header::default();
            header.push("MaxProcs", value);
            assert_eq!(header.machine_size(), size, "{value}");
            header.push("MaxNodes", "7");
            assert_eq!(header.machine_size(), size.or(Some(7)), "{value}");
        }
    }

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
