//! Tests the protocol of the live allocator.

use serde_json::{Value, json};

use crate::{good_input, noted};

/// Returns the answers to lines of input.
pub(crate) fn answers(machine: &str, strategy: &str, lines: &[&str]) -> Vec<Value> {
    let run = format!("allocate --machine {machine} --strategy {strategy}");
    let text = good_input(&run, &(lines.join("\n") + "\n"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn allocates_releases_fails_and_shows() {
    let given = answers(
        "mesh:8x8x8",
        "tbl",
        &[
            r#"{"op":"allocate","job":7,"shape":[2,3,2]}"#,
            r#"{"op":"allocate","job":"7","nodes":11}"#,
            r#"{"op":"allocate","job":9,"shape":[1,1,1],"dry_run":true}"#,
            r#"{"op":"fail","node":[1,1,0]}"#,
            r#"{"op":"fail","node":[7,7,7]}"#,
            r#"{"op":"show"}"#,
            r#"{"op":"release","job":7}"#,
            r#"{"op":"show"}"#,
            r#"{"op":"repair","node":[1,1,0]}"#,
            r#"{"op":"repair","node":[1,1,0]}"#,
            r#"{"op":"allocate","job":8,"shape":[9,1,1]}"#,
            r#"{"op":"allocate","job":8,"shape":[70000,1,1]}"#,
            r#"{"op":"allocate","job":8,"shape":[8,8,8]}"#,
        ],
    );
    assert_eq!(
        given,
        [
            json!({"job":7,"granted":true,"nodes":12,"requested":12,
                   "parts":[{"base":[0,0,0],"sides":[2,3,2]}]}),
            json!({"job":"7","granted":true,"nodes":12,"requested":11,
                   "parts":[{"base":[0,3,0],"sides":[3,2,2]}]}),
            json!({"job":9,"granted":true,"nodes":1,"requested":1,
                   "parts":[{"base":[0,5,0],"sides":[1,1,1]}]}),
            json!({"node":[1,1,0],"failed":true,"job":7}),
            json!({"node":[7,7,7],"failed":true,"job":null}),
            json!({"free":487,"busy":24,"failed":1,"jobs":2,"largest_free":[8,7,6]}),
            json!({"job":7,"released":true,"nodes":12}),
            json!({"free":498,"busy":12,"failed":2,"jobs":1,"largest_free":[8,7,6]}),
            json!({"node":[1,1,0],"failed":false,"job":null}),
            json!({"node":[1,1,0],"failed":false,"job":null}),
            json!({"job":8,"granted":false,"reason":"larger-than-machine"}),
            json!({"job":8,"granted":false,"reason":"larger-than-machine"}),
            json!({"job":8,"granted":false,"reason":"too-few-free-nodes"}),
        ]
    );
}

#[test]
fn requests_may_state_their_freedom() {
    let given = answers(
        "mesh:3x3",
        "ff",
        &[
            r#"{"op":"hold","job":1,"parts":[{"base":[1,1],"sides":[1,1]}]}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"dry_run":true}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":"any-box","dry_run":true}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":"connected","dry_run":true}"#,
            r#"{"op":"unblock","shape":[2,2],"freedom":"box"}"#,
            r#"{"op":"unblock","shape":[2,2],"freedom":"any"}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":"conected"}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":true}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":null,"dry_run":true}"#,
            r#"{"op":"allocate","job":2,"shape":[2,2],"freedom":"any"}"#,
            r#"{"op":"show"}"#,
        ],
    );
    for index in [1, 2] {
        assert_eq!(given[index], json!({"job":2,"granted":false,"reason":"no-free-submesh"}));
    }
    assert_eq!((&given[3]["granted"], &given[3]["nodes"]), (&json!(true), &json!(4)));
    assert_eq!((&given[4]["fits"], &given[4]["jobs"]), (&json!(false), &json!([1])));
    let error = |index: usize| given[index]["error"].as_str().unwrap().to_string();
    assert!(error(5).contains("one of box, turned, any-box, not any"), "{}", error(5));
    assert!(error(6).contains("`conected` is not a valid freedom"), "{}", error(6));
    assert!(error(7).contains("\"freedom\" must be a string"), "{}", error(7));
    assert_eq!(given[8]["reason"], json!("no-free-submesh"));
    assert_eq!((&given[9]["granted"], &given[10]["busy"]), (&json!(true), &json!(5)));
}

#[test]
fn coordinates_have_one_entry_per_axis() {
    let given = answers("torus:5", "tff", &[r#"{"op":"allocate","job":1,"shape":[5]}"#]);
    assert_eq!(given[0]["parts"], json!([{"base":[0],"sides":[5]}]));
}

#[test]
fn malformed_lines_get_an_error_and_change_nothing() {
    let bad = [
        "",
        "7",
        "{",
        r#"{"op":"fly"}"#,
        r#"{"job":1}"#,
        r#"{"op":"allocate","job":1}"#,
        r#"{"op":"allocate","shape":[1,1]}"#,
        r#"{"op":"allocate","job":1.5,"shape":[1,1]}"#,
        r#"{"op":"allocate","job":null,"shape":[1,1]}"#,
        r#"{"op":"allocate","job":1,"shape":[0,1]}"#,
        r#"{"op":"allocate","job":1,"shape":[-1,1]}"#,
        r#"{"op":"allocate","job":1,"shape":[1,1,1]}"#,
        r#"{"op":"allocate","job":1,"shape":[1.5,1]}"#,
        r#"{"op":"allocate","job":1,"nodes":0}"#,
        r#"{"op":"allocate","job":1,"nodes":1,"shape":[1,1]}"#,
        r#"{"op":"allocate","job":1,"nodes":1,"dry_run":"yes"}"#,
        r#"{"op":"allocate","job":1,"nodes":1,"dryrun":true}"#,
        r#"{"op":"release","job":5}"#,
        r#"{"op":"fail","node":[4,0]}"#,
        r#"{"op":"fail","node":[0]}"#,
        r#"{"op":"repair"}"#,
    ];
    let mut lines = vec![r#"{"op":"allocate","job":2,"shape":[2,2]}"#];
    lines.extend(bad);
    lines.push(r#"{"op":"allocate","job":2,"shape":[1,1]}"#);
    lines.push(r#"{"op":"show"}"#);
    let given = answers("mesh:4x4", "ff", &lines);
    assert_eq!(given.len(), lines.len());
    for (index, answer) in given[1..given.len() - 1].iter().enumerate() {
        assert!(answer["error"].is_string(), "{}: {answer}", lines[index + 1]);
        assert_eq!(answer["line"], json!(index + 2));
    }
    let misspelled = lines.iter().position(|line| line.contains("dryrun")).unwrap();
    let error = r#"unknown key "dryrun"; did you mean "dry_run"?"#;
    assert_eq!(given[misspelled]["error"], error);
    let show = json!({"free":12,"busy":4,"failed":0,"jobs":1,"largest_free":[4,2]});
    assert_eq!(given.last(), Some(&show));
}

#[test]
fn input_that_is_not_utf8_gets_an_error() {
    let input = b"\xff\xfe\x00\n{\"op\":\"show\"}";
    let (text, _) = noted("allocate --machine mesh:2 --strategy ff", input);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("error") && lines[1].contains("\"free\":2"), "{lines:?}");
}
