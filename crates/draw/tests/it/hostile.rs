//! Tests of names and titles that would break XML or HTML if they were not escaped.

use pavior_draw::*;
use pavior_mesh::{Cuboid, Grid};

use crate::wellformed::assert_well_formed;

const NAMES: [&str; 7] = [
    "</text><script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "a & b &amp; c",
    "\0\u{1}\u{1b}[31m\u{7f}\u{9b}",
    "\u{fffe}\u{ffff}\u{1ffff}\u{fdd0}",
    "]]> <!-- --> <![CDATA[",
    "\u{202e}名前\u{1f600}",
];

#[test]
fn no_name_breaks_a_drawing() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    for name in NAMES.map(String::from).into_iter().chain(["long ".repeat(300), "x".repeat(900)]) {
        let axis = || ChartAxis::plain(name.clone(), false);
        let points = vec![Mark { x: 0.0, y: 1.0, interval: None }];
        for marks in [Marks::Lines, Marks::Bars, Marks::Steps] {
            let chart = Chart {
                title: name.clone(),
                x: axis(),
                y: axis(),
                categories: if marks == Marks::Bars { vec![name.clone()] } else { Vec::new() },
                marks,
                // Two equal series add a sentence to the drawing.
                series: vec![Series { name: name.clone(), points: points.clone() }; 2],
                stated: points.clone(),
                note: name.clone(),
            };
            assert_well_formed(&svg(&chart));
        }
        let parts = vec![Cuboid::new([0; 3], [4, 4, 1])];
        let placed = [Placed { job: name.clone(), start: 0.0, end: Some(1.0), parts }];
        assert_well_formed(&schedule(&name, &grid, &placed, (None, None), &name).unwrap());
        assert_well_formed(&instant(&name, &grid, &placed, 0.5, &name).unwrap());
        assert_well_formed(&animation(&name, &grid, &placed, 3.0, &name).unwrap());
    }
}

#[test]
fn no_text_breaks_a_page() {
    for name in NAMES {
        let name = name.to_string();
        let table = SectionTable {
            header: vec![name.clone(), name.clone()],
            // One row is shorter than the header, and one is longer.
            rows: vec![vec![name.clone()], vec![name.clone(), "1".into(), name.clone()]],
            words: 1,
        };
        let section = Section {
            title: name.clone(),
            text: vec![name.clone()],
            links: vec![(name.clone(), name.clone())],
            drawings: vec![Drawing { svg: String::new(), caption: name.clone() }],
            table: Some(table),
            folded: true,
        };
        let page = Page {
            title: name.clone(),
            lead: vec![name.clone()],
            sections: vec![section],
            footer: vec![name],
        };
        let page = html(&page);
        assert!(!page.contains("<script") && !page.contains("\" onload=\""), "{page}");
        assert!(!page.contains(['\0', '\u{1}', '\u{1b}', '\u{fffe}', '\u{ffff}']), "{page}");
    }
}
