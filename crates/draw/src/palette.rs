//! The colors used in all drawings and pages, in light and dark variants.

use std::fmt::Display;

/// The series colors, in light and dark variants, which color-blind people can distinguish (after
/// Okabe and Ito 2008, but brightened for dark backgrounds).
const SERIES: [(&str, &str); 8] = [
    ("#0072b2", "#58b0e8"),
    ("#d55e00", "#ff9a57"),
    ("#00795a", "#3fd0a4"),
    ("#b0508a", "#f0a3cd"),
    ("#8a6d00", "#e6c34a"),
    ("#5b4bb7", "#b0a4ff"),
    ("#333333", "#e8e8e8"),
    ("#a3282e", "#ff8d8d"),
];

/// The number of series colors. Any additional series reuse these colors.
pub(crate) const COLOURS: usize = SERIES.len();

/// A chart's general colors, each with a class name, a light variant and a dark variant.
const GENERAL: [(&str, &str, &str); 5] = [
    ("paper", "#ffffff", "#14171b"),
    ("text", "#1d2126", "#e9ecef"),
    ("faint", "#5b636d", "#a9b1ba"),
    ("axis", "#5b636d", "#8b949e"),
    ("grid", "#e3e6ea", "#2b3138"),
];

/// The role of a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The background.
    Paper,
    Text,
    /// Less important text.
    Faint,
    Axis,
    /// Grid lines and free nodes.
    Grid,
    /// A series. Colors repeat if the index exceeds the number of colors.
    Series(usize),
}

impl Ink {
    /// Returns the class name and the light color.
    pub(crate) fn class(self) -> (String, &'static str) {
        let general = match self {
            Ink::Paper => 0,
            Ink::Text => 1,
            Ink::Faint => 2,
            Ink::Axis => 3,
            Ink::Grid => 4,
            Ink::Series(index) => {
                return (format!("s{}", index % COLOURS), SERIES[index % COLOURS].0);
            }
        };
        (GENERAL[general].0.to_string(), GENERAL[general].1)
    }
}

/// Returns a chart's style sheet, which contains only the dark colors. Light colors are set as
/// attributes on the shapes.
pub(crate) fn chart_style() -> String {
    let general = GENERAL.iter().map(|(name, _, dark)| ((*name).to_string(), *dark));
    let series = SERIES.iter().enumerate().map(|(index, (_, dark))| (format!("s{index}"), *dark));
    dark_style(general.chain(series))
}

/// Returns a style sheet that sets the dark color of strokes and fills, by class name.
fn dark_style(colours: impl Iterator<Item = (String, impl Display)>) -> String {
    let rule = |(name, dark)| format!(".{name}{{stroke:{dark}}}.{name}f{{fill:{dark}}}");
    let rules: String = colours.map(rule).collect();
    format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n")
}

/// The variables in a page's style sheet, each with a name, a light variant and a dark variant.
const PAGE: [(&str, &str, &str); 8] = [
    ("paper", "#fff", "#14171b"),
    ("text", "#1d2126", "#e9ecef"),
    ("faint", "#5b636d", "#a9b1ba"),
    ("line", "#dfe3e8", "#333a42"),
    ("band", "#f5f6f8", "#1b1f24"),
    ("good", "#00694f", "#3fd0a4"),
    ("bad", "#b03a00", "#ff9a57"),
    ("link", "#00549e", "#7cc0f2"),
];

/// Returns the CSS rules that define a page's variables.
pub(crate) fn page_variables() -> String {
    let set = |colour: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        let all: Vec<String> =
            PAGE.iter().map(|one| format!("--{}:{}", one.0, colour(one))).collect();
        format!(":root{{{}}}", all.join(";"))
    };
    let (light, dark) = (set(|one| one.1), set(|one| one.2));
    format!("{light}\n@media (prefers-color-scheme:dark){{{dark}}}\n")
}

/// The fill colors for jobs in an explanation. White text on them is readable in either mode.
pub(crate) const JOBS: [&str; 8] =
    ["#3a6fb0", "#8a5bb5", "#2f8a6b", "#b04a6b", "#5c7280", "#a0622b", "#6a7d2b", "#2a8397"];

