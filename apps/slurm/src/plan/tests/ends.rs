//! Tests predictions of when nodes become free after a job ends or Slurm powers them off.

use super::*;

/// Checks that a job that was suspended for 500 s is expected to end 500 s after its time limit.
#[test]
fn a_resumed_job_ends_at_the_time_that_slurm_reports() {
    let with_end = |end: Option<u64>| {
        let holds = SlurmJob { end, ..running("9", "4x1", &[0, 1, 2, 3], 600) };
        let short = SlurmJob { limit: Some(600), ..shaped("2", "2x1", 2, 5) };
        let ledger = ledger(vec![holds, shaped("1", "4x2", 8, 9), short]);
        let decision = Run::new("easy").decide(&ledger, 1300);
        (opened_gates(&decision.changes), note_for(&decision, "1"))
    };
    // Job 2 would run until 1900. This would delay the first waiting job if job 9 ends at 1600, but
    // not if it ends at 2100.
    let (opened, text) = with_end(Some(1600));
    assert!(
        opened.is_empty() && text.contains(" at 1970-01-01T00:26:40Z, on 4x2 at 0,0. Blocked"),
        "{text}"
    );
    let (opened, text) = with_end(Some(2100));
    assert_eq!(opened, ["2 n4,n5"]);
    assert!(text.contains(" at 1970-01-01T00:35:00Z, on 4x2 at 0,0. Blocked"), "{text}");
    // If Slurm does not report the end, the time limit is used.
    assert!(with_end(None).0.is_empty());
}

/// Checks that a completing job is expected to release its nodes soon, whatever its time limit.
#[test]
fn an_ending_job_releases_its_nodes_soon() {
    let ends = SlurmJob { phase: Phase::Completing, ..running("9", "4x1", &[0, 1, 2, 3], 6000) };
    let ledger = ledger(vec![ends, shaped("1", "4x2", 8, 9), shaped("2", "2x1", 2, 5)]);
    let decision = Run::new("easy").decide(&ledger, 1300);
    assert!(opened_gates(&decision.changes).is_empty(), "{decision:?}");
    assert_eq!(
        note_for(&decision, "1"),
        "pavior: It needs 8 nodes, but only 4 are free; it is planned to start at \
         1970-01-01T00:21:40Z, on 4x2 at 0,0. Blocked there by job 9 (4 nodes). Nearest free: 4x1 \
         at 0,1."
    );
}

/// Checks that longer jobs do not overtake a job that is waiting for a completing job's nodes, no
/// matter which nodes the completing job holds.
#[test]
fn no_job_overtakes_one_that_needs_the_nodes_of_an_ending_job() {
    for held in 1..255_u32 {
        let nodes: Vec<u32> = (0..8).filter(|node| held >> node & 1 == 1).collect();
        let ends = SlurmJob { phase: Phase::Completing, ..running("9", "4x1", &nodes, 240) };
        let late = |name: &str| SlurmJob { limit: Some(600), ..shaped(name, "2x1", 2, 5) };
        let ledger = ledger(vec![ends, shaped("1", "4x2", 8, 9), late("2"), late("3")]);
        let decision = Run::new("easy").decide(&ledger, 1100);
        assert!(opened_gates(&decision.changes).is_empty(), "{nodes:?}: {decision:?}");
    }
}

/// Checks that nodes that Slurm is powering off are reserved for the first job, but not used until
/// they are off.
#[test]
fn nodes_being_powered_off_are_kept_for_the_first_job() {
    let mut state = ledger(vec![shaped("1", "4x2", 8, 9), shaped("2", "2x1", 2, 5)]);
    for node in &mut state.nodes[..2] {
        node.condition = Condition::PoweringOff;
    }
    let mut run = Run::new("easy");
    let decision = run.decide(&state, 1300);
    assert!(opened_gates(&decision.changes).is_empty(), "{decision:?}");
    assert_eq!(
        note_for(&decision, "1"),
        "pavior: It needs 8 nodes, but only 6 are free; it is planned to start at \
         1970-01-01T00:21:40Z, on 4x2 at 0,0. Blocked there by nodes being powered off (2 nodes). \
         Nearest free: 4x1 at 0,1."
    );
    assert_eq!((decision.free.count(), decision.failed), (6, 0));
    // A job that fits elsewhere does not wait for these nodes.
    let beside = ledger(vec![shaped("2", "2x2", 4, 5)]);
    let beside = Ledger { nodes: state.nodes.clone(), ..beside };
    assert_eq!(opened_gates(&Run::new("easy").at(&beside, 1300)), ["2 n2,n3,n6,n7"]);
    for node in &mut state.nodes {
        node.condition = Condition::Idle;
    }
    assert_eq!(opened_gates(&run.at(&state, 1301)), ["1 n0,n1,n2,n3,n4,n5,n6,n7"]);
}

/// Checks that a gate closes if Slurm powers off one of the job's nodes.
#[test]
fn a_gate_closes_if_slurm_powers_off_a_node() {
    let mut state = ledger(vec![opened("1", "2x1", 2, &[0, 1])]);
    state.nodes[1].condition = Condition::PoweringOff;
    let changes = Run::new("easy").at(&state, 1000);
    assert!(matches!(&changes[..], [Change::Close { wait_s: Some(1), .. }]), "{changes:?}");
}
