//! Tests of complete cycles.

use super::*;

#[test]
fn jobs_start_and_end_and_the_others_are_told_why_they_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let file = |name: &str| fs::read_to_string(path(&format!("jobs/{name}.json"))).ok();
    let add = |name: &str, text: &str| fs::write(path(name), text).unwrap();
    let machine = r#"{"grid":"mesh:4x2","strategy":"ff","scheduler":"easy","down":[7]}"#;
    add("machine.json", machine);
    fs::create_dir(path("jobs")).unwrap();
    add("jobs/a.json", r#"{"shape":"2x2","seconds":60,"submitted":990}"#);
    turn(folder.path(), 1000).unwrap();
    let (started, held) = (file("a").unwrap(), r#""at":[[0,0,0],[2,2,1]],"start":1000"#);
    assert!(started.contains(held), "{started}");
    add("jobs/b.json", r#"{"shape":"3x2","seconds":60,"submitted":991}"#);
    add("jobs/c.json", r#"{"shape":"5x2","seconds":60,"submitted":992}"#);
    let view = turn(folder.path(), 1010).unwrap();
    let why = "it is planned to start at 1970-01-01T00:17:40Z, on 3x2 at 0,0";
    assert!(file("b").unwrap().contains(why), "{}", file("b").unwrap());
    assert!(view.why("b").unwrap().contains("job a (4 nodes)"));
    assert_eq!(view.why("c").unwrap(), "c: its shape does not fit on mesh:4x2");
    assert!(view.why("d").is_err());
    // A second daemon that read the same directory must not change anything.
    let (late, _) = plan(&read(folder.path()).unwrap(), 1060).unwrap();
    turn(folder.path(), 1060).unwrap();
    let done = late.iter().filter(|one| carry_out(folder.path(), one).unwrap());
    assert_eq!((done.count(), file("a")), (0, None));
    turn(folder.path(), 1061).unwrap();
    assert!(file("b").unwrap().contains(r#""start":1061"#), "{}", file("b").unwrap());
    add("jobs/d.json", "{");
    assert!(turn(folder.path(), 1062).is_err_and(|error| error.contains("d.json")));
}
