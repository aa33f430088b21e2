//! Tests of snapshots, which place one request on a machine in a fixed state.

use pavior_experiments::{Samples, Specification, Table, snapshot};

use crate::{read, whole};

/// Returns a metric's value at each point, in the first replication.
fn of(experiment: &Specification, samples: &Samples, metric: &str) -> Vec<Option<f64>> {
    let index = experiment.metrics.iter().position(|spec| spec.name == metric).unwrap();
    samples.iter().map(|point| point[0].values[index]).collect()
}

#[test]
fn a_request_is_asked_in_a_given_state() {
    // In the lower row, only <2,0> is free. This node touches a busy box on each side and the
    // border below, so the expected index is 3.
    let experiment = read(
        "machine = 'mesh:4x4'\nbusy = '0,0:2x1 3,0:1x1'\nrequest = ['1x1', '4x4']\n\
         strategy = ['bf', 'mbs']\nreplications = 3\n",
    );
    let names: Vec<&str> = experiment.metrics.iter().map(|spec| spec.name).collect();
    assert_eq!(names, snapshot::METRICS.iter().map(|spec| spec.name).collect::<Vec<_>>());
    assert_eq!(experiment.figures[0].y, "optimality_index");
    let samples = whole(&experiment);
    assert_eq!(of(&experiment, &samples, "optimality_index")[0], Some(3.0));
    assert_eq!(of(&experiment, &samples, "granted_nodes")[..2], [Some(1.0), Some(1.0)]);
    // A refused request has no index.
    assert_eq!(of(&experiment, &samples, "optimality_index")[2..], [None, None]);
    // The experiment specifies no formulas, so the metric has no value.
    assert_eq!(of(&experiment, &samples, "printed_order"), [None; 4]);
    assert!(samples.iter().flatten().all(|sample| sample.allocation_ns.is_some()));
    // A snapshot has neither a load nor a scheduler, so the table must omit both.
    let table = Table::of(&experiment, &samples);
    assert_eq!(table.value(&table.rows[0], "load"), Some(""));
    let page = experiment.overview(&samples);
    assert!(!page.header.contains(&"scheduler".to_string()), "{:?}", page.header);
}

#[test]
fn the_index_of_a_task_is_that_of_the_box_that_it_uses() {
    // The buddy system grants 4x4 at <4,0>. Four faces touch the border below, four touch the
    // border on the right, and three touch the busy box on the left. The task uses 3x2 of these
    // nodes; three of their faces touch the border below and two touch the box on the left.
    let experiment = read(
        "machine = 'mesh:8x8'\nbusy = '0,0:4x3 5,5:2x2 0,5:2x2 2,7:3x1'\nrequest = '3x2'\n\
         strategy = ['2db', 'mfa']\nreplications = 1\n",
    );
    let samples = whole(&experiment);
    assert_eq!(of(&experiment, &samples, "optimality_index"), [Some(11.0), Some(7.0)]);
    assert_eq!(of(&experiment, &samples, "task_index"), [Some(5.0), Some(7.0)]);
    assert_eq!(of(&experiment, &samples, "granted_nodes"), [Some(16.0), Some(6.0)]);
}

#[test]
fn states_are_drawn_anew_for_each_replication_and_the_same_for_all_strategies() {
    let experiment = read(
        "machine = 'mesh:16x8'\nsubmeshes = 8\nrequest = '2x2'\nstrategy = ['adj', 'bf', 'sba']\n\
         replications = 20\ntiming = false\n\
         [orders]\nsba = 'B^2'\nadj = 'K * B + N + h'\n",
    );
    let samples = whole(&experiment);
    assert!(samples == whole(&experiment));
    let index = |point: usize| -> Vec<Option<f64>> {
        samples[point].iter().map(|sample| sample.values[0]).collect()
    };
    // Rotating a square has no effect, so ADJ and BF must both pick the best position.
    assert_eq!(index(0), index(1));
    assert!(index(0).iter().any(|one| *one != index(0)[0]));
    // A machine of 128 nodes in 8 rows has 46 busy nodes in 8 submeshes.
    let orders: Vec<Option<f64>> = samples.iter().map(|point| point[0].values[3]).collect();
    assert_eq!(orders, [Some(46.0 + 128.0 + 8.0), None, Some(64.0)]);
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    let at = |text: &str| {
        let error = Specification::parse(text, "test").err().unwrap_or_else(|| panic!("{text}"));
        (error.reason.clone(), text[error.span].to_string())
    };
    let (reason, place) = at("machine = 'mesh:4x4'\nrequest = '2x2'\nbusy = '0,0:2x2 1,1:2x2'\n");
    assert!(reason.contains("box 2") && place == "'0,0:2x2 1,1:2x2'", "{reason} {place}");
    let (reason, place) = at("machine = 'mesh:4x4'\nrequest = '2x2'\nbusy = '3,3:2x2'\n");
    assert!(reason.contains("is not on the machine") && place.contains("3,3"), "{reason} {place}");
    assert_eq!(at("request = '2x2'\nbusy = '0,0:2x2 1;1:2x2'\n").1, "1;1:2x2");
    assert_eq!(at("machine = 'mesh:4x4'\nrequest = '5x2'\n").1, "'5x2'");
    assert!(
        at("request = '2x2'\nbusy = '0,0:1x1'\nsubmeshes = 2\n").0.contains("cannot be combined")
    );
    assert!(
        at("machine = 'mesh:4x4'\nrequest = '1x1'\nsubmeshes = 40\n")
            .0
            .contains("cannot find room")
    );
    assert_eq!(at("request = '1x1'\norders = { ff = 'N +' }\n").1, "'N +'");
    assert_eq!(at("request = '1x1'\norders = { ff = 'N * Z' }\n").1, "'N * Z'");
    assert!(at("busy = '0,0:1x1'\n").0.contains("`request`"));
    assert!(at("request = '2x2'\nload = 2\n").0.contains("job simulations"));
    assert!(at("request = '2x2'\nscheduler = 'ssd'\n").0.contains("job simulations"));
}
