//! Each rule with a file that breaks it alone. What slurmctld 26.05.5 does with the same file was
//! tried before the rule was written: docs/slurm-torus3d.md.

use proptest::prelude::*;

use super::*;
use crate::Config;

/// A file of one topology that slurmctld takes, and of which it ignores nothing.
const GOOD: &str = "\
- topology: t
  cluster_default: true
  torus3d:
    toruses:
      - name: pod
        dims: {x: 4, y: 2, z: 1}
        nodes: n[0-7]
        placements:
          - dims: {x: 2, y: 2, z: 1}
";

/// What is found, as `line effect rule`.
fn found(text: &str) -> Vec<String> {
    let report = lint(text, None, None).unwrap();
    let line = |one: &Finding| format!("{} {} {}", one.place.line, one.effect.word(), one.rule);
    report.findings.iter().map(line).collect()
}

/// What is found if a part of the good file is another.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(GOOD.contains(from), "{from}");
    found(&GOOD.replace(from, to))
}

const PLACEMENTS: &str = "        placements:\n          - dims: {x: 2, y: 2, z: 1}\n";
const DIMS: &str = "dims: {x: 4, y: 2, z: 1}";
const BOX: &str = "dims: {x: 2, y: 2, z: 1}";
const NODES: &str = "        nodes: n[0-7]\n";

#[test]
fn a_good_file_is_clean() {
    assert_eq!(found(GOOD), [""; 0]);
    // One map in place of a list of one, as Slurm takes it, and in the words of YAML 1.1.
    let map = "%YAML 1.1\n---\ntopology: t\ntorus3d: {toruses: {name: p, \
               dims: {x: '0x4', y: +2, z: 01}, nodes: 'n0, n[1-6]  n7,', \
               placements: {dims: {x: 2, y: 2, z: 1}}}}\n...\n";
    assert_eq!(found(map), [""; 0]);
}

#[test]
fn placements_at_the_wrong_level_are_found() {
    let shallow = PLACEMENTS.replace("        placements", "    placements");
    let expected = ["5 ignored no-placements", "8 ignored unknown-key"];
    assert_eq!(changed(PLACEMENTS, &shallow), expected);
    let report = lint(&GOOD.replace(PLACEMENTS, &shallow), None, None).unwrap();
    assert!(report.findings[1].message.contains("belongs into a torus"), "{report:?}");
    let shallower = PLACEMENTS.replace("        placements", "  placements");
    assert_eq!(changed(PLACEMENTS, &shallower), expected);
}

#[test]
fn what_slurm_ignores_is_found() {
    for (from, to, expected) in [
        (
            "        placements",
            "        Placements",
            "5 ignored no-placements, 8 ignored unknown-key",
        ),
        (PLACEMENTS, "        placements: []\n", "5 ignored no-placements"),
        (NODES, "", "5 ignored no-nodes"),
        (BOX, "dims: {x: 2, y: 2, z: 1, w: 1}", "9 ignored unknown-key"),
        (BOX, "dims: {x: 65538, y: 2, z: 1}", "9 ignored number"),
        (DIMS, "dims: {x: 9, x: 4, y: 2, z: 1}", "6 ignored repeated-key"),
        ("n[0-7]", "n[0-6,0]", "7 ignored node-twice"),
        (
            BOX,
            &format!("{BOX}\n            anchor_spacing: {{x: 0, y: 2, z: 1}}"),
            "10 ignored spacing-of-dims",
        ),
        (
            BOX,
            &format!("{BOX}\n            anchor_spacing: {{x: 1}}"),
            "10 ignored spacing-of-dims",
        ),
        (
            BOX,
            &format!("{BOX}\n            anchor_spacing: {{x: 3, y: 2, z: 1}}"),
            "10 ignored spacing-around",
        ),
        (BOX, &format!("{BOX}\n          - {BOX}"), "10 ignored repeated-placement"),
    ] {
        let mut all = changed(from, to);
        all.dedup();
        assert_eq!(all.join(", "), expected, "{to}");
    }
}

