//! Node names, given as a pattern or as a list in Slurm notation.
//!
//! ```text
//!   n{:03}               a pattern: the node's number from 0, with x varying fastest
//!   n{x}-{y:02}-{z}      a pattern: the node's coordinates from 1
//!   c[01-04]u[02,08],m1  a list of names, in node order
//! ```

use pavior_mesh::{Grid, NodeId};
use rustc_hash::FxHashMap;

/// The maximum number of names in a list. A Slurm cluster has at most 65,533 nodes.
const MOST: usize = 1 << 17;

/// The maximum number of digits in a bracketed number.
const DIGITS: usize = 10;

/// Returns the names in a list, or `None` if the list is malformed or too long for any cluster.
///
/// A name with several bracketed ranges expands to all combinations: `x[0-1]y[0-1]` yields four.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::hosts::expand;
/// assert_eq!(expand("n[08-09],m1").unwrap(), ["n08", "n09", "m1"]);
/// assert_eq!(expand("n[1"), None);
/// ```
pub fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let (one, behind) = first(rest)?;
        expand_one(one, &mut names)?;
        rest = behind;
    }
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"()".contains(&byte);
    let is_name = |name: &String| !name.is_empty() && name.bytes().all(is_plain);
    names.iter().all(is_name).then_some(names)
}

/// Splits a list at its first comma outside brackets. Returns the first member and the rest.
fn first(list: &str) -> Option<(&str, &str)> {
    let mut inside = false;
    for (at, letter) in list.char_indices() {
        match letter {
            '[' | ']' if inside == (letter == '[') => return None,
            '[' | ']' => inside = !inside,
            // A comma must be followed by another member, so a list cannot end with a comma.
            ',' if !inside && at + 1 == list.len() => return None,
            ',' if !inside => return Some((&list[..at], &list[at + 1..])),
            _ => {}
        }
    }
    Some((list, ""))
}

/// Expands one member of a list and adds the resulting names.
fn expand_one(text: &str, names: &mut Vec<String>) -> Option<()> {
    let mut heads = vec![String::new()];
    let mut rest = text;
    while let Some((head, behind)) = rest.split_once('[') {
        let (inside, tail) = behind.split_once(']')?;
        let numbers = numbers(inside)?;
        if heads.len() * numbers.len() + names.len() > MOST {
            return None;
        }
        let with = |before: &String| {
            let before = format!("{before}{head}");
            numbers.iter().map(move |number| format!("{before}{number}")).collect::<Vec<_>>()
        };
        heads = heads.iter().flat_map(with).collect();
        rest = tail;
    }
    names.extend(heads.into_iter().map(|head| head + rest));
    (names.len() <= MOST).then_some(())
}

/// Parses a number that consists only of digits. The standard `parse` also accepts a sign.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Expands text such as `00-03,07` into a list of numbers, preserving leading zeros.
fn numbers(inside: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for range in inside.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let width = from.len();
        let (first, last) = (number(from)?, number(to)?);
        if last < first || (last - first) as usize >= MOST || width > DIGITS {
            return None;
        }
        all.extend((first..=last).map(|number| format!("{number:0width$}")));
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// A placeholder for a node number or a coordinate, which may be padded with leading zeros.
struct Hole {
    axis: Option<usize>,
    width: usize,
}

/// Pieces of text. Each piece except the last is followed by a placeholder.
type Parts<'p> = Vec<(&'p str, Option<Hole>)>;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Returns the node names that a pattern generates, in node order. Numbers and coordinates start at
/// `first`; by default, numbers start at 0 and coordinates at 1.
///
/// # Errors
/// Returns an error message if the placeholders are not suitable for the machine.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
/// use pavior::workload::hosts::of_pattern;
/// let names = of_pattern(&"mesh:2x2".parse()?, "n{x}-{y:02}", None).unwrap();
/// assert_eq!(names, ["n1-01", "n2-01", "n1-02", "n2-02"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_pattern(grid: &Grid, pattern: &str, first: Option<u32>) -> Result<Vec<String>, String> {
    let parts = parts(pattern)
        .ok_or("use {} or {:02} once for the number, or {x}, {y} and {z} for the coordinates")?;
    let holes = || parts.iter().filter_map(|(_, hole)| hole.as_ref());
    let by_number = holes().any(|hole| hole.axis.is_none());
    if by_number && holes().count() > 1 {
        return Err("use either one {} or {x}, {y} and {z}".into());
    }
    for (axis, name) in AXES.iter().enumerate().filter(|_| !by_number) {
        match (axis < grid.axes(), holes().any(|hole| hole.axis == Some(axis))) {
            (true, false) => return Err(format!("the pattern has no {{{name}}}")),
            (false, true) => return Err(format!("{grid} has no {name} axis")),
            _ => {}
        }
    }
    let first = u64::from(first.unwrap_or(u32::from(!by_number)));
    let name = |node: u32| {
        let point = grid.point(NodeId(node));
        let mut name = String::new();
        for (text, hole) in &parts {
            name += text;
            if let Some(Hole { axis, width }) = hole {
                let number = first + axis.map_or(u64::from(node), |axis| u64::from(point[axis]));
                name += &format!("{number:0width$}");
            }
        }
        name
    };
    Ok((0..grid.nodes()).map(name).collect())
}

