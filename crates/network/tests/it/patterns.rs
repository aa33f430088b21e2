//! Tests of each pattern's messages, and of shortcuts that must yield the same messages.

use std::collections::BTreeSet;
use std::path::Path;

use pavior_kernel::Stream;
use pavior_mesh::Grid;
use pavior_network::patterns::{Needs, Pattern, RankGrid};
use pavior_network::{PatternRegistry, PatternSelection, supports_iterations};

fn pattern(name: &str, ranks: u32, sides: [u16; 3]) -> Box<dyn Pattern> {
    let selection: PatternSelection = name.parse().unwrap();
    selection.build((&RankGrid { ranks, sides }, &mut Stream::new(4, 0, "root"))).unwrap()
}

/// Returns the rounds of an iteration, each as a list of messages (sender, receiver).
fn rounds(pattern: &dyn Pattern) -> Vec<Vec<(u32, u32)>> {
    (0..pattern.rounds())
        .map(|round| {
            let sends = |rank| pattern.destination(rank, round).map(|to| (rank, to));
            (0..pattern.ranks()).filter_map(sends).collect()
        })
        .collect()
}

/// Returns every pattern with various options, numbers of ranks, and shapes to test.
fn all() -> impl Iterator<Item = (String, u32, [u16; 3])> {
    let shapes = [
        (2, [2, 1, 1]),
        (3, [1, 3, 1]),
        (7, [3, 3, 1]),
        (16, [4, 4, 1]),
        (13, [5, 3, 1]),
        (24, [2, 3, 4]),
        (23, [4, 3, 2]),
        (33, [33, 1, 1]),
    ];
    let names =
        PatternRegistry::new().entries().filter(|spec| !spec.does.quota_only).flat_map(|spec| {
            spec.variants.iter().map(move |variant| match *variant {
                "" => spec.name.to_string(),
                variant => format!("{}:{variant}", spec.name),
            })
        });
    names.flat_map(move |name| {
        shapes.into_iter().map(move |(ranks, sides)| (name.clone(), ranks, sides))
    })
}

#[test]
fn the_registry_lists_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/patterns");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["mod.rs", "selection.rs", "lattice.rs"].contains(&name.as_str()))
        .map(|name| name.trim_end_matches(".rs").replace('_', "-"))
        .collect();
    let listed: BTreeSet<String> =
        PatternRegistry::new().entries().map(|spec| spec.name.to_string()).collect();
    assert_eq!(files, listed);
    let expected = "one-to-all all-to-all near-neighbour random ring all-reduce recursive-doubling \
                    binomial-tree n-body multigrid stencil axis-all-to-all";
    let names: Vec<&str> = PatternRegistry::new().entries().map(|spec| spec.name).collect();
    assert_eq!(names.join(" "), expected);
}

#[test]
fn messages_go_to_others_and_shortcuts_agree_with_the_rule() {
    for (name, ranks, sides) in all() {
        let pattern = pattern(&name, ranks, sides);
        let case = format!("{name} {ranks} {sides:?}");
        let rounds = rounds(pattern.as_ref());
        let count: usize = rounds.iter().map(Vec::len).sum();
        assert_eq!(pattern.messages(), count as u64, "{case}");
        for (round, messages) in rounds.iter().enumerate() {
            let local = round as u32;
            assert_eq!(pattern.senders(local) as usize, messages.len(), "{case} {round}");
            for &(from, to) in messages {
                assert!(to < ranks && to != from, "{case}: {from} to {to}");
                if pattern.needs() == Needs::Received {
                    assert_eq!(pattern.source(to, local), Some(from), "{case} {round}");
                }
            }
            if pattern.needs() == Needs::Received {
                let receivers = (0..ranks).filter(|&rank| pattern.source(rank, local).is_some());
                assert_eq!(receivers.count(), messages.len(), "{case} {round}");
            }
            let end = pattern.stage_end(local);
            assert!(end > local && end <= pattern.rounds(), "{case} {round}");
            for rank in 0..ranks {
                let next = messages.iter().copied().find(|&(from, _)| from >= rank);
                assert_eq!(pattern.next_sender(local, rank), next, "{case} {round}");
            }
        }
        for rank in 0..ranks {
            let sends: Vec<(u32, u32)> = (0..pattern.rounds())
                .filter_map(|round| pattern.destination(rank, round).map(|to| (round, to)))
                .collect();
            for round in 0..=pattern.rounds() {
                let before = sends.iter().filter(|&&(at, _)| at < round).count();
                assert_eq!(pattern.sends_before(rank, round), before as u64, "{case}");
                let until = (round + 3).min(pattern.rounds());
                let next = sends.iter().copied().find(|&(at, _)| at >= round && at < until);
                assert_eq!(pattern.next_send(rank, round, until), next, "{case}");
            }
        }
    }
}

