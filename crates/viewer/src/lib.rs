//! A web page that shows a machine in two and three dimensions, either live from a service or as a
//! replay of a schedule embedded in the page.
//!
//! The page is a single self-contained file. Its TypeScript sources are in `page/src`. Running
//! `npm ci && npm run build` in `page` type-checks them and builds `page/dist/viewer.js`. That
//! bundle is committed, so building this crate does not require Node. The bundle's first line
//! contains digests of the sources and of the rest of the bundle, and a test compares them with the
//! files. The bundle contains three.js (MIT, see `page/THREE-LICENSE`).
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

use serde_json::{Value, json};

const PAGE: &str = include_str!("../page/src/index.html");
const STYLE: &str = include_str!("../page/src/style.css");
const SCRIPT: &str = include_str!("../page/dist/viewer.js");

/// A job in a schedule. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduledJob {
    /// The job's name, as a JSON integer or string.
    pub name: Value,
    /// The submission time.
    pub submit: f64,
    /// The start time.
    pub start: f64,
    /// The end time.
    pub end: f64,
    /// The number of nodes.
    pub nodes: u32,
    /// The job's boxes, each given as a base and sides, with one coordinate per machine axis.
    pub parts: Vec<(Vec<u16>, Vec<u16>)>,
}

/// A point on the page's curves: the machine's state from `at` until the next point. The page takes
/// every point into account by drawing the minimum and maximum in each pixel column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The time in seconds.
    pub at: f64,
    /// The number of busy nodes.
    pub busy: u32,
    /// The number of nodes in the largest free box, if computed.
    pub largest_free: Option<u32>,
}

/// Returns the live page, which a service serves at `/`.
///
/// ```
/// let page = pavior_viewer::live();
/// assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
/// ```
pub fn live() -> String {
    page("")
}

/// Returns a page that replays a schedule on a machine such as `mesh:16x16`. Takes linear time.
///
/// ```
/// let job = pavior_viewer::ScheduledJob {
///     name: 7.into(), submit: 0.0, start: 1.0, end: 5.0, nodes: 4,
///     parts: vec![(vec![0, 0], vec![2, 2])],
/// };
/// let page = pavior_viewer::schedule("mesh:4x4", &[job], &[]);
/// assert!(page.contains("\"sides\":[2,2]"));
/// ```
pub fn schedule(machine: &str, jobs: &[ScheduledJob], curve: &[CurvePoint]) -> String {
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
    let samples = curve.iter().map(|point| json!([point.at, point.busy, point.largest_free]));
    let data = json!({
        "machine": machine,
        "jobs": jobs.collect::<Vec<_>>(),
        "samples": samples.collect::<Vec<_>>(),
    });
    // A job name such as `</script>` must not close the script element.
    let data = data.to_string().replace('<', "\\u003c");
    page(&format!("<script type=\"application/json\" id=\"schedule\">{data}</script>"))
}

fn page(data: &str) -> String {
    // Each marker occurs once. Text inserted at one marker is never searched for other markers.
    let split = |text: &'static str, marker| text.split_once(marker).expect("a marker in the page");
    let (before, after) = split(PAGE, "/*SCRIPT*/");
    let (before, between) = split(before, "<!--DATA-->");
    let (head, middle) = split(before, "/*STYLE*/");
    [head, STYLE, middle, data, between, SCRIPT, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = live();
        assert!(!page.contains("<script src") && !page.contains("<link rel=\"stylesheet\""));
    }

    #[test]
    fn the_bundle_cannot_close_its_element() {
        assert!(!SCRIPT.contains("</script"));
    }

    /// Checks, without running `npm run build`, that the bundle is current and unedited.
    #[test]
    fn the_bundle_is_built_from_the_sources() {
        let (first, bundle) = SCRIPT.split_once('\n').expect("the bundle has a first line");
        let digests = [source_digest(), hex_digest(bundle.as_bytes())];
        assert_eq!(first, format!("// sources {} bundle {}", digests[0], digests[1]));
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

    /// Computes the same digest as `page/build.mjs`.
    fn source_digest() -> String {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let scripts = std::fs::read_dir(page.join("src")).expect("the sources are there");
        let scripts = scripts.map(|entry| entry.expect("the folder can be read").file_name());
        let mut names: Vec<String> = scripts
            .filter_map(|name| name.into_string().ok())
            .filter(|name| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "ts"))
            .map(|name| format!("src/{name}"))
            .collect();
        names.sort();
        let rest = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
        names.extend(rest.map(String::from));
        let text = |name: &String| std::fs::read(page.join(name)).expect("the file can be read");
        let parts: Vec<Vec<u8>> =
            names.iter().flat_map(|name| [format!("{name}\n").into(), text(name)]).collect();
        hex_digest(&parts.concat())
    }

    fn hex_digest(bytes: &[u8]) -> String {
        let hash = <sha2::Sha256 as sha2::Digest>::digest(bytes);
        let digits: Vec<String> = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    }
}
