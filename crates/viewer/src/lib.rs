//! A page that shows a machine in two and three dimensions: live, from a service, or as it was,
//! from a schedule in the page itself.
//!
//! The page is one file that needs nothing from elsewhere. Its sources are in `page/src`;
//! `page/dist/viewer.js` is built from them by `npm ci && npm run build` in `page` and is kept
//! beside them, so that building this crate needs no Node. It contains three.js (MIT, see
//! `page/THREE-LICENSE`).

use serde_json::{Value, json};

const PAGE: &str = include_str!("../page/src/index.html");
const STYLE: &str = include_str!("../page/src/style.css");
const SCRIPT: &str = include_str!("../page/dist/viewer.js");

/// A job of a schedule; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduledJob {
    /// What it is called: a JSON integer or string.
    pub name: Value,
    /// When it was submitted.
    pub submit: f64,
    /// When it started.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// The number of its nodes.
    pub nodes: u32,
    /// Its boxes: base and sides, as many coordinates as the machine has axes.
    pub parts: Vec<(Vec<u16>, Vec<u16>)>,
}

/// The machine at an instant, as the curves show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The instant in seconds.
    pub at: f64,
    /// The nodes that jobs hold.
    pub busy: u32,
    /// The nodes of the largest free box.
    pub largest_free: u32,
}

/// The page of a service, which serves it at `/`.
///
/// ```
/// assert!(pavior_viewer::live().starts_with("<!doctype html>"));
/// ```
pub fn live() -> String {
    page("")
}

/// A page that plays a schedule on a machine such as `mesh:16x16`. O(jobs).
///
/// ```
/// let job = pavior_viewer::ScheduledJob {
///     name: 7.into(), submit: 0.0, start: 1.0, end: 5.0, nodes: 4, parts: vec![(vec![0, 0], vec![2, 2])],
/// };
/// let page = pavior_viewer::schedule("mesh:4x4", &[job], &[]);
/// assert!(page.contains("\"sides\":[2,2]"));
/// ```
pub fn schedule(machine: &str, jobs: &[ScheduledJob], samples: &[CurvePoint]) -> String {
    let part = |(base, sides): &(Vec<u16>, Vec<u16>)| json!({ "base": base, "sides": sides });
    let jobs = jobs.iter().map(|job| {
        json!({
            "job": job.name,
            "submit": job.submit,
            "start": job.start,
            "end": job.end,
            "nodes": job.nodes,
            "parts": job.parts.iter().map(part).collect::<Vec<_>>(),
        })
    });
    let samples = samples.iter().map(|one| json!([one.at, one.busy, one.largest_free]));
    let data = json!({
        "machine": machine,
        "jobs": jobs.collect::<Vec<_>>(),
        "samples": samples.collect::<Vec<_>>(),
    });
    // A name such as `</script>` must not end the element.
    let data = data.to_string().replace('<', "\\u003c");
    page(&format!("<script type=\"application/json\" id=\"schedule\">{data}</script>"))
}

fn page(data: &str) -> String {
    // Each mark stands once, and the parts are put in from the last to the first, so that no part
    // is searched for marks.
    let (before, after) =
        PAGE.split_once("/*SCRIPT*/").expect("the page has a mark for its script");
    let (before, between) = before.split_once("<!--DATA-->").expect("and one for its data");
    let (head, middle) = before.split_once("/*STYLE*/").expect("and one for its style");
    [head, STYLE, middle, data, between, SCRIPT, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = live();
        assert!(!page.contains("<script src") && !page.contains("<link rel=\"stylesheet\""));
        assert!(!SCRIPT.contains("</script"));
        assert!(page.ends_with("</html>\n"));
    }

    #[test]
    fn names_cannot_leave_their_element() {
        let job = ScheduledJob {
            name: "</script><script>alert(1)".into(),
            submit: 0.0,
            start: 0.0,
            end: 1.0,
            nodes: 1,
            parts: vec![(vec![0], vec![1])],
        };
        assert!(!schedule("mesh:4", &[job], &[]).contains("</script><script>alert"));
    }
}
