//! Slices, one thing at a time.

use pavior_mesh::{Cuboid, NodeId};
use serde_json::json;

use super::super::model::{Model, View};
use super::super::races::Draw;
use super::super::small::{settle_by, words};
use super::control::{Control, cubes, name, set_health};
use crate::look::Cluster;
use crate::objects::{FAILED, Known as _, OF_SLICE, Uid};
use crate::plan::{Act, Depth, Memory, Picture, Plan, Seen, Stock, plan};
use crate::world::Index;

/// A plan at a time.
fn planned(model: &Model, memory: &mut Memory, now: i64) -> Plan {
    let mut view = View::default();
    view.catch_up(model);
    plan(&Index::of(&view.world), "m", memory, now, Depth::ACT).unwrap()
}

/// Everything goes on until nothing changes; the last plan.
fn settle(model: &mut Model, control: &mut Control) -> Plan {
    let (mut memory, mut draw) = (Memory::default(), Draw(1));
    let mut made = settle_by(model, &mut memory);
    for _ in 0..40 {
        control.step(model, &mut draw);
        model.end_going();
        made = settle_by(model, &mut memory);
    }
    made
}

/// The cubes of a Job's record.
fn held(model: &Model, job: &Uid) -> Vec<String> {
    let mut records = model.world.placements.values().filter(|one| one.spec.job_uid == *job);
    records.next().map(|one| one.spec.nodes.clone()).unwrap_or_default()
}

fn note(model: &Model, job: &Uid) -> Option<String> {
    model.world.jobs[job].annotation(FAILED).map(str::to_string)
}

#[test]
fn a_job_gets_a_record_then_a_slice_then_its_nodes() {
    let mut model = cubes(&[4], &json!({}));
    let job = model.add_job("a", "8x4x4", &json!({}));
    model.make_pods();
    let (mut memory, mut control, mut draw) = (Memory::default(), Control::default(), Draw(1));
    for word in ["propose", "confirm", "form"] {
        let made = planned(&model, &mut memory, 0);
        assert_eq!(words(&made), [word]);
        assert!(model.carry(&made.acts[0]));
    }
    let slice = model.world.slices.as_ref().unwrap().values().next().unwrap().clone();
    assert_eq!((slice.spec.topology.as_str(), slice.spec.kind.as_str()), ("4x4x8", "tpu7x"));
    assert_eq!(slice.spec.partition_ids, [name(0, 0), name(0, 1)]);
    let made = planned(&model, &mut memory, 0);
    assert!(made.acts.is_empty() && made.waiting[0].why.contains("SliceNotCreated"), "{made:?}");
    for _ in 0..10 {
        control.step(&mut model, &mut draw);
    }
    let made = planned(&model, &mut memory, 0);
    assert_eq!(words(&made), ["open", "open"]);
    for act in &made.acts {
        model.carry(act);
    }
    model.bind();
    let on = model.pods(|pod| pod.node().is_some());
    assert_eq!(on.len(), 2);
    assert_eq!(model.world.pods[&on[0]].spec.node_selector[OF_SLICE], slice.name());
    assert!(planned(&model, &mut memory, 0).acts.is_empty());
    // It ends: the record goes, then the Slice, and then the cubes are free.
    for pod in on {
        model.succeed(&pod);
    }
    let made = settle(&mut model, &mut control);
    assert_eq!((made.status.free, made.status.busy), (4, 0));
    assert!(model.world.slices.as_ref().unwrap().is_empty());
    drop(job);
}

/// The cubes as they are drawn.
fn stock(model: &Model) -> Stock {
    let (mut view, mut memory) = (View::default(), Memory::default());
    view.catch_up(model);
    let depth = Depth { pictured: true, ..Depth::ACT };
    let made = plan(&Index::of(&view.world), "m", &mut memory, 0, depth).unwrap();
    let Some(Picture::Cubes(stock)) = made.picture else { panic!("it is drawn") };
    stock
}