#[test]
fn lists_have_no_gaps() {
    for name in ["one-to-all", "all-to-all", "near-neighbour", "stencil", "axis-all-to-all:y"] {
        let pattern = pattern(name, 13, [5, 3, 1]);
        for rank in 0..13 {
            let sends = |round: u32| pattern.destination(rank, round).is_some();
            let length = (0..pattern.rounds()).filter(|&round| sends(round)).count() as u32;
            assert!((0..length).all(sends), "{name} {rank}");
        }
    }
}

#[test]
fn numbers_of_messages() {
    let count = |name: &str, ranks, sides| pattern(name, ranks, sides).messages();
    assert_eq!(count("one-to-all", 16, [4, 4, 1]), 15);
    assert_eq!(count("all-to-all", 256, [16, 16, 1]), 65_280);
    assert_eq!(count("near-neighbour", 16, [4, 4, 1]), 48);
    assert_eq!(count("near-neighbour", 27, [3, 3, 3]), 3 * 2 * 18);
    assert_eq!(count("near-neighbour:wrap=yes", 16, [4, 4, 1]), 64);
    assert_eq!(count("ring", 9, [3, 3, 1]), 9);
    assert_eq!(count("all-reduce", 5, [5, 1, 1]), 8 * 5);
    assert_eq!(count("recursive-doubling", 13, [13, 1, 1]), 3 * 8);
    assert_eq!(count("binomial-tree", 13, [13, 1, 1]), 24);
    assert_eq!(count("n-body", 6, [6, 1, 1]), 3 * 6);
    assert_eq!(count("n-body", 2, [2, 1, 1]), 2);
    assert_eq!(count("stencil", 27, [3, 3, 3]), 8 * 7 + 12 * 11 + 6 * 17 + 26);
    assert_eq!(count("stencil", 9, [3, 3, 1]), 4 * 3 + 4 * 5 + 8);
    assert_eq!(count("stencil:faces", 27, [3, 3, 3]), 3 * 2 * 18);
    assert_eq!(count("axis-all-to-all", 12, [4, 3, 1]), 3 * 12);
    assert_eq!(count("axis-all-to-all:y", 12, [4, 3, 1]), 4 * 6);
    // On a line of five ranks, levels 0, 1, 2, 1 and 0 have 8, 4, 2, 4 and 8 messages.
    assert_eq!(count("multigrid", 5, [5, 1, 1]), 8 + 4 + 2 + 4 + 8);
    assert_eq!(count("multigrid", 2, [2, 1, 1]), 2);
}

