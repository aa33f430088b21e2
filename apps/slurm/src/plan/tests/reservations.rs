//! Tests the effect of reservations on jobs.

use super::*;

fn reservation(name: &str, nodes: &[u32], start: u64, end: u64) -> Reservation {
    let (name, nodes) = (name.into(), names(nodes));
    Reservation { name, nodes, start, end, ..Reservation::default() }
}

#[test]
fn a_job_waits_for_the_end_of_a_reservation() {
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9), shaped("2", "2x1", 2, 8)]);
    state.reservations = vec![reservation("repair", &[0, 1, 2, 4, 5, 6], 1030, 2000)];
    let mut run = Run::new("easy");
    let decision = run.decide(&state, 1000);
    assert_eq!(opened_gates(&decision.changes), ["2 n3,n7"]);
    let note = note_for(&decision, "1");
    assert!(decision.boxless.is_empty() && note.contains("a reservation to end"), "{note}");
    assert_eq!(opened_gates(&run.at(&state, 2000))[0], "1 n0,n1,n4,n5");
}

/// Checks that a job in a flexible reservation may start before the reservation begins and may use
/// other nodes.
#[test]
fn a_job_in_a_flexible_reservation_may_use_other_nodes() {
    let job = SlurmJob { reservation: "flexi".into(), ..shaped("1", "2x2", 4, 9) };
    let mut state = ledger(vec![job, shaped("2", "2x1", 2, 8)]);
    let of = |name, nodes: &[u32]| reservation(name, nodes, 1030, 2000);
    state.reservations = vec![of("flexi", &[0, 1, 2]), of("repair", &[4, 7])];
    assert_eq!(opened_first("easy", &state), ["2 n5,n6"]);
    state.reservations[0].allows_other_nodes = true;
    assert_eq!(opened_first("easy", &state), ["1 n1,n2,n5,n6"]);
}

/// Checks that a magnetic reservation keeps a gate open longer and is named in notes.
#[test]
fn a_magnetic_reservation_extends_patience_and_is_named() {
    let magnet = reservation("magnet", &[0, 1, 4, 5], 0, 9000);
    let magnet = Reservation { is_magnetic: true, ..magnet };
    let reason = "ReqNodeNotAvail, May be reserved for other job";
    let open = SlurmJob { reason: reason.into(), ..opened("1", "2x2", 4, &[2, 3, 6, 7]) };
    let waits = shaped("2", "4x2", 8, 9);
    let mut state = ledger(vec![open, waits]);
    let closes = |state: &Ledger, now: u64| {
        let mut run = Run::new("easy");
        run.site.examination_s = 40;
        run.at(state, 1000);
        !run.at(state, now).is_empty()
    };
    assert!(!closes(&state, 1009) && closes(&state, 1010));
    state.reservations = vec![magnet];
    assert!(!closes(&state, 1039) && closes(&state, 1040));
    let note = note_for(&Run::new("easy").decide(&state, 1000), "2");
    let end = "; to use nodes in the magnetic reservation magnet, add --reservation=magnet";
    assert!(note.ends_with(end), "{note}");
}

#[test]
fn a_job_uses_only_nodes_that_its_reservation_allows() {
    let of = |name, nodes: &[u32], start| reservation(name, nodes, start, 9000);
    let elsewhere = of("elsewhere", &[9], 0);
    let licenses = Reservation { allows_other_nodes: true, ..of("licenses", &[], 0) };
    let [later, active] = [of("later", &[0, 1], 2000), of("active", &[4, 5], 0)];
    let reservations = vec![later, active, elsewhere, licenses];
    for (requested, expected) in [
        ("elsewhere", &[][..]),
        ("licenses", &["1 n2,n3"]),
        ("later,active", &["1 n4,n5"]),
        ("active,gone", &["1 n4,n5"]),
        ("gone,lost", &[]),
    ] {
        let (reservation, limit) = (requested.into(), Some(1200));
        let job = SlurmJob { reservation, limit, ..shaped("1", "2x1", 2, 9) };
        let ledger = Ledger { reservations: reservations.clone(), ..ledger(vec![job]) };
        assert_eq!(opened_first("easy", &ledger), expected, "{requested}");
    }
}