/// The fonts used in all drawings.
pub(crate) const FONTS: &str = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/// The light-mode style rules for drawings of machines, each consisting of a selector and its
/// declarations. Patterns make the same distinctions as colors, even in print: covered bases are
/// hatched, rejected bases are dotted, and failed nodes are crossed out. No rule selects by tag
/// name alone, because a page may contain other drawings. Class selectors also work within `use`.
const LIGHT: &[(&str, &str)] = &[
    (".page", "fill:#ffffff"),
    (".node", "fill:#fbfcfd"),
    (".line", "fill:none;stroke:#ccd2d8;stroke-width:1"),
    ("text.name", "fill:#1c2024;font-weight:600"),
    (".quiet", "fill:#5a646e"),
    (".middle", "text-anchor:middle"),
    (".cover", "fill:#fbe3da"),
    (".hatch", "fill:none;stroke:#c65f38;stroke-width:1.1"),
    (".reject", "fill:#f1f3f5"),
    (".spot", "fill:#77818b"),
    (".mark", "fill:#1f6f43;font-weight:600;text-anchor:middle"),
    (".dot", "fill:#1f6f43"),
    (".job", "stroke:#ffffff;stroke-width:1"),
    (".on", "fill:#ffffff;font-weight:600;text-anchor:middle"),
    (".failed", "fill:#22282e"),
    (".cross", "stroke:#ffffff;stroke-width:1.8;fill:none"),
    (".choice", "fill:#ffd24a;stroke:#8a5a00;stroke-width:2.5"),
    (".number", "fill:#3d2a00;font-weight:700;text-anchor:middle"),
    (".arrow", "fill:none;stroke:#1c2024;stroke-width:2"),
    (".halo", "fill:none;stroke:#ffffff;stroke-width:5"),
];
const DARK: &[(&str, &str)] = &[
    ("text.name", "fill:#e6e9ec"),
    (".page", "fill:#15181b"),
    (".node", "fill:#1f2429"),
    (".line", "stroke:#3a424a"),
    (".quiet", "fill:#a7b1ba"),
    (".cover", "fill:#3b241b"),
    (".hatch", "stroke:#e08a63"),
    (".reject", "fill:#262c32"),
    (".spot", "fill:#8f99a3"),
    (".mark", "fill:#6fd39b"),
    (".dot", "fill:#6fd39b"),
    (".job", "stroke:#15181b"),
    (".arrow", "stroke:#f2f4f6"),
    (".halo", "stroke:#15181b"),
    (".failed", "fill:#e2e6ea"),
    (".cross", "stroke:#15181b"),
    (".on", "fill:#ffffff"),
    (".number", "fill:#3d2a00"),
];

/// Returns the style sheet for drawings of machines.
pub(crate) fn machines_style() -> String {
    let rules = |all: &[(&str, &str)]| {
        let rule =
            |(selector, declarations): &(&str, &str)| format!("{selector}{{{declarations}}}");
        all.iter().map(rule).collect::<Vec<_>>().join("\n")
    };
    let (light, dark) = (rules(LIGHT), rules(DARK));
    format!("<style>\n{light}\n@media(prefers-color-scheme:dark){{\n{dark}\n}}\n</style>\n")
}

type Heat = [[f64; 3]; 6];

/// The light-mode color scale from no load to the largest load (based on viridis). It runs from
/// pale to dark; the dark-mode scale runs from dark to pale. In both scales, idle channels are
/// close to the background color.
const HEAT: Heat = [
    [235.0, 238.0, 240.0],
    [253.0, 220.0, 110.0],
    [122.0, 209.0, 81.0],
    [34.0, 136.0, 140.0],
    [59.0, 82.0, 139.0],
    [68.0, 1.0, 84.0],
];
const DARK_HEAT: Heat = [
    [43.0, 49.0, 56.0],
    [72.0, 92.0, 168.0],
    [34.0, 136.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 220.0, 110.0],
    [255.0, 252.0, 230.0],
];

/// The number of colors in the scale.
pub(crate) const HEATS: usize = 60;

fn heat_of(scale: &Heat, step: usize) -> String {
    let at = step.min(HEATS - 1) as f64 / (HEATS - 1) as f64 * (scale.len() - 1) as f64;
    let low = (at as usize).min(scale.len() - 2);
    let part = at - low as f64;
    let mix = |k: usize| (scale[low][k] + part * (scale[low + 1][k] - scale[low][k])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Returns the color step for a load between 0 and 1.
pub(crate) fn heat_step(load: f64) -> usize {
    (load.clamp(0.0, 1.0) * (HEATS - 1) as f64).round() as usize
}

/// Returns a step's class name and light color.
pub(crate) fn heat(step: usize) -> (String, String) {
    (format!("h{step}"), heat_of(&HEAT, step))
}

/// Returns the style sheet for load drawings, which contains only the dark colors.
pub(crate) fn heat_style() -> String {
    dark_style((0..HEATS).map(|step| (format!("h{step}"), heat_of(&DARK_HEAT, step))))
}