#[test]
fn worked_rounds() {
    let of = |name: &str, ranks, sides| rounds(pattern(name, ranks, sides).as_ref());
    assert_eq!(
        of("all-to-all", 3, [3, 1, 1]),
        [[(0, 1), (1, 2), (2, 0)], [(0, 2), (1, 0), (2, 1)]]
    );
    assert_eq!(
        of("binomial-tree", 6, [6, 1, 1]),
        [
            vec![(0, 1)],
            vec![(0, 2), (1, 3)],
            vec![(0, 4), (1, 5)],
            vec![(4, 0), (5, 1)],
            vec![(2, 0), (3, 1)],
            vec![(1, 0)],
        ]
    );
    assert_eq!(
        of("recursive-doubling", 5, [5, 1, 1]),
        [[(0, 1), (1, 0), (2, 3), (3, 2)], [(0, 2), (1, 3), (2, 0), (3, 1)]]
    );
    // Ranks send in the order east, west, north, south. Rank 4 is in the middle of a 3 x 3 grid,
    // and rank 0 is in its south-west corner.
    let near = pattern("near-neighbour", 9, [3, 3, 1]);
    let list = |rank| (0..4).filter_map(|round| near.destination(rank, round)).collect::<Vec<_>>();
    assert_eq!((list(4), list(0)), (vec![5, 3, 7, 1], vec![1, 3]));
    // Positions without a rank must not count as neighbors.
    let near = pattern("near-neighbour", 8, [3, 3, 1]);
    let east = (0..4).filter_map(|round| near.destination(7, round)).collect::<Vec<_>>();
    assert_eq!(east, [6, 4]);
    // With `from-zero`, the root sends to all other ranks in ascending order. Without it, the root
    // starts with the rank after its own. In both cases, it sends to each other rank once.
    let zero = of("one-to-all:from-zero", 5, [5, 1, 1]).concat();
    let root = zero[0].0;
    let others: Vec<u32> = (0..5).filter(|&rank| rank != root).collect();
    assert_eq!(zero.iter().map(|&(_, to)| to).collect::<Vec<_>>(), others);
    let turn = of("one-to-all", 5, [5, 1, 1]).concat();
    assert!(turn.iter().enumerate().all(|(j, &(from, to))| to == (from + 1 + j as u32) % 5));
    assert_eq!(
        of("all-to-all:from-zero", 3, [3, 1, 1]),
        [[(0, 1), (1, 0), (2, 0)], [(0, 2), (1, 2), (2, 1)]]
    );
    assert_eq!(
        of("all-to-all:senders=in-turn", 3, [3, 1, 1]).concat(),
        [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]
    );
}

#[test]
fn random_messages_are_uniform_and_never_to_oneself() {
    let pattern = pattern("random", 5, [5, 1, 1]);
    let mut counts = [[0u32; 5]; 5];
    for round in 0..20_000 {
        let (from, to) = pattern.next_sender(round, 0).unwrap();
        assert_eq!(pattern.destination(from, round), Some(to));
        counts[from as usize][to as usize] += 1;
    }
    for (from, row) in counts.iter().enumerate() {
        for (to, &count) in row.iter().enumerate() {
            let expected = if from == to { 0..1 } else { 850..1150 };
            assert!(expected.contains(&count), "{from} to {to}: {count}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let of = |name: &str| name.parse::<PatternSelection>();
    let plane: Grid = "mesh:4x4".parse().unwrap();
    let point: Grid = "mesh:1x1".parse().unwrap();
    let refusal =
        |name: &str, grid: &Grid| of(name).unwrap().supports(grid).unwrap_err().to_string();
    assert_eq!(
        refusal("multigrid", &point),
        "pattern multigrid sends nothing on mesh:1x1, a one-node machine"
    );
    assert_eq!(
        refusal("axis-all-to-all:z", &plane),
        "pattern axis-all-to-all:z requires axis z, which mesh:4x4 does not have"
    );
    assert!(of("axis-all-to-all:y").unwrap().supports(&plane).is_ok());
    let (large, too_large): (Grid, Grid) =
        ("mesh:256x256".parse().unwrap(), "mesh:256x257".parse().unwrap());
    assert!(of("all-to-all:senders=in-turn").unwrap().supports(&large).is_ok());
    assert!(of("all-to-all").unwrap().supports(&too_large).is_ok());
    assert_eq!(
        refusal("all-to-all:senders=in-turn", &too_large),
        "pattern all-to-all:senders=in-turn requires a machine with at most 65536 nodes, \
         but mesh:256x257 has more"
    );
    assert!(supports_iterations(&of("random").unwrap()).is_err());
    assert!(supports_iterations(&of("ring").unwrap()).is_ok());
    assert_eq!(
        of("al-to-all").unwrap_err().reason,
        "unknown pattern `al-to-all`; did you mean `all-to-all`?"
    );
    assert!(of("ring:3").is_err());
}