/// Splits a pattern into parts. Returns `None` if any braces do not form a placeholder.
fn parts(pattern: &str) -> Option<Parts<'_>> {
    let (mut parts, mut rest) = (Vec::new(), pattern);
    while let Some((text, behind)) = rest.split_once('{') {
        let (inside, tail) = behind.split_once('}')?;
        let (axis, format) = inside.split_once(':').unwrap_or((inside, ""));
        let axis = match axis {
            "" => None,
            name => Some(AXES.iter().position(|axis| *axis == name)?),
        };
        let width = match format {
            "" => 0,
            _ => format.strip_prefix('0')?.parse().ok().filter(|&width: &usize| width <= 12)?,
        };
        if text.contains('}') {
            return None;
        }
        parts.push((text, Some(Hole { axis, width })));
        rest = tail;
    }
    let ends = !rest.contains('}') && !parts.is_empty();
    parts.push((rest, None));
    ends.then_some(parts)
}

/// The names of a machine's nodes. Nodes that share a router form one grid node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    names: FxHashMap<String, u32>,
    /// The number of names per grid node.
    each: u32,
}

impl Hosts {
    /// Generates the names from a pattern, or reads them from a list. The list must have the same
    /// number of names for each grid node.
    ///
    /// # Errors
    /// Returns an error message if the names cannot be divided evenly among the grid nodes, or if a
    /// name is repeated.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; pub use pavior_mesh::*; }
    /// use pavior::workload::hosts::Hosts;
    /// use pavior::NodeId;
    /// let hosts = Hosts::new(&"mesh:2x2".parse()?, "nid[0-7]")?;
    /// assert_eq!(hosts.find("nid5"), Some((5, NodeId(2))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(grid: &Grid, text: &str) -> Result<Hosts, String> {
        let list = if text.contains(['{', '}']) {
            of_pattern(grid, text, None)?
        } else {
            expand(text).ok_or("expected a list of names such as n[00-15],m1")?
        };
        let (count, nodes) = (list.len() as u32, grid.nodes());
        if count == 0 || count % nodes != 0 {
            return Err(format!("{count} names cannot be divided evenly among {nodes} nodes"));
        }
        let names: FxHashMap<String, u32> = list.into_iter().zip(0..).collect();
        if names.len() as u32 != count {
            return Err("a name appears more than once".into());
        }
        Ok(Hosts { names, each: count / nodes })
    }

    /// Returns a name's number and grid node. The name may include a domain, as in some logs.
    pub fn find(&self, name: &str) -> Option<(u32, NodeId)> {
        let short = || self.names.get(name.split_once('.')?.0);
        let &number = self.names.get(name).or_else(short)?;
        Some((number, NodeId(number / self.each)))
    }

    /// Returns the number of names.
    pub fn count(&self) -> usize {
        self.names.len()
    }
}
