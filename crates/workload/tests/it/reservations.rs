//! Tests of reservation lists.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid};
use pavior_workload::traces::ReadError;
use pavior_workload::{ReservedNodes, TimeUnit, read_reservations};

fn listed(text: &str) -> Result<Vec<ReservedNodes>, ReadError> {
    let grid: Grid = "torus:4x2".parse().unwrap();
    read_reservations(text.as_bytes(), &grid, TimeUnit::SECOND)
}

#[test]
fn lists_have_boxes_and_nodes() {
    let reserved = listed(
        "{\"boxes\":[{\"base\":[3,0],\"sides\":[2,1]}],\"nodes\":[[1,1]],\
         \"from\":0.5,\"to\":2}\r\n\n\
         {\"from\":0,\"to\":1,\"nodes\":[[0,0]]}\n",
    )
    .unwrap();
    let part = |base, sides| Cuboid::new(base, sides);
    let (from, to) = (Time(500_000), Time(2_000_000));
    let boxes = vec![part([3, 0, 0], [2, 1, 1]), part([1, 1, 0], [1, 1, 1])];
    assert_eq!(reserved[0], ReservedNodes { boxes, from, to });
    let (boxes, to) = (vec![part([0, 0, 0], [1, 1, 1])], Time(1_000_000));
    assert_eq!(reserved[1..], [ReservedNodes { boxes, from: Time(0), to }]);
    assert_eq!(listed("").unwrap(), []);
}

#[test]
fn faults_in_lists_name_the_place() {
    for (line, reason) in [
        ("{\"nodes\":[[0,0]],\"from\":5,\"to\":5}", "`to` must be later than `from`"),
        (
            "{\"nodes\":[[0,0]],\"from\":-1,\"to\":5}",
            "`from` must be a time from 0 to 1e12, not -1",
        ),
        ("{\"nodes\":[[0,0]],\"from\":1,\"to\":1e13}", "`to` must be a time"),
        ("{\"nodes\":[],\"from\":1,\"to\":2}", "a line must have `boxes` or `nodes`"),
        ("{\"nodes\":[[0]],\"from\":1,\"to\":2}", "have 2 coordinates"),
        ("{\"nodes\":[[0,2]],\"from\":1,\"to\":2}", "is not on torus:4x2"),
        ("{\"boxes\":[{\"base\":[0,0],\"sides\":[0,1]}],\"from\":1,\"to\":2}", "is not on"),
        ("{\"boxes\":[{\"base\":[0,0]}],\"from\":1,\"to\":2}", "missing field `sides`"),
        ("{\"nodes\":[[0,0]],\"from\":1}", "missing field `to`"),
        ("{\"nodes\":[[0,0]],\"from\":1,\"to\":2,\"why\":3}", "unknown field"),
        ("from 1 to 2", "expected"),
    ] {
        let text = format!("{{\"nodes\":[[0,0]],\"from\":1,\"to\":2}}\n{line}\n");
        match listed(&text) {
            Err(ReadError::Line(found)) => {
                assert_eq!(found.line, 2);
                assert!(found.reason.contains(reason), "{}", found.reason);
            }
            other => panic!("{other:?}"),
        }
    }
}
