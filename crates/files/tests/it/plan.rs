use std::fs;

use pavior_files::FileUses;

#[test]
fn an_output_that_is_an_input_is_refused_whatever_leads_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("log"), "1").unwrap();
    fs::write(at("other"), "2").unwrap();
    let same = |input: &str, output: &str| {
        FileUses::new().reads("--in", at(input)).writes("--out", at(output)).check().is_err()
    };
    assert!(same("log", "log"));
    assert!(same("log", "sub/../log"));
    assert!(same("log", "./sub/.././log"));
    assert!(!same("log", "other"));
    assert!(!same("log", "sub/log"));
    // These files do not exist yet, and neither do some of their directories.
    assert!(same("new", "new"));
    assert!(same("new/log", "new/./log"));
    assert!(same("log", "new/../log"));
    assert!(!same("new/log", "new/log2"));
}

#[test]
fn two_outputs_are_two_files() {
    let plan =
        FileUses::new().writes("--swf", "a").writes("--placements", "b").writes("--svg", "./a");
    let error = plan.check().unwrap_err().to_string();
    assert_eq!(error, "--svg ./a would overwrite --swf a: they are the same file");
}

#[cfg(unix)]
#[test]
fn links_are_seen_through_and_devices_are_no_files() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("log"), "1").unwrap();
    fs::hard_link(at("log"), at("hard")).unwrap();
    symlink("log", at("soft")).unwrap();
    symlink("soft", at("softer")).unwrap();
    symlink("sub", at("folder")).unwrap();
    symlink("sub/later", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    let same = |input: &str, output: &str| {
        FileUses::new().reads("--in", at(input)).writes("--out", at(output)).check().is_err()
    };
    for other in ["hard", "soft", "softer", "folder/../log"] {
        assert!(same("log", other) && same(other, "log"), "{other}");
    }
    assert!(same("sub/later", "folder/later"));
    assert!(same("sub/later", "dangling"));
    assert!(!same("log", "circle"));
    let plan = FileUses::new().reads("--in", "/dev/null").writes("--out", "/dev/null");
    plan.check().unwrap();
}