#[test]
fn what_slurmctld_refuses_is_found() {
    let region = |dims: &str, nodes: &str| {
        format!("        regions: [{{dims: {dims}, nodes: '{nodes}'}}]\n")
    };
    for (from, to, expected) in [
        (DIMS, "dims: {x: 4, y: 2}", "dims"),
        (DIMS, "dims: [4, 2, 1]", "type"),
        (DIMS, "dims: {x: 4, y: 2, z: one}", "number"),
        (DIMS, "dims: {x: 4.0, y: 2, z: 1}", "number"),
        ("        dims: {x: 4, y: 2, z: 1}\n", "", "dims"),
        (BOX, "anchor_seed: {x: 0}", "dims"),
        (BOX, "dims: {x: 2, y: 3, z: 1}", "exceeds"),
        (BOX, &format!("{BOX}\n            anchor_seed: {{x: 4}}"), "exceeds"),
        (BOX, &format!("{BOX}\n            anchor_spacing: {{x: 5, y: 2}}"), "exceeds"),
        ("n[0-7]", "n[0-6]", "node-count"),
        ("n[0-7]", "'n[0-'", "nodes"),
        ("n[0-7]", "[n0, n1]", "nodes"),
        ("name: pod", "name: ''", "name"),
        (PLACEMENTS, "        placements:\n", "type"),
        (NODES, &(NODES.to_string() + &region("{x: 4, y: 2, z: 1}", "n[0-7]")), "regions"),
        (NODES, &region("{x: 4, y: 3, z: 1}", "n[0-11]"), "regions"),
        (NODES, &region("{x: 4, y: 2, z: 1}", "n[0-6]"), "regions"),
        (NODES, &region("{x: 4, y: 2, z: 1}", ""), "regions"),
        ("    toruses:", "    tori:", "toruses"),
        ("  torus3d:", "  flat: true\n  torus3d:", "plugins"),
        ("  torus3d:", "  torus3D:", "plugins"),
    ] {
        let all = changed(from, to);
        let wanted = format!("refused {expected}");
        assert!(all.iter().any(|one| one.ends_with(&wanted)), "{to}: {all:?}");
    }
    let two = GOOD.replace("n[0-7]", "n[0-7]\n        # two")
        + &GOOD[GOOD.find("      - name").unwrap()..];
    let all = found(&two);
    assert!(
        ["name", "shared-nodes"].iter().all(|rule| all.contains(&format!("11 refused {rule}"))),
        "{all:?}"
    );
    assert!(found(&format!("{GOOD}---\n{GOOD}")).contains(&"10 ignored documents".to_string()));
    for text in ["", "# empty\n", "torus3d\n", "[]"] {
        assert_eq!(found(text), ["1 refused type"], "{text}");
    }
    assert_eq!(found("- topology: t\n  flat: true\n"), ["1 ignored no-torus3d"]);
    assert!(lint("a: &b 1\nc: *b\n", None, None).unwrap_err().reason.contains("alias"));
}

#[test]
fn several_topologies_are_told_apart() {
    let two = |first: &str, second: &str| {
        found(&format!(
            "- topology: f\n  flat: true\n{first}{}",
            GOOD.replace("  cluster_default: true\n", second)
        ))
    };
    assert_eq!(two("", "  cluster_default: true\n"), [""; 0]);
    assert_eq!(two("", ""), ["1 ignored cluster-default"]);
    let both = two("  cluster_default: 1\n", "  cluster_default: perhaps\n");
    assert_eq!(both, ["4 ignored cluster-default", "5 ignored boolean"]);
    let named = found(&format!(
        "- topology: pod\n  flat: true\n{}",
        GOOD.replace("topology: t", "topology: pod")
    ));
    assert_eq!(named, ["3 ignored topology-name"]);
}