#[test]
fn the_page_shows_who_has_which_cube_and_what_the_others_are_enough_for() {
    let mut model = cubes(&[4, 2], &json!({ "spares": 1 }));
    set_health(&mut model, &name(0, 3), "UNHEALTHY");
    let job = model.add_job("a", "8x4x4", &json!({}));
    let mut control = Control::default();
    settle(&mut model, &mut control);
    let has = held(&model, &job);
    assert_eq!(has.len(), 2);
    let seen = stock(&model);
    // A row for each block; the second is two cubes short of the first.
    assert_eq!(seen.grid.sides(), [4, 2, 1]);
    let point = |node: &NodeId| seen.grid.point(*node);
    let lost: Vec<_> = seen.failed.iter().map(point).collect();
    assert_eq!(lost, [[3, 0, 0], [2, 1, 0], [3, 1, 0]]);
    let [one] = &seen.held[..] else { panic!("{:?}", seen.held) };
    assert_eq!((one.name.as_str(), one.namespace.as_str()), ("Job default/a", "default"));
    assert_eq!(seen.names(&one.parts).collect::<Vec<_>>(), has);
    // One is free beside the Job and is the spare; one of two is the spare of the second block.
    assert_eq!((seen.free, seen.largest()), (3, 1));
    assert_eq!(seen.slots("4x4x4").unwrap(), [[Cuboid::new([0, 1, 0], [1, 1, 1])]]);
    assert_eq!(seen.ask("4x4x4").unwrap(), Ok(vec![Cuboid::new([0, 1, 0], [1, 1, 1])]));
    assert!(seen.slots("4x4x8").unwrap().is_empty());
    let why = seen.ask("4x4x8").unwrap().unwrap_err();
    assert!(why.contains("it needs 2 free cubes of one block: at most 1 are free"), "{why}");
    for wrong in ["4x4", "2x2x1", "\u{1b}[2J"] {
        assert!(seen.ask(wrong).is_err() && seen.slots(wrong).is_err(), "{wrong}");
    }
    // A Job that is about to start has its cube at once, and a Slice of somebody else has its.
    let next = model.add_job("b", "4x4x4", &json!({}));
    model.make_pods();
    let seen = stock(&model);
    assert_eq!(seen.held[1].name, "Job default/b");
    assert_eq!((seen.free, seen.largest()), (2, 0));
    drop(next);
}

#[test]
fn who_asks_for_slots_is_told_the_cubes_of_each_slice() {
    let model = cubes(&[3, 2, 2], &json!({ "spares": 0 }));
    let mut view = View::default();
    view.catch_up(&model);
    let cluster = Cluster { world: view.world, now: 0 };
    let told = |shape: &str| cluster.slots(shape, 1).map_err(|error| error.to_string());
    let all = told("8x4x4").unwrap();
    let pair = |block: usize| format!("{}+{}", name(block, 0), name(block, 1));
    assert_eq!((all.len(), all[0].free, all[0].bound), (1, 3, 3));
    assert_eq!(all[0].boxes, [pair(0), pair(1), pair(2)]);
    assert_eq!(told("4x4x20").unwrap()[0].free, 0);
    assert!(told("2x2x1").unwrap_err().contains("not made of cubes"));
}

#[test]
fn a_cube_that_fails_is_replaced_by_a_spare() {
    let mut model = cubes(&[4], &json!({ "spares": 1 }));
    let job = model.add_job("a", "4x4x12", &json!({}));
    let other = model.add_job("b", "4x4x4", &json!({}));
    let mut control = Control::default();
    let made = settle(&mut model, &mut control);
    assert_eq!(held(&model, &job), [name(0, 0), name(0, 1), name(0, 2)]);
    assert!(held(&model, &other).is_empty(), "the spare is not its");
    assert!(made.waiting[0].why.contains("spare"), "{:?}", made.waiting);
    set_health(&mut model, &name(0, 1), "UNHEALTHY");
    settle(&mut model, &mut control);
    let mut cubes = held(&model, &job);
    cubes.sort_unstable();
    assert_eq!(cubes, [name(0, 0), name(0, 2), name(0, 3)]);
    assert_eq!(model.pods(|pod| pod.node().is_some()).len(), 3);
    assert!(note(&model, &job).unwrap().starts_with("0 "), "the new one is usable");
    // It ends: the broken cube is no Job's, and two are there beside the spare.
    for pod in model.pods(|pod| pod.node().is_some()) {
        model.succeed(&pod);
    }
    settle(&mut model, &mut control);
    assert_eq!(held(&model, &other).len(), 1);
}

