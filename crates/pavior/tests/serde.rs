//! Tests that values survive a round trip through serde.

use pavior::{Cuboid, Grid, JobId, NodeId, Placement, Refusal, Request};
use serde_json::{Value, from_value, json, to_value};

fn there_and_back<T>(value: &T, written: &Value)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(&to_value(value).unwrap(), written);
    assert_eq!(&from_value::<T>(written.clone()).unwrap(), value);
}

#[test]
fn values_survive_a_round_trip() {
    let corner = Cuboid::new([1, 2], [3, 4]);
    let box_written = json!({"base": [1, 2, 0], "sides": [3, 4, 1]});
    there_and_back(&"torus:8x4".parse::<Grid>().unwrap(), &json!("torus:8x4"));
    there_and_back(&corner, &box_written);
    there_and_back(&JobId(7), &json!(7));
    there_and_back(&NodeId(3), &json!(3));
    there_and_back(&Request::nodes(5), &json!({"nodes": 5, "shape": null}));
    there_and_back(&Request::shape([2, 3]), &json!({"nodes": 6, "shape": [2, 3, 1]}));
    there_and_back(&Placement::Whole(corner), &json!([box_written]));
    there_and_back(&Placement::Parts(vec![corner; 2]), &json!([box_written, box_written]));
    there_and_back(&Refusal::NoFreeSubmesh, &json!("no-free-submesh"));
    there_and_back(&Refusal::NoShape, &json!("no-shape"));
}

#[test]
fn bad_values_are_errors() {
    assert!(from_value::<Grid>(json!("mesh:0x4")).is_err());
    assert!(from_value::<Grid>(json!(7)).is_err());
    assert!(from_value::<Cuboid>(json!({"base": [0, 0, 0], "sides": [1, 70000, 1]})).is_err());
    assert!(from_value::<Refusal>(json!("never")).is_err());
}