#[test]
fn nodes_that_hold_no_job_are_found() {
    let spaced = format!("{BOX}\n            anchor_spacing: {{x: 4, y: 2, z: 1}}");
    assert_eq!(changed(BOX, &spaced), ["5 unplaced left-out"]);
    let ones = format!(
        "{BOX}\n          - dims: {{x: 1, y: 1, z: 1}}\n            \
         anchor_spacing: {{x: 2, y: 2, z: 1}}"
    );
    assert_eq!(changed(BOX, &ones), ["10 unplaced size-left-out"]);
    // A region leaves the other half of the torus without nodes.
    let half = "        regions: {dims: {x: 2, y: 2, z: 1}, nodes: 'n[0-3]'}\n";
    assert_eq!(changed(NODES, half), ["9 note partial"]);
    let large = GOOD.replace(BOX, "dims: {x: 4, y: 2, z: 1}").replace(NODES, half);
    assert_eq!(found(&large), ["9 unplaced no-anchor"]);
}

#[test]
fn notes_are_no_mistakes() {
    assert_eq!(changed(BOX, "dims: {x: 3, y: 1, z: 1}"), ["9 note does-not-divide"]);
    let two = format!("{BOX}\n          - dims: {{x: 4, y: 1, z: 1}}");
    assert_eq!(changed(BOX, &two), ["10 note same-size"]);
}