#[test]
fn slices_that_fail_are_tried_a_number_of_times_and_then_no_more() {
    let mut model = cubes(&[3], &json!({ "attempts": 3 }));
    let job = model.add_job("a", "4x4x4", &json!({}));
    let mut control = Control { failing: 100, ..Control::default() };
    let (mut memory, mut draw, mut cubes) = (Memory::default(), Draw(1), Vec::new());
    model.make_pods();
    for now in 0..200 {
        for act in planned(&model, &mut memory, now).acts {
            model.carry(&act);
        }
        cubes.extend(held(&model, &job));
        control.step(&mut model, &mut draw);
    }
    cubes.dedup();
    assert_eq!(cubes, [name(0, 0), name(0, 1), name(0, 2)], "others each time");
    let made = planned(&model, &mut memory, 200);
    assert!(made.acts.is_empty() && made.waiting[0].never, "{made:?}");
    assert!(made.waiting[0].why.starts_with("3 Slices in a row"), "{:?}", made.waiting);
    assert!(note(&model, &job).unwrap().starts_with("3 "));
    assert!(model.world.slices.as_ref().unwrap().is_empty());
}

#[test]
fn a_slice_that_never_forms_is_given_up() {
    let mut model = cubes(&[2], &json!({ "patienceSeconds": 30 }));
    let job = model.add_job("a", "4x4x4", &json!({}));
    let mut control = Control { stuck: 100, ..Control::default() };
    let (mut memory, mut draw) = (Memory::default(), Draw(1));
    model.make_pods();
    let mut seen = Vec::new();
    for now in 0..60 {
        for act in planned(&model, &mut memory, now).acts {
            model.carry(&act);
        }
        seen.extend(held(&model, &job));
        control.step(&mut model, &mut draw);
    }
    seen.dedup();
    assert_eq!(seen, [name(0, 0), name(0, 1)]);
}

#[test]
fn cubes_of_a_foreign_slice_and_of_one_that_is_leaving_are_not_free() {
    let mut model = cubes(&[2], &json!({}));
    let foreign = json!({
        "metadata": { "name": "theirs", "uid": "foreign" },
        "spec": { "type": "tpu7x", "topology": "4x4x4", "partitionIds": [name(0, 0)] },
    });
    model.put_slice(serde_json::from_value(foreign).unwrap());
    let job = model.add_job("a", "4x4x4", &json!({}));
    let mut control = Control::default();
    let made = settle(&mut model, &mut control);
    assert_eq!(held(&model, &job), [name(0, 1)]);
    assert_eq!((made.status.free, made.status.busy), (0, 2));
    model.dissolve(&Uid("foreign".into()));
    assert_eq!(planned(&model, &mut Memory::default(), 0).status.free, 0);
}

#[test]
fn who_waits_for_a_large_slice_is_not_passed_by_for_ever() {
    let mut model = cubes(&[4, 4], &json!({}));
    for name in ["a", "b", "c"] {
        model.add_job(name, "4x4x8", &json!({}));
    }
    let mut control = Control::default();
    settle(&mut model, &mut control);
    // Both blocks have a Slice; one is full. The large one waits for the other.
    let large = model.add_job("large", "4x8x8", &json!({}));
    let small = model.add_job("small", "4x4x4", &json!({}));
    let made = settle(&mut model, &mut control);
    assert!(held(&model, &large).is_empty() && held(&model, &small).is_empty());
    let why: Vec<&str> = made.waiting.iter().map(|one| one.why.as_str()).collect();
    assert!(why[0].contains("needs 4 free cubes of one block: at most 2"), "{why:?}");
    assert!(why[1].contains("kept for Jobs before it"), "{why:?}");
}

