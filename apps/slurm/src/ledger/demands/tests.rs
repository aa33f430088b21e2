use proptest::prelude::*;

use super::*;
use crate::ledger::constraints;

fn fields<'a>(features: &'a str, gres: &'a str, memory: &'a str) -> DemandFields<'a> {
    DemandFields {
        features,
        gres,
        memory,
        least_cpus: "1",
        cpus: "8",
        nodes: 2,
        layout: "*:*:*",
        disk: "0",
        excluded: Vec::new(),
    }
}

fn node() -> Offer {
    Offer {
        features: constraints::parse_features("a,b,nvme").unwrap(),
        gres: gres::parse("gpu:a100:2(S:0-1),gpu:h100:1,bandwidth:lustre:no_consume:4K").unwrap(),
        memory: 3000,
        cpus: 8,
        layout: [2, 2, 2],
        disk: 100,
    }
}

fn node_satisfies(fields: DemandFields<'_>) -> bool {
    fields.parse().unwrap().satisfied_by(&"n0".parse().unwrap(), &node())
}

#[test]
fn constraints_have_slurms_meaning() {
    for (constraint, expected) in [
        ("(null)", true),
        ("a", true),
        ("c", false),
        ("a&b", true),
        ("a&c", false),
        ("a|c", true),
        ("(a|c)&nvme", true),
        ("(c|d)&nvme", false),
        ("a&(b|c)&nvme", true),
        ("c&a|b", true),
        // The constraint is false if read from left to right, but true if `&` binds more tightly.
        // Both readings must be true.
        ("a|b&c", false),
    ] {
        assert_eq!(node_satisfies(fields(constraint, "N/A", "0")), expected, "{constraint}");
    }
}

#[test]
fn unsupported_constraints_are_errors() {
    let deep = format!("{}a{}", "(".repeat(40), ")".repeat(40));
    for text in
        ["[a|b]", "a*2", "a&", "&a", "a||b", "(a", "a)", "a b", "{a&b}", "!a", "a,b", "a\nb", &deep]
    {
        let fault = fields(text, "N/A", "0").parse().unwrap_err();
        assert_eq!(fault, "its constraint cannot be parsed", "{text}");
    }
    assert!(fields(&"a".repeat(5000), "N/A", "0").parse().is_err());
}

#[test]
fn generic_resources_are_counted_by_name_and_type() {
    for (text, expected) in [
        ("gres:gpu", true),
        ("gres:gpu:3", true),
        ("gres:gpu:4", false),
        ("gres/gpu:a100:2", true),
        ("gres/gpu:a100=3", false),
        ("gres:gpu:h100", true),
        ("gres:gpu:v100:1", false),
        ("gres:gpu:1,gres:bandwidth:lustre:4096", true),
        ("gres:bandwidth:5K", false),
        ("N/A", true),
    ] {
        assert_eq!(node_satisfies(fields("(null)", text, "0")), expected, "{text}");
    }
    for text in
        ["gres:", "gres:gpu:a:b:2", "gpu(2", "-gpu", "gpu:1,", "gpu:1;x", "gpu:99999999999P"]
    {
        assert!(fields("(null)", text, "0").parse().is_err(), "{text}");
    }
}

#[test]
fn memory_processors_and_disk_are_compared_in_one_unit() {
    let memory = |text| node_satisfies(fields("(null)", "N/A", text));
    assert!(memory("3000M") && memory("3000") && !memory("3001M") && !memory("3G"));
    assert!(memory("0") && memory("3071999K") && !memory("3072001K"));
    // The gate rejects requests for memory per processor, which squeue prints in a different form.
    assert!(fields("(null)", "N/A", "750Mc").parse().is_err());
    let with = |layout, cpus, disk| {
        node_satisfies(DemandFields { cpus, layout, disk, ..fields("", "", "0") })
    };
    assert!(with("*:*:*", "16", "100M") && !with("*:*:*", "17", "0") && !with("*:*:*", "1", "101"));
    // With one thread per core, a node has four processors.
    assert!(with("*:*:1", "8", "0") && !with("*:*:1", "9", "0"));
    assert!(with("2:2:*", "1", "0") && !with("3:*:*", "1", "0") && !with("*:*:4", "1", "0"));
}

#[test]
fn excluded_nodes_do_not_satisfy_demands() {
    let excluded = vec!["n0".parse().unwrap()];
    assert!(!node_satisfies(DemandFields { excluded, ..fields("", "", "0") }));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected(text in "\\PC{0,30}|[ab&|()*\\[\\]:=,gpu0-9KMG]{0,24}") {
        let _ = fields(&text, "N/A", "0").parse();
        let _ = fields("(null)", &text, "0").parse();
        let _ = fields("(null)", "N/A", &text).parse();
        let _ = (constraints::parse_features(&text), layout(&text));
    }
}
