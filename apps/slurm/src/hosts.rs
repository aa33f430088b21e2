//! Lists of node names as Slurm writes them: `n[00-03,07],m1`.

/// The names of a list. `None` if it is not well formed.
///
/// Several brackets in a name multiply: `x[0-1]y[0-1]` has four names.
pub(crate) fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(expand_one(&list[start..at])?);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < list.len() {
        names.extend(expand_one(&list[start..])?);
    }
    Some(names)
}

fn expand_one(text: &str) -> Option<Vec<String>> {
    let Some(open) = text.find('[') else { return Some(vec![text.to_string()]) };
    let close = open + text[open..].find(']')?;
    let (head, inside, tail) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
    let tails = expand_one(tail)?;
    let mut names = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > 1 << 24 {
            return None;
        }
        for number in first..=last {
            for tail in &tails {
                names.push(format!("{head}{number:0width$}{tail}"));
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded_as_slurm_does() {
        let names = |list| expand(list).unwrap().join(" ");
        assert_eq!(names("n[00-02,07],m1"), "n00 n01 n02 n07 m1");
        assert_eq!(names("n[8-11]"), "n8 n9 n10 n11");
        assert_eq!(names("x[0-1]y[0-1]"), "x0y0 x0y1 x1y0 x1y1");
        assert_eq!(names(""), "");
        assert!(expand("n[3-1]").is_none() && expand("n[a]").is_none() && expand("n[1").is_none());
    }
}