#[test]
fn jobs_that_can_never_have_a_slice_are_told_why() {
    let mut model = cubes(&[2], &json!({ "spares": 1 }));
    let selector = json!({ "nodeSelector": { OF_SLICE: "theirs" } });
    for (name, shape, extra, word) in [
        ("a", "4x4x6", json!({}), "cubes of 4x4x4"),
        ("b", "4x4", json!({}), "three sides"),
        ("c", "4x4x8", json!({}), "no block has 2 cubes beside 1 spares"),
        ("d", "4x4x4", selector, "select a Slice"),
    ] {
        let job = model.add_job(name, shape, &extra);
        model.make_pods();
        let made = planned(&model, &mut Memory::default(), 0);
        let told = made.waiting.iter().find(|one| one.job.uid == job).unwrap();
        assert!(told.never && told.why.contains(word), "{told:?}");
        assert!(made.acts.iter().all(|act| act.word() != "propose"));
    }
}

#[test]
fn the_slice_of_a_record_that_is_there_is_not_deleted() {
    let mut model = cubes(&[1], &json!({}));
    model.add_job("a", "4x4x4", &json!({}));
    let mut control = Control::default();
    settle(&mut model, &mut control);
    // A copy that has not seen the record takes its Slice for one that is left over.
    let mut view = View::default();
    for kind in [0, 1, 2, 4] {
        view.advance(&model, kind, usize::MAX);
    }
    let made = plan(&Index::of(&view.world), "m", &mut Memory::default(), 0, Depth::ACT).unwrap();
    let [dissolve @ Act::Dissolve { .. }] = &made.acts[..] else { panic!("{:?}", made.acts) };
    assert!(!model.carry(dissolve));
}

#[test]
fn a_pause_is_no_longer_because_a_clock_is_wrong() {
    let mut model = cubes(&[1], &json!({}));
    let job = model.add_job("a", "4x4x4", &json!({}));
    model.make_pods();
    // Noted by a copy whose clock is an hour ahead.
    let seen = Seen::of(&model.world.jobs[&job]);
    assert!(model.carry(&Act::Note { job: seen, text: "2 3600 other".into() }));
    let mut memory = Memory::default();
    let made = planned(&model, &mut memory, 0);
    assert!(made.acts.is_empty() && made.waiting[0].why.contains("waits a while"), "{made:?}");
    assert!(planned(&model, &mut memory, 4).acts.is_empty());
    assert_eq!(words(&planned(&model, &mut memory, 5)), ["propose"]);
    // By itself, before its clock was put back.
    let mut memory = Memory::default();
    assert!(planned(&model, &mut memory, 3600).acts.is_empty());
    assert!(planned(&model, &mut memory, 0).acts.is_empty());
    assert_eq!(words(&planned(&model, &mut memory, 5)), ["propose"]);
}

/// A Slice of somebody else's of a cube.
fn put_foreign(model: &mut Model, cube: &str) {
    let uid = model.uid();
    let foreign = json!({
        "metadata": { "name": "theirs", "uid": uid, "creationTimestamp": model.time() },
        "spec": { "type": "tpu7x", "topology": "4x4x4", "partitionIds": [cube] },
    });
    model.put_slice(serde_json::from_value(foreign).unwrap());
}

