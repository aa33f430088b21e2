//! Tests, in light and dark mode, that job and tenant colors contrast with their surroundings and
//! can be distinguished, including by color-blind people.

/// The minimum distance between two colors in OKLab, where lightness ranges from 0 to 1. Adjacent
/// colors can be distinguished at distances above about 0.02.
const APART: f64 = 0.05;
/// The contrast required by WCAG 2 for graphics (criterion 1.4.11).
const CONTRAST: f64 = 3.0;

type Rgb = [f64; 3];
type Rows = [Rgb; 3];

/// Matrices for colors in linear light. They simulate normal vision, and vision without the cones
/// for long, medium or short wavelengths (Machado, Oliveira and Fernandes 2009).
const EYES: [(&str, Rows); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// The OKLab matrices (Ottosson 2020): from linear light to cones, and from cube roots to Lab.
const CONES: Rows = [
    [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
    [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
    [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
];
const LAB: Rows = [
    [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
    [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
    [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
];

fn times(rows: &Rows, by: Rgb) -> Rgb {
    rows.map(|row| row.iter().zip(by).map(|(one, other)| one * other).sum())
}

/// Converts a color such as `#1a85f8` to linear light.
fn linear(hex: &str) -> Rgb {
    [1, 3, 5].map(|at| {
        let byte = u8::from_str_radix(&hex[at..at + 2], 16).expect("a color has digits");
        let part = f64::from(byte) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

fn seen(rows: &Rows, color: Rgb) -> Rgb {
    let shown = times(rows, color).map(|part| part.clamp(0.0, 1.0));
    times(&LAB, times(&CONES, shown).map(f64::cbrt))
}

fn contrast(one: Rgb, other: Rgb) -> f64 {
    let [one, other] = [one, other].map(|[r, g, b]| 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
    (one / other).max(other / one)
}

/// Returns the color codes in a piece of source code, in order.
fn colors(text: &str) -> Vec<&str> {
    let starts = text.match_indices("\"#").map(|(at, _)| at + 1);
    starts.map(|at| &text[at..at + 7]).collect()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).expect(from);
    rest.split_once(to).expect(to).0
}

#[test]
fn any_two_colors_can_be_distinguished() {
    let source = include_str!("../page/src/colors.ts");
    let theme = include_str!("../page/src/theme.ts");
    let all = colors(between(source, "const SERIES: [string, string][] = [", "];"));
    assert_eq!(all.len(), 24, "twelve, each in light and in dark");
    for (dark, name) in ["LIGHT", "DARK"].into_iter().enumerate() {
        let series: Vec<&str> = all.iter().skip(dark).step_by(2).copied().collect();
        let page = between(theme, &format!("const {name}: Paper = {{"), "};");
        for around in ["card: ", "free: "] {
            let around = colors(between(page, around, ","))[0];
            for one in &series {
                let found = contrast(linear(one), linear(around));
                assert!(found >= CONTRAST, "{one} on {around}: {found:.2} to 1");
            }
        }
        for (index, one) in series.iter().enumerate() {
            for other in &series[..index] {
                for (eye, rows) in &EYES {
                    let [a, b] = [one, other].map(|hex| seen(rows, linear(hex)));
                    let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(apart >= APART, "{one} and {other}, {eye}: {apart:.3} apart");
                }
            }
        }
    }
}