#[test]
fn nodes_of_the_partition_are_compared() {
    let rules = |nodes: &str| {
        let report = lint(GOOD, Some(nodes), None).unwrap();
        report.findings.into_iter().map(|one| one.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules("n[0-7]"), [""; 0]);
    assert_eq!(rules("n[0-9]"), ["outside-nodes"]);
    // The cell of the node that is not known is empty, and the others of its box hold no job.
    assert_eq!(rules("n[0-6]"), ["left-out", "strange-nodes", "partial"]);
    assert_eq!(lint(GOOD, Some("n["), None).unwrap_err().place.line, 0);
}

#[test]
fn each_size_of_a_mix_has_a_fate() {
    let mix = Mix::read("4:6 3 2x2:2 1x4x1").unwrap();
    let report = lint(GOOD, None, Some(&mix)).unwrap();
    let fates = |report: &Report| {
        let fate = |one: &Sizes| format!("{} {} {}", one.demand, one.share, one.fate.word());
        report.sizes.iter().map(fate).collect::<Vec<_>>()
    };
    let expected = ["3 0.1 refused", "4 0.6 placed", "1x4x1 0.1 other-shape", "2x2x1 0.2 placed"];
    assert_eq!(fates(&report), expected);
    let rules: Vec<&str> = report.findings.iter().map(|one| one.rule).collect();
    assert_eq!(rules, ["never-placed", "other-shape", "same-size"]);
    let by_number = lint(&GOOD.replace(PLACEMENTS, ""), None, Some(&mix)).unwrap();
    assert!(by_number.sizes.iter().all(|one| one.fate == Fate::ByNumber));
    let unknown = lint(&GOOD.replace("n[0-7]", "n[0-6]"), None, Some(&mix)).unwrap();
    assert!(unknown.sizes.iter().all(|one| one.fate == Fate::Unknown));
}

#[test]
fn hostile_text_is_bounded_and_shown_harmless() {
    let key = "\\u001b[31m".repeat(60);
    let report = lint(&format!("{GOOD}  \"{key}\": 1\n"), None, None).unwrap();
    let message = &report.findings[0].message;
    assert!(!message.contains('\u{1b}') && message.len() < 600, "{message}");
    let report = lint(&format!("{GOOD}{}", "  x: 1\n".repeat(3000)), None, None).unwrap();
    assert_eq!((report.findings.len(), report.findings[1000].rule), (1001, "not-examined"));
    let huge = GOOD.replace("x: 4", "x: 65535").replace("y: 2", "y: 65535");
    assert!(found(&huge).iter().any(|one| one.ends_with("not-examined")), "{:?}", found(&huge));
    let many = format!("{BOX}\n{}", format!("          - {BOX}\n").repeat(1500));
    assert!(changed(BOX, &many).contains(&"1009 note not-examined".to_string()));
    let report = lint(&GOOD.replace(BOX, &many), None, Some(&Mix::read("4 8").unwrap())).unwrap();
    assert!(report.sizes.iter().all(|one| one.fate == Fate::Unknown));
}

fn config(machine: &str) -> Config {
    Config::parse(&format!("machine = \"{machine}\"\nnodes = \"n{{:03}}\"\npartition = \"p\"\n"))
        .unwrap()
}

fn choice(any: bool, turn: bool) -> Choice {
    Choice { anchors: if any { Anchors::Any } else { Anchors::Aligned }, turn }
}

#[test]
fn a_generated_file_says_what_torus3d_cannot_do() {
    let mix = Mix::read("4x4x1,2x2x4,7,3").unwrap();
    let made = generate(&config("grid:4wx4x4w"), &mix, choice(false, false)).unwrap();
    assert_eq!(made.cannot, [Demand::Nodes(7)]);
    assert!(made.complaint().unwrap().contains(": 7"));
    for part in [
        "gets 4x2x2 or 4x4x1",
        "has this size: 7",
        "without wrap links (y)",
        "PartitionName=p ... Topology=torus",
        "nodes: \"n[000-063]\"",
    ] {
        assert!(made.yaml.contains(part), "{part}: {}", made.yaml);
    }
    assert!(
        generate(&config("torus:4x4x4"), &Mix::read("7").unwrap(), choice(false, false)).is_err()
    );
    let many: Vec<String> = (1..60).map(|size| size.to_string()).collect();
    let many = Mix::read(&many.join(",")).unwrap();
    assert!(
        generate(&config("mesh:64x64x64"), &many, choice(true, true))
            .unwrap_err()
            .contains("more than")
    );
}

#[test]
fn nodes_are_listed_in_the_machine_s_order() {
    let listed = |nodes: &str| {
        let text = format!("machine = \"mesh:4\"\nnodes = {nodes}\npartition = \"p\"\n");
        let config = Config::parse(&text).unwrap();
        let made = generate(&config, &Mix::read("4").unwrap(), choice(false, false)).unwrap();
        let line = made.yaml.lines().find(|line| line.contains("nodes: \"")).unwrap().to_string();
        line.trim().trim_start_matches("nodes: ").trim_matches('"').to_string()
    };
    assert_eq!(listed("\"n{}x\""), "n0x,n1x,n2x,n3x");
    assert_eq!(listed("{ n9 = [0], n10 = [1], n11 = [2], a = [3] }"), "n[9-11],a");
    assert_eq!(listed("{ n3 = [0], n2 = [1], n03 = [2], n04 = [3] }"), "n3,n2,n[03-04]");
}

proptest! {
    /// Each size that is not said to be impossible is placed, and all nodes are reached.
    #[test]
    fn generated_files_place_each_size(
        sides in [1u16..7, 1u16..6, 1u16..5],
        wraps in [any::<bool>(), any::<bool>(), any::<bool>()],
        asks in prop::collection::vec((1u16..7, 1u16..5, 1u16..4, any::<bool>()), 1..5),
        any in any::<bool>(),
        turn in any::<bool>(),
    ) {
        let axis = |axis: usize| format!("{}{}", sides[axis], if wraps[axis] { "w" } else { "" });
        let config = config(&format!("grid:{}x{}x{}", axis(0), axis(1), axis(2)));
        let ask = |&(a, b, c, shape): &(u16, u16, u16, bool)| {
            if shape { format!("{a}x{b}x{c}") } else { (a * b * c).to_string() }
        };
        let asks: Vec<String> = asks.iter().map(ask).collect();
        let mix = Mix::read(&asks.join(",")).unwrap();
        if let Ok(made) = generate(&config, &mix, choice(any, turn)) {
            let report = lint(&made.yaml, None, Some(&mix)).unwrap();
            for size in &report.sizes {
                let impossible = made.cannot.contains(&size.demand);
                prop_assert!((size.fate == Fate::Placed) != impossible, "{:?}", made);
            }
            let allowed = ["never-placed", "other-shape"];
            let is_right =
                |one: &Finding| one.effect == Effect::Note || allowed.contains(&one.rule);
            prop_assert!(report.findings.iter().all(is_right), "{:?} {:?}", report, made);
        }
    }
}