#[test]
fn a_block_that_lacks_a_cube_for_long_is_not_kept_for_who_needs_all() {
    for foreign in [false, true] {
        let mut model = cubes(&[2, 2], &json!({}));
        let (mut control, broken) = (Control::default(), name(0, 0));
        set_health(&mut model, &broken, "UNHEALTHY");
        set_health(&mut model, &name(0, 1), "UNHEALTHY");
        let old = ["a", "b"].map(|name| model.add_job(name, "4x4x4", &json!({})));
        settle(&mut model, &mut control);
        set_health(&mut model, &name(0, 1), "HEALTHY");
        if foreign {
            set_health(&mut model, &broken, "HEALTHY");
            put_foreign(&mut model, &broken);
        }
        let large = model.add_job("large", "4x4x8", &json!({}));
        let small = model.add_job("small", "4x4x4", &json!({}));
        settle(&mut model, &mut control);
        assert!(held(&model, &large).is_empty());
        assert_eq!(held(&model, &small), [name(0, 1)], "foreign: {foreign}");
        for pod in model.pods(|pod| pod.owner().is_some_and(|owner| old.contains(&owner))) {
            model.succeed(&pod);
        }
        settle(&mut model, &mut control);
        assert_eq!(held(&model, &large), [name(1, 0), name(1, 1)]);
    }
}

#[test]
fn a_job_whose_cube_somebody_else_took_gets_another() {
    let mut model = cubes(&[2], &json!({}));
    let job = model.add_job("a", "4x4x4", &json!({}));
    let (mut control, mut draw) = (Control::default(), Draw(1));
    settle(&mut model, &mut control);
    assert_eq!(model.pods(|pod| pod.node().is_some()).len(), 1);
    // Its Slice is deleted, and the cube is in another one, before a copy looks.
    let slice = model.world.slices.as_ref().unwrap().keys().next().unwrap().clone();
    model.dissolve(&slice);
    for _ in 0..10 {
        control.step(&mut model, &mut draw);
    }
    assert!(model.world.slices.as_ref().unwrap().is_empty());
    put_foreign(&mut model, &name(0, 0));
    for _ in 0..10 {
        control.step(&mut model, &mut draw);
    }
    settle(&mut model, &mut control);
    assert_eq!(held(&model, &job), [name(0, 1)]);
    assert_eq!(model.pods(|pod| pod.node() == Some(&name(0, 1))).len(), 1);
}

#[test]
fn a_record_whose_slice_was_not_read_yet_is_not_given_up() {
    let mut model = cubes(&[1], &json!({}));
    model.add_job("a", "4x4x4", &json!({}));
    let (mut control, mut view) = (Control::default(), View::default());
    settle(&mut model, &mut control);
    view.catch_up(&model);
    for pod in model.pods(|pod| pod.node().is_some()) {
        model.succeed(&pod);
    }
    settle(&mut model, &mut control);
    model.add_job("b", "4x4x4", &json!({}));
    settle_by(&mut model, &mut Memory::default());
    assert_eq!(model.world.slices.as_ref().unwrap().len(), 1, "the one of b");
    // A copy still sees that of a.
    for kind in 0..4 {
        view.advance(&model, kind, usize::MAX);
    }
    let made = plan(&Index::of(&view.world), "m", &mut Memory::default(), 0, Depth::ACT).unwrap();
    let withdraw = made.acts.iter().find(|act| act.word() == "withdraw");
    assert!(!model.carry(withdraw.unwrap()), "{made:?}");
}

#[test]
fn pods_of_a_slice_that_was_not_read_yet_are_let_run() {
    let mut model = cubes(&[1], &json!({}));
    model.add_job("a", "4x4x4", &json!({}));
    let (mut control, mut view) = (Control::default(), View::default());
    view.catch_up(&model);
    settle(&mut model, &mut control);
    view.advance(&model, 1, usize::MAX);
    let made = plan(&Index::of(&view.world), "m", &mut Memory::default(), 0, Depth::ACT).unwrap();
    let [remove @ Act::Remove { .. }] = &made.acts[..] else { panic!("{:?}", made.acts) };
    assert!(!model.carry(remove));
}
